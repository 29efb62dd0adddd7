import { createPrivateKey } from 'node:crypto';
import {
  authorityKeyIdentifier,
  basicConstraints,
  type CertificateFields,
  chooseSignatureScheme,
  createKeyPair,
  createSigner,
  EXTENSION,
  type Extension,
  encodeName,
  extendedKeyUsage,
  type GeneralName,
  keyUsage,
  nameConstraints,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
} from '@keelson/x509';
import { describe, expect, test } from 'vitest';
import { signLinted } from './lints.ts';

const pair = await createKeyPair({ type: 'ec', bits: 256 });
const key = createPrivateKey({
  key: Buffer.from(pair.privateKeyDer),
  format: 'der',
  type: 'pkcs8',
});
const signer = createSigner(key, chooseSignatureScheme(pair.algorithm));

const identifier = Buffer.alloc(20, 1);
const identifiers = [subjectKeyIdentifier(identifier), authorityKeyIdentifier(identifier)];
const ca = [basicConstraints({ isCa: true }), keyUsage(['CertSign', 'CRLSign'])];
const constraints = nameConstraints({ dns: ['example.com'] }, {}) as Extension;

const fields = (changes: Partial<CertificateFields>): CertificateFields => ({
  serialNumber: Uint8Array.of(1),
  issuer: encodeName(toDistinguishedName({ commonName: 'Issuer' })),
  subject: encodeName(toDistinguishedName({ commonName: 'Subject' })),
  notBeforeMs: 0,
  notAfterMs: 1000,
  publicKeyDer: pair.publicKeyDer,
  extensions: identifiers,
  ...changes,
});

const named = (name: GeneralName) => ({ extensions: [...identifiers, subjectAltName([name])] });
const subject = (attributes: Parameters<typeof toDistinguishedName>[0]) => ({
  subject: encodeName(toDistinguishedName(attributes)),
});
const critical = (extension: Extension): Extension => ({ ...extension, critical: true });
const lax = (extension: Extension): Extension => ({ ...extension, critical: false });

describe('before a signature', () => {
  test.for<readonly [string, Partial<CertificateFields>]>([
    ['leading zeros', { serialNumber: Uint8Array.of(0, 1) }],
    ['longer than 20 octets', { serialNumber: Buffer.alloc(20, 0x80) }],
    ['ends before it begins', { notAfterMs: -1000 }],
    ['occurs twice', { extensions: [...identifiers, ...identifiers] }],
    [
      'not critical although the subject is empty',
      { ...subject({}), ...named({ kind: 'dns', value: 'a' }) },
    ],
    ['subject is empty and there are no alternative names', subject({})],
    [
      'subject of a CA certificate is empty',
      { ...subject({}), extensions: [...identifiers, ...ca] },
    ],
    ['lacks the CertSign', { extensions: [...identifiers, basicConstraints({ isCa: true })] }],
    ['path length exceeds', { extensions: [...identifiers, ...ca] }],
    [
      'CertSign key usage in a certificate',
      { extensions: [...identifiers, keyUsage(['CertSign'])] },
    ],
    ['names no usage', { extensions: [...identifiers, keyUsage([])] }],
    ['authority key identifier is missing', { extensions: [] }],
    [
      'lacks the subject key identifier',
      {
        extensions: [
          authorityKeyIdentifier(identifier),
          basicConstraints({ isCa: true, pathLength: 0 }),
          keyUsage(['CertSign']),
        ],
      },
    ],
    [
      'basic constraints of a CA certificate are not critical',
      {
        extensions: [
          ...identifiers,
          lax(basicConstraints({ isCa: true, pathLength: 0 })),
          keyUsage(['CertSign']),
        ],
      },
    ],
    ['name constraints are not critical', { extensions: [...identifiers, lax(constraints)] }],
    ['name constraints in a certificate', { extensions: [...identifiers, constraints] }],
    [
      'must not be critical',
      { extensions: [...identifiers.slice(1), critical(subjectKeyIdentifier(identifier))] },
    ],
    ['alternative names are empty', { extensions: [...identifiers, subjectAltName([])] }],
    ['extended key usages are empty', { extensions: [...identifiers, extendedKeyUsage([])] }],
    ['DNS name is empty', named({ kind: 'dns', value: ' ' })],
    ['not a valid mailbox', named({ kind: 'email', value: 'nobody' })],
    ['not absolute', named({ kind: 'uri', value: '/path' })],
    ['common name of the subject is longer than 64', subject({ commonName: 'x'.repeat(65) })],
    ['country of the subject', subject({ country: ['Germany'] })],
  ])('%s is found', async ([finding, changes]) => {
    await expect(signLinted(fields(changes), signer, 1)).rejects.toThrow(finding);
  });

  test('nothing is found in leaves and authorities as they should be', async () => {
    const leaf = fields(named({ kind: 'dns', value: 'a.example.com' }));
    const authority = fields({
      extensions: [
        ...identifiers,
        basicConstraints({ isCa: true, pathLength: 0 }),
        keyUsage(['CertSign']),
        constraints,
      ],
    });
    const findings = [leaf, authority].map((one) => signLinted(one, signer, 1));
    await expect(Promise.all(findings)).resolves.toHaveLength(2);
    expect(EXTENSION.nameConstraints).toBe(constraints.oid);
  });
});
