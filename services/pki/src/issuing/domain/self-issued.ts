/** A root of another authority, to be signed by an issuer of this mount (reference §4.10). */
import { KeelsonError } from '@keelson/errors';
import {
  type CertificateFields,
  decodePem,
  EXTENSION,
  findExtension,
  type ParsedCertificate,
  parseBasicConstraints,
  parseCertificate,
} from '@keelson/x509';
import type { AuthorityUrls } from '../../authority-urls/domain/authority-urls.ts';
import {
  issuerExtensions,
  withoutIssuerExtensions,
} from '../../issuers/domain/issuer-extensions.ts';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

/**
 * The certificate in a PEM text. Its own signature is not checked: it is about to be replaced.
 * @throws KeelsonError `request.invalid`, `pki.malformed`
 */
export const readSelfIssuedPem = (pem: string): ParsedCertificate => {
  const blocks = decodePem(pem);
  const [block] = blocks;
  if (block === undefined) return refuse('certificate could not be PEM-decoded');
  if (blocks.length > 1) refuse(`${blocks.length} certificates found in PEM file, expected 1`);
  const certificate = parseCertificate(block.der);
  const constraints = findExtension(certificate.extensions, EXTENSION.basicConstraints);
  if (constraints === undefined || !parseBasicConstraints(constraints.value).isCa)
    refuse('given certificate is not a CA certificate');
  if (!Buffer.from(certificate.subject).equals(certificate.issuer))
    refuse('given certificate is not self-issued');
  return certificate;
};

export interface NewSigner {
  readonly name: Uint8Array;
  readonly keyIdentifier: Uint8Array;
  readonly urls: AuthorityUrls;
}

/** The same certificate as if this signer had made it: serial number, subject and validity stay. */
export const underNewSigner = (
  certificate: CertificateFields,
  { name, keyIdentifier, urls }: NewSigner,
): CertificateFields => ({
  serialNumber: certificate.serialNumber,
  issuer: name,
  subject: certificate.subject,
  notBeforeMs: certificate.notBeforeMs,
  notAfterMs: certificate.notAfterMs,
  publicKeyDer: certificate.publicKeyDer,
  extensions: [
    ...withoutIssuerExtensions(certificate.extensions),
    ...issuerExtensions(keyIdentifier, urls),
  ],
});
