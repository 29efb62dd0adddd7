/** Certificates of a root that signs only end-entity certificates. */
import { createCertificate } from './certificate.ts';
import { keyIdentifierOf, subjectKeyIdentifier } from './extensions/key-identifiers.ts';
import { basicConstraints, keyUsage } from './extensions/usages.ts';
import type { Signer } from './keys/signature-scheme.ts';
import { encodeName, toDistinguishedName } from './names/distinguished-name.ts';
import { randomSerialNumber } from './serial-number.ts';

export interface RootFields {
  readonly commonName: string;
  /** Whole seconds. */
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  /** SubjectPublicKeyInfo of the signer, DER. */
  readonly publicKeyDer: Uint8Array;
}

/** A self-signed CA certificate that permits no intermediates, DER. */
export const createRootCertificate = (
  { commonName, notBeforeMs, notAfterMs, publicKeyDer }: RootFields,
  signer: Signer,
): Promise<Uint8Array> => {
  const name = encodeName(toDistinguishedName({ commonName }));
  return createCertificate(
    {
      serialNumber: randomSerialNumber(),
      issuer: name,
      subject: name,
      notBeforeMs,
      notAfterMs,
      publicKeyDer,
      extensions: [
        basicConstraints({ isCa: true, pathLength: 0 }),
        keyUsage(['CertSign', 'CRLSign']),
        subjectKeyIdentifier(keyIdentifierOf(publicKeyDer)),
      ],
    },
    signer,
  );
};
