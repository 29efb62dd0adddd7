/** Certificate identifiers of renewal information (RFC 9773 §4.1). */
import { namesAuthorityKey, type ParsedCertificate, toSerialKey } from '@keelson/x509';
import { malformed } from '../../problems/problem.ts';

export interface CertificateId {
  /** Key identifier of its issuer. */
  readonly keyIdentifier: Uint8Array;
  /** As in record paths. */
  readonly serialKey: string;
}

const BASE64URL = /^[A-Za-z0-9_-]+$/;
const MAX_OCTETS = 64;

const decode = (text: string | undefined): Uint8Array => {
  const octets =
    text !== undefined && BASE64URL.test(text) ? Buffer.from(text, 'base64url') : Buffer.alloc(0);
  if (
    octets.byteLength === 0 ||
    octets.byteLength > MAX_OCTETS ||
    octets.toString('base64url') !== text
  )
    throw malformed(
      'the id of a certificate is its key identifier and serial number, both in base64url, joined by a dot',
    );
  return octets;
};

/** @throws AcmeProblem `malformed` */
export const parseCertificateId = (text: string): CertificateId => {
  const [keyIdentifier, serial, ...rest] = text.split('.');
  if (rest.length > 0) throw malformed('the name of a certificate has two parts');
  const octets = decode(serial);
  // As in DER: a leading zero only if the next bit is set.
  const isMinimal = octets[0] !== 0 || octets.byteLength === 1 || (octets[1] as number) >= 0x80;
  if (!isMinimal || (octets[0] as number) >= 0x80)
    throw malformed('the serial number is not the content of a DER integer');
  return {
    keyIdentifier: decode(keyIdentifier),
    serialKey: toSerialKey(octets[0] === 0 && octets.byteLength > 1 ? octets.subarray(1) : octets),
  };
};

/** Whether the id identifies this certificate. */
export const isNamedBy = (
  { extensions }: Pick<ParsedCertificate, 'extensions'>,
  { keyIdentifier }: CertificateId,
): boolean => namesAuthorityKey(extensions, keyIdentifier);
