/**
 * One request to the policy service: one TLS connection, one POST, without redirects or retries. The service
 * may count what it allows, so that only the client may decide to repeat a request.
 */
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { checkServerIdentity, type PeerCertificate } from 'node:tls';
import { isUntrustedCertificate, KeelsonError } from '@keelson/errors';
import type { PolicyTrust } from './domain/policy-service.ts';

export interface PolicyEndpoint {
  readonly url: string;
  readonly trust: PolicyTrust;
  /** From the connection to the last byte of the answer. */
  readonly timeoutSeconds: number;
}

const MAX_ANSWER_BYTES = 1024 * 1024;
const MAX_HEAD_BYTES = 16 * 1024;

const unusable = (text: string): KeelsonError => new KeelsonError('pki.policy_unusable', { text });

/** Name of the setting that does not contain the presented certificate. */
const untrusted = ({ leaves }: PolicyTrust): Error =>
  new Error(
    leaves === undefined
      ? 'no certificate in trusted_ca vouches for its certificate'
      : 'its certificate is not in trusted_leaf_certificate_bundle',
  );

/** Trusts a certificate by name and authority, or exactly the configured ones. */
const identityCheck =
  (trust: PolicyTrust) =>
  (host: string, shown: PeerCertificate): Error | undefined => {
    if (trust.leaves === undefined) return checkServerIdentity(host, shown);
    return trust.leaves.some((leaf) => shown.raw.equals(leaf)) ? undefined : untrusted(trust);
  };

const readAnswer = async (response: IncomingMessage): Promise<Uint8Array> => {
  if (response.statusCode !== 200) throw unusable(`its status is ${response.statusCode}`);
  const parts: Buffer[] = [];
  let total = 0;
  for await (const part of response as AsyncIterable<Buffer>) {
    total += part.byteLength;
    if (total > MAX_ANSWER_BYTES) throw unusable(`it has more than ${MAX_ANSWER_BYTES} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
};

/**
 * @param signal of the client's request
 * @returns the body of a 200
 * @throws KeelsonError `pki.policy_unusable`, `pki.policy_unavailable`
 */
export const askPolicyService = async (
  { url, trust, timeoutSeconds }: PolicyEndpoint,
  question: Uint8Array,
  signal: AbortSignal,
): Promise<Uint8Array> => {
  const sent = request(url, {
    method: 'POST',
    agent: false,
    headers: {
      'content-type': 'application/json',
      'content-length': question.byteLength,
      accept: 'application/json',
      'user-agent': 'keelson',
    },
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutSeconds * 1000)]),
    maxHeaderSize: MAX_HEAD_BYTES,
    minVersion: 'TLSv1.2',
    ca: [...trust.anchors],
    // A trusted leaf need not be self-signed.
    allowPartialTrustChain: trust.leaves !== undefined,
    checkServerIdentity: identityCheck(trust),
    ...(trust.client && { cert: trust.client.certificates, key: trust.client.key }),
  });
  try {
    sent.end(question);
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    return await readAnswer(response);
  } catch (error) {
    if (error instanceof KeelsonError) throw error;
    const cause = isUntrustedCertificate(error) ? untrusted(trust) : error;
    throw new KeelsonError('pki.policy_unavailable', {}, { cause });
  } finally {
    // Errors of an abandoned connection are of no interest.
    sent.on('error', () => undefined);
    sent.destroy();
  }
};
