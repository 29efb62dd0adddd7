import type { JsonObject } from '@keelson/secrets-api';
import {
  ATTRIBUTE,
  attributeValues,
  describeKey,
  EXTENSION,
  findExtension,
  keyBits,
  parseGeneralNames,
  parseName,
  parsePublicKey,
} from '@keelson/x509';
import { formatTime } from '../validity/domain/lifetime.ts';
import type { FoundCertificate } from './certificate-search-operations.ts';

const MAX_DNS_NAMES = 5;

const commonName = (name: Uint8Array): string =>
  attributeValues(parseName(name), ATTRIBUTE.commonName)[0] ?? '';

/** The details of a certificate in a list (reference §4.13). */
export const certificateSummary = ({ certificate, revokedAtMs }: FoundCertificate): JsonObject => {
  const key = describeKey(parsePublicKey(certificate.publicKeyDer));
  const names = findExtension(certificate.extensions, EXTENSION.subjectAltName);
  return {
    common_name: commonName(certificate.subject),
    issuer: commonName(certificate.issuer),
    key_type: key.type,
    key_bits: keyBits(key),
    not_before: formatTime(certificate.notBeforeMs),
    not_after: formatTime(certificate.notAfterMs),
    revoked: revokedAtMs !== undefined,
    revocation_time: Math.floor((revokedAtMs ?? 0) / 1000),
    dns_names: (names === undefined ? [] : parseGeneralNames(names.value))
      .flatMap((name) => (name.kind === 'dns' ? [name.value] : []))
      .slice(0, MAX_DNS_NAMES),
  };
};
