/** Keys and self-signed certificates for TLS servers of tests. */
import { createHash, createPrivateKey } from 'node:crypto';
import {
  chooseSignatureScheme,
  createCertificate,
  createKeyPair,
  createSigner,
  type Extension,
  encodeName,
  encodePem,
  type GeneralName,
  randomSerialNumber,
  subjectAltName,
  toDistinguishedName,
} from '@keelson/x509';

export interface SelfSigned {
  readonly names: readonly GeneralName[];
  readonly extensions?: readonly Extension[];
  /** Named as issuer instead of the subject itself. */
  readonly issuer?: string;
}

const DAY_MS = 86_400_000;

export const aSelfSigned = async ({ names, extensions = [], issuer = 'test' }: SelfSigned) => {
  const pair = await createKeyPair({ type: 'ec', bits: 256 });
  const der = Buffer.from(pair.privateKeyDer);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const nowMs = Math.floor(Date.now() / 1000) * 1000;
  const named = (commonName: string) => encodeName(toDistinguishedName({ commonName }));
  const certificate = await createCertificate(
    {
      serialNumber: randomSerialNumber(),
      issuer: named(issuer),
      subject: named('test'),
      notBeforeMs: nowMs - DAY_MS,
      notAfterMs: nowMs + DAY_MS,
      publicKeyDer: pair.publicKeyDer,
      extensions: [...(names.length > 0 ? [subjectAltName(names)] : []), ...extensions],
    },
    createSigner(privateKey, chooseSignatureScheme(pair.algorithm)),
  );
  return { key: encodePem('PRIVATE KEY', der), cert: encodePem('CERTIFICATE', certificate) };
};

export const aSelfSignedServer = (name: string) =>
  aSelfSigned({ names: [{ kind: 'dns', value: name }] });

/** The extension that proves control in tls-alpn-01 (RFC 8737 §3). */
export const acmeIdentifier = (keyAuthorization: string, critical = true): Extension => ({
  oid: '1.3.6.1.5.5.7.1.31',
  critical,
  value: Buffer.concat([
    Buffer.from([0x04, 0x20]),
    createHash('sha256').update(keyAuthorization).digest(),
  ]),
});
