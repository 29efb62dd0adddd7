import { createPrivateKey, createPublicKey } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import {
  authorityInformationAccess,
  authorityKeyIdentifier,
  basicConstraints,
  type CertId,
  certificatePolicies,
  createCertificate,
  createCrl,
  createCsr,
  createOcspResponse,
  createSigner,
  crlDistributionPoints,
  crlNumber,
  EXTENDED_KEY_USAGE,
  encodeName,
  extendedKeyUsage,
  keyIdentifierOf,
  keyUsage,
  nonceExtension,
  parseOcspRequest,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
} from './x509.ts';

/** The key of RFC 8032 §7.1, test 1. Ed25519 signatures are deterministic. */
const key = createPrivateKey({
  key: Buffer.from(
    '302e020100300506032b6570042204209d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    'hex',
  ),
  format: 'der',
  type: 'pkcs8',
});
const publicKeyDer = createPublicKey(key).export({ type: 'spki', format: 'der' });
const signer = createSigner(key, 'ed25519');
const issuer = encodeName(toDistinguishedName({ country: ['NL'], commonName: 'Golden Root' }));
const subject = encodeName(
  toDistinguishedName({ organization: ['B', 'A', 'Ü'], commonName: 'leaf.example' }),
);
const keyIdentifier = keyIdentifierOf(publicKeyDer);
const names = subjectAltName([
  { kind: 'dns', value: 'leaf.example' },
  { kind: 'ip', value: '2001:db8::1' },
  { kind: 'other', oid: '1.3.6.1.4.1.311.20.2.3', value: 'ü@example' },
]);

/** The certificate in openssl's request: SHA-1, serial number 81:23:45:67:89:ab:cd:ef. */
const [certId] = parseOcspRequest(
  Buffer.from(
    '304a3048304630443042300906052b0e03021a05000414424ef3366d8b17e4f9865ea7849fe102ba' +
      'd1a82e0414c8bdb946b4ab2abd927ca93af7a006693fb3d25c0209008123456789abcdef',
    'hex',
  ),
).certIds as [CertId];

const GOLDEN: Readonly<Record<string, () => Promise<Uint8Array>>> = {
  'leaf.crt.der': () =>
    createCertificate(
      {
        serialNumber: Uint8Array.of(0x80, 0x01),
        issuer,
        subject,
        notBeforeMs: Date.UTC(2049, 11, 31, 23, 59, 59),
        notAfterMs: Date.UTC(2050, 0, 1),
        publicKeyDer,
        extensions: [
          keyUsage(['DigitalSignature', 'DecipherOnly']),
          extendedKeyUsage([EXTENDED_KEY_USAGE.ServerAuth]),
          basicConstraints({ isCa: false }),
          subjectKeyIdentifier(keyIdentifier),
          authorityKeyIdentifier(keyIdentifier),
          authorityInformationAccess(['http://ocsp.example'], ['http://ca.example']),
          crlDistributionPoints(['http://crl.example']),
          names,
          certificatePolicies([{ oid: '1.3.6.1.4.1.1', cps: 'https://cps.example' }]),
        ],
      },
      signer,
    ),
  'request.csr.der': () => createCsr({ subject, publicKeyDer, extensions: [names] }, signer),
  'list.crl.der': () =>
    createCrl(
      {
        issuer,
        thisUpdateMs: Date.UTC(2030, 0, 1),
        nextUpdateMs: Date.UTC(2030, 0, 4),
        extensions: [authorityKeyIdentifier(keyIdentifier), crlNumber(255n)],
      },
      [{ serialNumber: Uint8Array.of(0x80, 0x01), revokedAtMs: Date.UTC(2029, 0, 1) }],
      signer,
    ),
  'status.ocsp.der': () =>
    createOcspResponse(
      {
        responderKeyHash: keyIdentifier,
        producedAtMs: Date.UTC(2030, 0, 1),
        thisUpdateMs: Date.UTC(2030, 0, 1),
        nextUpdateMs: Date.UTC(2030, 0, 1, 12),
        answers: [
          [certId, { kind: 'revoked', revokedAtMs: Date.UTC(2029, 0, 1) }],
          [certId, { kind: 'good' }],
          [certId, { kind: 'unknown' }],
        ],
        extensions: [nonceExtension(Uint8Array.of(4, 2, 1, 2))],
      },
      signer,
    ),
};

test.for(Object.keys(GOLDEN))('%s is written byte for byte as it was', async (name) => {
  const der = await GOLDEN[name]?.();
  const file = join(import.meta.dirname, 'testdata', name);
  if (process.env['KEELSON_UPDATE_GOLDEN'] === '1') writeFileSync(file, der ?? '');
  expect(Buffer.from(der ?? '').toString('hex')).toBe(readFileSync(file).toString('hex'));
});
