/** The certificates of a client, whose key the client has proven to hold, in the headers of RFC 9440. */
import type { RequestHead } from '@keelson/proto/edge/v1/edge';

/** Only the gateway sets these two, and removes those that a client sends. */
export const CLIENT_CERTIFICATE = 'client-cert';
export const CLIENT_CERTIFICATE_CHAIN = 'client-cert-chain';

/** A byte sequence (RFC 8941 §3.3.5), whose parameters are ignored. */
const BYTE_SEQUENCE = /^:([A-Za-z0-9+/]+={0,2}):(?:;[^,]*)?$/;

const parseBytes = (text: string): Buffer | undefined => {
  const [, base64] = BYTE_SEQUENCE.exec(text.trim()) ?? [];
  return base64 === undefined ? undefined : Buffer.from(base64, 'base64');
};

const showBytes = (bytes: Uint8Array): string => `:${Buffer.from(bytes).toString('base64')}:`;

/**
 * DER: the certificate of the client, then the intermediate ones that it sent with it.
 * @returns an empty list where the client showed none; undefined if a header is malformed
 */
export const parseClientCertificates = ({
  [CLIENT_CERTIFICATE]: certificate,
  [CLIENT_CERTIFICATE_CHAIN]: chain = '',
}: Readonly<Record<string, string>>): readonly Buffer[] | undefined => {
  if (certificate === undefined) return [];
  const texts = [certificate, ...(chain.trim() === '' ? [] : chain.split(','))];
  const certificates = texts.map(parseBytes);
  return certificates.every((one) => one !== undefined) ? certificates : undefined;
};

/** The certificates that the gateway has put into the head of a request; an empty list if there are none. */
export const clientCertificatesOf = ({
  headers,
}: Pick<RequestHead, 'headers'>): readonly Buffer[] => parseClientCertificates(headers) ?? [];

/** @param certificates DER: that of the client, then intermediate ones */
export const clientCertificateHeaders = ([certificate, ...chain]: readonly Uint8Array[]): Readonly<
  Record<string, string>
> => ({
  ...(certificate && { [CLIENT_CERTIFICATE]: showBytes(certificate) }),
  ...(chain.length > 0 && { [CLIENT_CERTIFICATE_CHAIN]: chain.map(showBytes).join(', ') }),
});
