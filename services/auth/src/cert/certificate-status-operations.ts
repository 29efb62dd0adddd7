/** Asks responders of OCSP whether a certificate is revoked. */
import { randomBytes } from 'node:crypto';
import type { MountScope } from '@keelson/engine';
import type { Logger } from '@keelson/logging';
import { createOutbound, type Outbound, outboundFailure, readBytes } from '@keelson/outbound';
import type { AddressPolicy } from '@keelson/outbound/addresses';
import {
  createCertId,
  EXTENSION,
  encodeOcspRequest,
  findExtension,
  isSignedBy,
  type ParsedCertificate,
  parseCertificate,
  parseOcspUrls,
  readPemBlocks,
} from '@keelson/x509';
import { RequestsUnderWay } from '../providers/under-way.ts';
import type { OcspSettings } from './domain/cert-role.ts';
import {
  judgeAnswer,
  type StatusQuestion,
  type StatusVerdict,
} from './domain/certificate-status.ts';

/** For all servers together, since a login waits. */
const TIME_LIMIT_MS = 5000;
const MAX_SERVERS = 8;
/** With the certificates of a responder, answers have some 4 KiB. */
const MAX_ANSWER_BYTES = 64 * 1024;
/** RFC 9654 §2.1. */
const NONCE_BYTES = 32;

/** Whether a certificate is not revoked, as far as a role asks for it. */
export type StatusCheck = (
  mount: MountScope,
  settings: OcspSettings,
  chain: readonly ParsedCertificate[],
) => Promise<boolean>;

/** The addresses in the certificate itself; none that is not one of the web is used. */
const serversIn = ({ extensions }: ParsedCertificate): readonly string[] => {
  const found = findExtension(extensions, EXTENSION.authorityInformationAccess);
  return found === undefined
    ? []
    : parseOcspUrls(found.value).filter(
        (url) => URL.canParse(url) && /^https?:$/.test(new URL(url).protocol),
      );
};

const toCertificates = (pem: string): readonly ParsedCertificate[] =>
  Array.from(readPemBlocks(pem), ({ der }) => parseCertificate(der));

/** One request. Redirects are not followed: the operator has permitted that address. */
const ask = async (
  { fetch }: Pick<Outbound, 'fetch'>,
  url: string,
  { body, signal }: { readonly body: Uint8Array; readonly signal: AbortSignal },
): Promise<Buffer | Error> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/ocsp-request',
        accept: 'application/ocsp-response',
        'user-agent': 'keelson',
      },
      body,
      redirect: 'manual',
      signal,
    });
    if (response.status === 200) return await readBytes(response, MAX_ANSWER_BYTES + 1);
    await response.body?.cancel();
    return new Error(`the server answered with ${response.status}`);
  } catch (error) {
    return new Error(outboundFailure(error));
  }
};

/** The verdict of a server, which is asked again as often as the role permits while it does not answer. */
const askServer = async (
  outbound: Pick<Outbound, 'fetch'>,
  url: string,
  {
    question,
    retries,
    signal,
    nowMs,
  }: {
    readonly question: StatusQuestion;
    readonly retries: number;
    readonly signal: AbortSignal;
    readonly nowMs: () => number;
  },
): Promise<StatusVerdict> => {
  const body = encodeOcspRequest(question.certId, question.nonce);
  let answer = await ask(outbound, url, { body, signal });
  for (let again = 0; again < retries && answer instanceof Error && !signal.aborted; again += 1)
    answer = await ask(outbound, url, { body, signal });
  if (answer instanceof Error) return { kind: 'absent', reason: answer.message };
  return answer.byteLength > MAX_ANSWER_BYTES
    ? { kind: 'false', reason: `it has more than ${MAX_ANSWER_BYTES} bytes` }
    : judgeAnswer(answer, question, nowMs());
};

/** The certificate that has signed the one of a client, which for one that a role names itself is another trusted one. */
const findIssuer = (
  [certificate, ...authorities]: readonly ParsedCertificate[],
  trusted: readonly ParsedCertificate[],
): ParsedCertificate | undefined =>
  authorities.at(-1) ??
  trusted.find(
    ({ subject, publicKeyDer }) =>
      certificate !== undefined &&
      Buffer.from(subject).equals(certificate.issuer) &&
      isSignedBy(certificate, publicKeyDer),
  );

export const createStatusCheck = ({
  outboundPolicy,
  logger,
  clock,
}: {
  readonly outboundPolicy: AddressPolicy;
  readonly logger: Logger;
  readonly clock: { nowMs(): number };
}): StatusCheck => {
  const underWay = new RequestsUnderWay();

  /** The verdicts of all servers, or up to the first one that decides. */
  const askServers = async (
    servers: readonly string[],
    { asksAll, maxRetries: retries }: OcspSettings,
    question: StatusQuestion,
  ): Promise<readonly (readonly [string, StatusVerdict])[]> => {
    const outbound = createOutbound({ policy: outboundPolicy, timeoutMs: TIME_LIMIT_MS });
    const nowMs = () => clock.nowMs();
    const askOne = async (url: string): Promise<readonly [string, StatusVerdict]> => {
      // A server that hangs leaves time for the others.
      const signal = AbortSignal.timeout(asksAll ? TIME_LIMIT_MS : TIME_LIMIT_MS / servers.length);
      return [url, await askServer(outbound, url, { question, retries, signal, nowMs })];
    };
    try {
      if (asksAll) return await Promise.all(servers.map(askOne));
      const verdicts: (readonly [string, StatusVerdict])[] = [];
      for (const url of servers) {
        const verdict = await askOne(url);
        verdicts.push(verdict);
        if (verdict[1].kind !== 'absent') break;
      }
      return verdicts;
    } finally {
      await outbound.close();
    }
  };

  return async (mount, settings, chain) => {
    const [certificate] = chain;
    if (!settings.isEnabled || certificate === undefined) return true;
    const trusted = toCertificates(settings.caCertificates);
    const issuer = findIssuer(chain, trusted);
    const given = settings.servers.length > 0 ? settings.servers : serversIn(certificate);
    const servers = given.slice(0, MAX_SERVERS);
    if (issuer === undefined || servers.length === 0) {
      const reason = issuer === undefined ? 'its issuer is not known' : 'it names no server';
      logger.warn({ mount: mount.uuid, reason }, 'the status of a certificate is not known');
      return settings.failsOpen;
    }
    const { maxAgeSeconds } = settings;
    const certId = createCertId(issuer, certificate.serialNumber);
    const question = { certId, nonce: randomBytes(NONCE_BYTES), issuer, trusted, maxAgeSeconds };
    const verdicts = await underWay.send(mount, () => askServers(servers, settings, question));
    for (const [url, verdict] of verdicts)
      if ('reason' in verdict)
        logger.warn(
          { mount: mount.uuid, server: new URL(url).host, reason: verdict.reason },
          'the status of a certificate is not known',
        );
    const kinds = verdicts.map(([, { kind }]) => kind);
    if (kinds.includes('revoked') || kinds.includes('false')) return false;
    const isGood = settings.asksAll ? !kinds.includes('absent') : kinds.includes('good');
    return isGood || settings.failsOpen;
  };
};
