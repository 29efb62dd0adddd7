/**
 * Certificates and requests with every kind of key, name and extension: encoded, parsed, and read
 * by OpenSSL.
 */
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { propertySettings, temporaryDirectory } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  authorityInformationAccess,
  authorityKeyIdentifier,
  basicConstraints,
  certificatePolicies,
  createCertificate,
  createCsr,
  createKeyPair,
  createSigner,
  crlDistributionPoints,
  EXTENDED_KEY_USAGE,
  EXTENSION,
  type Extension,
  encodeName,
  encodePem,
  extendedKeyUsage,
  findExtension,
  freshestCrl,
  isSignedBy,
  KEY_USAGES,
  type KeyAlgorithm,
  keyTypeOfScheme,
  keyUsage,
  nameConstraints,
  parseBasicConstraints,
  parseCertificate,
  parseCsr,
  parseExtendedKeyUsage,
  parseKeyUsage,
  parseName,
  parseNameConstraints,
  parseSubjectKeyIdentifier,
  randomSerialNumber,
  SIGNATURE_SCHEMES,
  subjectAltName,
  subjectKeyIdentifier,
  toDistinguishedName,
} from './x509.ts';

const KEYS: readonly KeyAlgorithm[] = [
  { type: 'ec', bits: 224 },
  { type: 'ec', bits: 256 },
  { type: 'ec', bits: 384 },
  { type: 'ec', bits: 521 },
  { type: 'ed25519' },
  { type: 'rsa', bits: 2048 },
];
const pairs = await Promise.all(KEYS.map((algorithm) => createKeyPair(algorithm)));

/** Every scheme with every key that can sign by it. */
const signing = fc.constantFrom(
  ...pairs.flatMap((pair) =>
    SIGNATURE_SCHEMES.filter((scheme) => keyTypeOfScheme(scheme) === pair.algorithm.type).map(
      (scheme) => ({
        pair,
        signer: createSigner(
          createPrivateKey({
            key: Buffer.from(pair.privateKeyDer),
            format: 'der',
            type: 'pkcs8',
          }),
          scheme,
        ),
      }),
    ),
  ),
);

const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const texts = fc.array(text, { maxLength: 2 });
const names = fc
  .record({
    country: fc.subarray(['NL', 'DE']),
    organization: texts,
    organizationalUnit: texts,
    locality: texts,
    province: texts,
    streetAddress: texts,
    postalCode: texts,
    commonName: text,
    serialNumber: fc.constantFrom('', '42'),
    userIds: texts,
  })
  .map((attributes) => toDistinguishedName(attributes));

const domain = fc.stringMatching(/^[a-z]{1,8}(\.[a-z]{1,8}){0,2}$/);
const urls = fc
  .array(domain, { minLength: 1, maxLength: 3 })
  .map((hosts) => hosts.map((host) => `http://${host}/x`));
const octets = fc.uint8Array({ minLength: 1, maxLength: 20 });
const bytesOf = (value: Uint8Array): string => Buffer.from(value).toString('hex');

interface Written {
  readonly extension: Extension;
  /** The parsed and the written form, which must be equal. */
  readonly check: (value: Uint8Array) => readonly [unknown, unknown];
}

const onlyBytes = (extension: Extension): Written => ({
  extension,
  check: (value) => [bytesOf(value), bytesOf(extension.value)],
});

const usageOrder = (usages: readonly string[]): readonly string[] =>
  KEY_USAGES.filter((usage) => usages.includes(usage));

/** One extension of each supported kind. */
const extensions: fc.Arbitrary<readonly Written[]> = fc
  .tuple(
    fc.subarray([...KEY_USAGES], { minLength: 1 }).map(
      (usages): Written => ({
        extension: keyUsage(usages),
        check: (value) => [parseKeyUsage(value), usageOrder(usages)],
      }),
    ),
    fc.subarray(Object.values(EXTENDED_KEY_USAGE), { minLength: 1 }).map(
      (usages): Written => ({
        extension: extendedKeyUsage(usages),
        check: (value) => [parseExtendedKeyUsage(value), usages],
      }),
    ),
    fc.option(fc.nat(5), { nil: undefined }).map(
      (pathLength): Written => ({
        extension: basicConstraints({ isCa: true, pathLength }),
        check: (value) => [parseBasicConstraints(value), { isCa: true, pathLength }],
      }),
    ),
    octets.map(
      (identifier): Written => ({
        extension: subjectKeyIdentifier(identifier),
        check: (value) => [bytesOf(parseSubjectKeyIdentifier(value)), bytesOf(identifier)],
      }),
    ),
    octets.map((identifier) => onlyBytes(authorityKeyIdentifier(identifier))),
    fc.tuple(urls, urls).map(([ocsp, ca]) => onlyBytes(authorityInformationAccess(ocsp, ca))),
    urls.map((points) => onlyBytes(crlDistributionPoints(points))),
    urls.map((points) => onlyBytes(freshestCrl(points))),
    domain.map((value) => onlyBytes(subjectAltName([{ kind: 'dns', value }]))),
    fc
      .record({
        cps: fc.option(domain, { nil: undefined }),
        notice: fc.option(text, { nil: undefined }),
      })
      .map(({ cps, notice }) =>
        onlyBytes(
          certificatePolicies([
            { oid: '2.23.140.1.2.1', cps: cps && `http://${cps}/`, notice },
            { oid: '1.3.6.1.4.1.99999.1' },
          ]),
        ),
      ),
    fc.tuple(domain, domain).map(([permitted, excluded]): Written => {
      const extension = nameConstraints(
        { dns: [permitted], ipRanges: ['10.0.0.0/8'] },
        { email: [excluded], uri: [`.${excluded}`] },
      );
      if (extension === undefined) throw new Error('no constraints');
      return {
        extension,
        check: (value) => [parseNameConstraints(value), parseNameConstraints(extension.value)],
      };
    }),
  )
  .chain((all) => fc.subarray(all, { minLength: 1 }));

const expectWritten = (found: readonly Extension[], written: readonly Written[]): void => {
  expect(found.map(({ oid, critical }) => [oid, critical])).toEqual(
    written.map(({ extension: { oid, critical } }) => [oid, critical]),
  );
  for (const { extension, check } of written) {
    const [read, wanted] = check(findExtension(found, extension.oid)?.value ?? new Uint8Array());
    expect([extension.oid, read]).toEqual([extension.oid, wanted]);
  }
};

const asSets = (name: ReturnType<typeof toDistinguishedName>) => name.map((rdn) => new Set(rdn));

describe('what is written is parsed again', () => {
  test('as a certificate, by every scheme of every key, with every extension', async () => {
    await fc.assert(
      fc.asyncProperty(signing, names, names, extensions, async (by, issuer, subject, written) => {
        const fields = {
          serialNumber: randomSerialNumber(),
          issuer: encodeName(issuer),
          subject: encodeName(subject),
          notBeforeMs: 0,
          notAfterMs: Date.UTC(2060, 0, 1),
          publicKeyDer: by.pair.publicKeyDer,
          extensions: written.map(({ extension }) => extension),
        };
        const der = await createCertificate(fields, by.signer);
        const parsed = parseCertificate(der);
        expect(asSets(parseName(parsed.issuer))).toEqual(asSets(issuer));
        expect(asSets(parseName(parsed.subject))).toEqual(asSets(subject));
        expectWritten(parsed.extensions, written);
        expect(bytesOf(parsed.publicKeyDer)).toBe(bytesOf(by.pair.publicKeyDer));
        expect(isSignedBy(parsed, by.pair.publicKeyDer)).toBe(true);
        const seenByNode = new X509Certificate(der);
        expect(seenByNode.verify(seenByNode.publicKey)).toBe(true);
      }),
      propertySettings({ numRuns: 300 }),
    );
  });

  test('as a request, likewise', async () => {
    await fc.assert(
      fc.asyncProperty(signing, names, extensions, async (by, subject, written) => {
        const der = await createCsr(
          {
            subject: encodeName(subject),
            publicKeyDer: by.pair.publicKeyDer,
            extensions: written.map(({ extension }) => extension),
          },
          by.signer,
        );
        // parseCsr also verifies the signature.
        const parsed = parseCsr(der);
        expect(asSets(parseName(parsed.subject))).toEqual(asSets(subject));
        expectWritten(parsed.extensions, written);
        expect(bytesOf(parsed.publicKeyDer)).toBe(bytesOf(by.pair.publicKeyDer));
      }),
      propertySettings({ numRuns: 300 }),
    );
  });

  test('by OpenSSL and GnuTLS too', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'made.pem');
    const read = (command: string, ...args: readonly string[]): string =>
      execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });
    await fc.assert(
      fc.asyncProperty(signing, names, extensions, async (by, subject, written) => {
        const common = {
          subject: encodeName(subject),
          publicKeyDer: by.pair.publicKeyDer,
          extensions: written.map(({ extension }) => extension),
        };
        const csr = await createCsr(common, by.signer);
        writeFileSync(file, `${encodePem('CERTIFICATE REQUEST', csr)}\n`);
        read('openssl', 'req', '-verify', '-noout', '-in', file);
        expect(read('certtool', '--crq-info', '--infile', file)).toContain(
          'Self signature: verified',
        );
        const der = await createCertificate(
          {
            ...common,
            serialNumber: randomSerialNumber(),
            issuer: common.subject,
            notBeforeMs: 0,
            notAfterMs: Date.UTC(2060, 0, 1),
          },
          by.signer,
        );
        writeFileSync(file, `${encodePem('CERTIFICATE', der)}\n`);
        const shown = read('openssl', 'x509', '-noout', '-text', '-in', file);
        const info = read('certtool', '--certificate-info', '--infile', file);
        expect(shown.includes('Freshest CRL')).toBe(
          written.some(({ extension }) => extension.oid === EXTENSION.freshestCrl),
        );
        expect(info).toContain('Version: 3');
        expect(shown).not.toContain('<Not Supported>');
      }),
      propertySettings({ numRuns: 15 }),
    );
  });
});
