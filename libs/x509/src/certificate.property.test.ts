import { execFileSync, spawnSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  authorityInformationAccess,
  authorityKeyIdentifier,
  basicConstraints,
  type CertificateFields,
  certificatePolicies,
  chooseSignatureScheme,
  createCertificate,
  createCsr,
  createKeyPair,
  createSigner,
  crlDistributionPoints,
  EXTENDED_KEY_USAGE,
  encodeName,
  encodePem,
  extendedKeyUsage,
  type GeneralName,
  isSignedBy,
  KEY_USAGES,
  type KeyAlgorithm,
  keyIdentifierOf,
  keyUsage,
  nameConstraints,
  parseCertificate,
  parseCsr,
  parseGeneralNames,
  parseKeyUsage,
  parseName,
  randomSerialNumber,
  readNotAfter,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
  toSerialHex,
  toTraditionalKey,
} from './x509.ts';

const ALGORITHMS: readonly KeyAlgorithm[] = [
  { type: 'ec', bits: 224 },
  { type: 'ec', bits: 256 },
  { type: 'ec', bits: 384 },
  { type: 'ec', bits: 521 },
  { type: 'rsa', bits: 2048 },
  { type: 'ed25519' },
];

const pairs = new Map(
  await Promise.all(
    ALGORITHMS.map(async (algorithm) => [algorithm, await createKeyPair(algorithm)] as const),
  ),
);

const signerFor = (algorithm: KeyAlgorithm, usePss = false) => {
  const key = createPrivateKey({
    key: Buffer.from(pairs.get(algorithm)?.privateKeyDer ?? []),
    format: 'der',
    type: 'pkcs8',
  });
  return createSigner(key, chooseSignatureScheme(algorithm, { usePss }));
};

const publicKeyOf = (algorithm: KeyAlgorithm): Uint8Array =>
  pairs.get(algorithm)?.publicKeyDer ?? new Uint8Array();

const anyText = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' });
const texts = fc.array(anyText, { maxLength: 3 });
const subjects = fc
  .record({
    country: texts,
    organization: texts,
    organizationalUnit: texts,
    locality: texts,
    commonName: anyText,
    userIds: texts,
  })
  .map((subject) => toDistinguishedName(subject));

const asciiText = fc.stringMatching(/^[\x20-\x7e]{0,30}$/);
const generalNames: fc.Arbitrary<readonly GeneralName[]> = fc.array(
  fc.oneof(
    fc.record({ kind: fc.constantFrom('dns' as const, 'email', 'uri'), value: asciiText }),
    fc.record({
      kind: fc.constant('ip' as const),
      value: fc.oneof(fc.ipV4(), fc.constantFrom('2001:db8::1', '::1', 'fe80::1:2')),
    }),
    fc.record({
      kind: fc.constant('other' as const),
      oid: fc.constantFrom('1.3.6.1.4.1.311.20.2.3', '2.999.18446744073709551616.1'),
      value: anyText,
    }),
    fc.record({ kind: fc.constant('registeredId' as const), oid: fc.constant('1.2.840.113549') }),
  ),
  { minLength: 1, maxLength: 5 },
);

const epochSecondsMs = fc
  .integer({ min: Date.UTC(1950, 0, 1) / 1000, max: Date.UTC(9999, 11, 31, 23, 59, 59) / 1000 })
  .map((seconds) => seconds * 1000);

const folder = mkdtempSync(join(tmpdir(), 'keelson-x509-'));
const inspect = (command: string, args: readonly string[], name: string, content: string) => {
  const file = join(folder, name);
  writeFileSync(file, content);
  return execFileSync(command, [...args, file], { encoding: 'utf8', stdio: 'pipe' });
};

describe('a certificate', () => {
  test('is parsed as it was written, by this library and by Node.js', async () => {
    await fc.assert(
      fc.asyncProperty(
        subjects,
        generalNames,
        epochSecondsMs,
        epochSecondsMs,
        fc.subarray([...KEY_USAGES], { minLength: 1 }),
        fc.constantFrom(...ALGORITHMS.filter(({ type }) => type !== 'rsa')),
        async (subject, names, notBeforeMs, notAfterMs, usages, algorithm) => {
          const fields: CertificateFields = {
            serialNumber: randomSerialNumber(),
            issuer: encodeName(subject),
            subject: encodeName(subject),
            notBeforeMs,
            notAfterMs,
            publicKeyDer: publicKeyOf(algorithm),
            extensions: [
              keyUsage(usages),
              subjectAltName(names),
              subjectKeyIdentifier(keyIdentifierOf(publicKeyOf(algorithm))),
            ],
          };
          const der = await createCertificate(fields, signerFor(algorithm));
          const parsed = parseCertificate(der);
          const copy = (value: Uint8Array): Uint8Array => new Uint8Array(value);
          expect(readNotAfter(der)).toBe(parsed.notAfterMs);
          expect(copy(parsed.serialNumber)).toEqual(copy(fields.serialNumber));
          // DER orders the values of one RDN, so they are compared as sets.
          expect(parseName(parsed.subject).map((rdn) => new Set(rdn))).toEqual(
            subject.map((rdn) => new Set(rdn)),
          );
          expect([parsed.notBeforeMs, parsed.notAfterMs]).toEqual([notBeforeMs, notAfterMs]);
          expect(parsed.extensions.map(({ oid }) => oid)).toEqual(
            fields.extensions.map(({ oid }) => oid),
          );
          expect(parseKeyUsage(parsed.extensions[0]?.value ?? copy(der))).toEqual(
            [...usages].sort((a, b) => KEY_USAGES.indexOf(a) - KEY_USAGES.indexOf(b)),
          );
          expect(parseGeneralNames(parsed.extensions[1]?.value ?? copy(der))).toEqual(names);
          expect(isSignedBy(parsed, fields.publicKeyDer)).toBe(true);
          const seenByNode = new X509Certificate(der);
          expect(seenByNode.serialNumber.toLowerCase()).toBe(
            toSerialHex(fields.serialNumber).replaceAll(':', ''),
          );
          expect(seenByNode.verify(seenByNode.publicKey)).toBe(true);
        },
      ),
      { numRuns: 200 },
    );
  });

  test.for(
    ALGORITHMS.flatMap((algorithm) => [
      { algorithm, usePss: false },
      ...(algorithm.type === 'rsa' ? [{ algorithm, usePss: true }] : []),
    ]),
  )(
    'of $algorithm.type $algorithm.bits (pss $usePss) satisfies openssl and certtool',
    async ({ algorithm, usePss }) => {
      const name = encodeName(
        toDistinguishedName({
          country: ['NL'],
          organization: ['Zürich', 'A'],
          commonName: 'root.example.com',
        }),
      );
      const keyIdentifier = keyIdentifierOf(publicKeyOf(algorithm));
      const constraints = nameConstraints(
        { dns: ['example.com'], ipRanges: ['10.0.0.0/8', '2001:db8::/33'] },
        { email: ['bad.example'], uri: ['.bad.example'] },
      );
      const der = await createCertificate(
        {
          serialNumber: randomSerialNumber(),
          issuer: name,
          subject: name,
          notBeforeMs: Date.UTC(2025, 0, 1),
          notAfterMs: Date.UTC(2050, 0, 1),
          publicKeyDer: publicKeyOf(algorithm),
          extensions: [
            basicConstraints({ isCa: true, pathLength: 2 }),
            keyUsage(['CertSign', 'CRLSign']),
            extendedKeyUsage([EXTENDED_KEY_USAGE.ServerAuth]),
            subjectKeyIdentifier(keyIdentifier),
            authorityKeyIdentifier(keyIdentifier),
            authorityInformationAccess(['http://ocsp.example'], ['http://ca.example/ca']),
            crlDistributionPoints(['http://ca.example/crl', 'http://b.example/crl']),
            certificatePolicies([
              { oid: '2.23.140.1.2.1', cps: 'https://cps.example', notice: 'héllo' },
              { oid: '1.3.6.1.4.1.1' },
            ]),
            ...(constraints ? [constraints] : []),
          ],
        },
        signerFor(algorithm, usePss),
      );
      const pem = `${encodePem('CERTIFICATE', der)}\n`;
      const file = `${algorithm.type}-${usePss}.pem`;
      const text = inspect('openssl', ['x509', '-noout', '-text', '-in'], file, pem);
      for (const expected of [
        'CA:TRUE, pathlen:2',
        'Not After : Jan  1 00:00:00 2050 GMT',
        'OCSP - URI:http://ocsp.example',
        'IP:10.0.0.0/255.0.0.0',
        'Policy: 2.23.140.1.2.1',
      ])
        expect(text).toContain(expected);
      expect(
        inspect('openssl', ['verify', '-check_ss_sig', '-CAfile', join(folder, file)], file, pem),
      ).toContain('OK');
      const verdict = spawnSync(
        'certtool',
        ['--verify', '--load-ca-certificate', join(folder, file), '--infile', join(folder, file)],
        { encoding: 'utf8' },
      ).stdout;
      expect(verdict).toContain('Output: Verified');
    },
  );
});

describe('a private key', () => {
  test.for([...ALGORITHMS])('of $type $bits is read by openssl in both forms', (algorithm) => {
    const pair = pairs.get(algorithm);
    if (pair === undefined) throw new Error('no pair');
    const traditional = toTraditionalKey(pair.privateKeyDer);
    for (const pem of [
      encodePem('PRIVATE KEY', pair.privateKeyDer),
      encodePem(traditional.pemLabel, traditional.der),
    ]) {
      const publicKey = inspect('openssl', ['pkey', '-pubout', '-in'], 'key.pem', `${pem}\n`);
      expect(publicKey.trim()).toBe(encodePem('PUBLIC KEY', pair.publicKeyDer));
    }
  });
});

describe('a request', () => {
  test.for([...ALGORITHMS])('of $type $bits passes openssl and comes back', async (algorithm) => {
    const subject = toDistinguishedName({ commonName: 'host.example' });
    const der = await createCsr(
      {
        subject: encodeName(subject),
        publicKeyDer: publicKeyOf(algorithm),
        extensions: [subjectAltName([{ kind: 'dns', value: 'host.example' }])],
      },
      signerFor(algorithm),
    );
    const pem = `${encodePem('CERTIFICATE REQUEST', der)}\n`;
    inspect('openssl', ['req', '-verify', '-noout', '-in'], 'request.pem', pem);
    const parsed = parseCsr(der);
    expect(parseName(parsed.subject)).toEqual(subject);
    expect(parsed.keyAlgorithm).toEqual(algorithm);
  });
});
