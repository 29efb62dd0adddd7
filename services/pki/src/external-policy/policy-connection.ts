/**
 * One question to the policy service: one TLS connection, one POST, no redirect followed, no retry. The
 * service may count what it allows, so it is asked again by whoever knows that it should be.
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

/** Where the certificate that was shown is looked for in vain, by the setting's name. */
const untrusted = ({ leaves }: PolicyTrust): Error =>
  new Error(
    leaves === undefined
      ? 'no certificate in trusted_ca vouches for its certificate'
      : 'its certificate is not in trusted_leaf_certificate_bundle',
  );

/** Either by name below an authority, or exactly one of the certificates that are trusted. */
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
    // A trusted leaf need not be one that signs itself.
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
    // What goes wrong with a connection that is given up concerns nobody.
    sent.on('error', () => undefined);
    sent.destroy();
  }
};
