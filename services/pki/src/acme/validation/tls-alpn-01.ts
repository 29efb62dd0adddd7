/**
 * tls-alpn-01 (RFC 8737, RFC 8738 §4, §6): a certificate on port 443 that is served only for this
 * protocol.
 */

import { createHash } from 'node:crypto';
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import {
  EXTENSION,
  type GeneralName,
  isSignedBy,
  parseCertificate,
  parseGeneralNames,
  parseIpAddress,
} from '@keelson/x509';
import { type ChallengeAttempt, type ValidationSettings } from './challenge-attempt.ts';
import { addressesOf } from './name-lookup.ts';
import { connectToPermitted, endpoint, NotConnected } from './permitted-connection.ts';
import { errorCode, ValidationFailure } from './validation-failure.ts';

const PROTOCOL = 'acme-tls/1';
const ACME_IDENTIFIER = '1.3.6.1.5.5.7.1.31';
const DER_OCTET_STRING_OF_32 = [0x04, 0x20];

/** The reverse name that represents an address in SNI (RFC 1035 §3.5, RFC 3596 §2.5). */
export const reverseName = (address: string): string => {
  const octets = [...(parseIpAddress(address) ?? [])];
  if (octets.length === 4) return `${octets.reverse().join('.')}.in-addr.arpa`;
  const nibbles = octets.flatMap((octet) => [octet >> 4, octet & 15]).reverse();
  return `${nibbles.map((nibble) => nibble.toString(16)).join('.')}.ip6.arpa`;
};

/** Completes a handshake with `address`. */
const handshake = async (
  address: string,
  port: number,
  { identifier }: ChallengeAttempt,
  { timeoutsMs }: ValidationSettings,
  signal: AbortSignal,
): Promise<TLSSocket> => {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>();
  const socket = connect({
    host: address,
    port,
    servername: identifier.type === 'ip' ? reverseName(identifier.value) : identifier.value,
    ALPNProtocols: [PROTOCOL],
    // The certificate is self-signed by design (RFC 8737 §3): its extension is the proof.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
  });
  let connected = false;
  socket.once('connect', () => {
    connected = true;
  });
  const end = (cause: Error): void => {
    socket.destroy();
    if (!connected) reject(new NotConnected('no connection', { cause }));
    else {
      const detail = `TLS handshake with ${endpoint(address, port)}: ${errorCode(cause)}`;
      reject(new ValidationFailure('tls', detail));
    }
  };
  const onAbort = (): void => end(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  socket.setTimeout(timeoutsMs.connect, () =>
    end(Object.assign(new Error('timed out'), { code: 'ETIMEDOUT' })),
  );
  socket.on('error', end);
  socket.once('secureConnect', () => resolve(socket));
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
};

const names = (identifier: ChallengeAttempt['identifier'], name: GeneralName): boolean => {
  if (identifier.type === 'ip')
    return (
      name.kind === 'ip' &&
      isIP(name.value) !== 0 &&
      Buffer.from(parseIpAddress(name.value) ?? []).equals(
        Buffer.from(parseIpAddress(identifier.value) ?? []),
      )
    );
  // RFC 4343: names are compared without regard to case.
  return name.kind === 'dns' && name.value.toLowerCase() === identifier.value.toLowerCase();
};

/** The reason why a certificate is not a valid proof by RFC 8737 §3; undefined when it is. */
const findFault = (
  der: Uint8Array,
  { identifier, keyAuthorization }: ChallengeAttempt,
): string | undefined => {
  const certificate = parseCertificate(der);
  const selfIssued = Buffer.from(certificate.issuer).equals(certificate.subject);
  if (!selfIssued || !isSignedBy(certificate, certificate.publicKeyDer))
    return 'is not self-signed';
  const extension = (oid: string) => certificate.extensions.find((one) => one.oid === oid);
  const alternative = extension(EXTENSION.subjectAltName);
  const [name, ...others] = alternative === undefined ? [] : parseGeneralNames(alternative.value);
  if (name === undefined || others.length > 0 || !names(identifier, name))
    return 'has other alternative names than the identifier alone';
  const proof = extension(ACME_IDENTIFIER);
  if (proof === undefined) return 'has no acmeIdentifier extension';
  if (!proof.critical) return 'has an acmeIdentifier extension that is not critical';
  const digest = createHash('sha256').update(keyAuthorization).digest();
  const expected = Buffer.concat([Buffer.from(DER_OCTET_STRING_OF_32), digest]);
  return expected.equals(proof.value)
    ? undefined
    : 'has an acmeIdentifier extension of another key authorization';
};

const findFaultOfUntrusted = (der: Uint8Array, attempt: ChallengeAttempt): string | undefined => {
  try {
    return findFault(der, attempt);
  } catch {
    return 'cannot be read';
  }
};

export const validateTlsAlpn01 = async (
  attempt: ChallengeAttempt,
  settings: ValidationSettings,
  signal: AbortSignal,
): Promise<void> => {
  const { identifier } = attempt;
  const { tls: port } = settings.ports;
  const addresses = await addressesOf(identifier, settings, signal);
  const target = { name: identifier.value, addresses, port };
  const socket = await connectToPermitted(target, settings, signal, (address) =>
    handshake(address, port, attempt, settings, signal),
  );
  try {
    const host = endpoint(identifier.value, port);
    if (socket.alpnProtocol !== PROTOCOL)
      throw new ValidationFailure('tls', `${host} does not negotiate ${PROTOCOL}`);
    const certificate = socket.getPeerX509Certificate();
    if (certificate === undefined) throw new ValidationFailure('tls', `${host} has no certificate`);
    const fault = findFaultOfUntrusted(certificate.raw, attempt);
    if (fault !== undefined)
      throw new ValidationFailure('incorrectResponse', `the certificate of ${host} ${fault}`);
  } finally {
    socket.destroy();
  }
};
