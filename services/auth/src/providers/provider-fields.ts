/** Parameters that say where a provider is, and by which certificates and keys it is known. */
import { X509Certificate } from 'node:crypto';
import { field } from '@keelson/secrets-api';
import { parsePemKey } from './domain/verification-keys.ts';

export const MAX_PEM_LENGTH = 65_536;
const MAX_KEYS = 32;

/** @returns the text of the error for a text that is not the address of a server */
export const urlComplaint =
  (name: string) =>
  (text: string): string | undefined => {
    if (text === '') return undefined;
    const url = URL.canParse(text) ? new URL(text) : undefined;
    // Credentials would be read back with the configuration.
    return url !== undefined &&
      /^https?:$/.test(url.protocol) &&
      `${url.username}${url.password}` === ''
      ? undefined
      : `${name} must be an http or https URL without credentials`;
  };

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** @returns the text of the error for a text that is not certificates in PEM */
export const certificatesComplaint =
  (name: string) =>
  (pem: string): string | undefined => {
    if (pem === '') return undefined;
    const certificates = pem.match(CERTIFICATE) ?? [];
    try {
      for (const certificate of certificates) new X509Certificate(certificate);
      if (certificates.length > 0 && !pem.includes('PRIVATE KEY')) return undefined;
    } catch {
      // One of the blocks is no certificate.
    }
    return `${name} must be certificates in PEM`;
  };

export const urlField = (name: string, description: string) =>
  field.string({ description, default: '', maxLength: 2048, check: urlComplaint(name) });

export const certificatesField = (name: string) =>
  field.string({
    description:
      'Certificates in PEM that the server must chain to; those of the system if not given.',
    maxLength: MAX_PEM_LENGTH,
    default: '',
    check: certificatesComplaint(name),
  });

export const publicKeysField = (name: string, description: string) =>
  field.commaList({
    description,
    default: [],
    maxLength: MAX_PEM_LENGTH,
    check: (keys) => {
      if (keys.length > MAX_KEYS) return `${name} has at most ${MAX_KEYS} elements`;
      return keys.every((pem) => parsePemKey(pem) !== undefined)
        ? undefined
        : 'error parsing public key: each must be a public key or certificate in PEM: RSA of 2048 to 16384 bits, P-256, P-384, P-521 or Ed25519';
    },
  });
