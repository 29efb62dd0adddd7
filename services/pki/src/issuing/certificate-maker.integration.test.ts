/**
 * Certificates created on real threads: results, refusals, and the removal of keys from memory on request.
 */
import { createPrivateKey, type KeyObject } from 'node:crypto';
import { createLogger } from '@keelson/logging';
import {
  createKeyPair,
  encodeName,
  isSignedBy,
  parseCertificate,
  toDistinguishedName,
} from '@keelson/x509';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { SigningIssuer } from '../issuers/domain/signing-issuer.ts';
import type { CertificateOrder } from './build-certificate.ts';
import { CertificateMaker } from './certificate-maker.ts';

const NOW_MS = Date.UTC(2026, 10, 21);
const YEAR_MS = 365 * 86_400_000;

const order = (commonName: string): CertificateOrder => ({
  kind: 'issue',
  lifetime: {
    nowMs: NOW_MS,
    ttlSeconds: 3600,
    notAfterMs: undefined,
    mountDefaultTtlSeconds: 3600,
    mountMaxTtlSeconds: 86_400,
    overlong: 'refuse',
    absoluteTimes: 'bounded',
  },
  names: {
    commonName,
    altNames: [],
    ipSans: [],
    uriSans: [],
    otherSans: [],
    serialNumber: '',
    userIds: [],
    excludeCnFromSans: false,
    rules: { unusable: 'refuse', addressCommonName: 'ip' },
  },
  key: { type: '', bits: 0 },
});

const role = {
  issuerRef: 'default',
  ttlSeconds: 0,
  maxTtlSeconds: 0,
  allowLocalhost: true,
  allowedDomains: ['example.com'],
  allowedDomainsTemplate: false,
  allowBareDomains: false,
  allowSubdomains: true,
  allowGlobDomains: false,
  allowWildcardCertificates: true,
  allowAnyName: false,
  enforceHostnames: true,
  allowIpSans: true,
  allowedIpSansCidr: [],
  allowedUriSans: [],
  allowedUriSansTemplate: false,
  allowedOtherSans: [],
  allowedSerialNumbers: [],
  allowedUserIds: [],
  serialNumberSource: 'json-csr',
  serverFlag: true,
  clientFlag: true,
  codeSigningFlag: false,
  emailProtectionFlag: false,
  keyType: 'ec',
  keyBits: 256,
  signatureBits: 0,
  usePss: false,
  keyUsage: ['DigitalSignature'],
  extKeyUsage: [],
  extKeyUsageOids: [],
  useCsrCommonName: true,
  useCsrSans: true,
  ou: [],
  organization: [],
  country: [],
  locality: [],
  province: [],
  streetAddress: [],
  postalCode: [],
  generateLease: false,
  noStore: false,
  noStoreMetadata: false,
  requireCn: true,
  cnValidations: ['email', 'hostname'],
  policyIdentifiers: [],
  basicConstraintsValidForNonCa: false,
  notBeforeDurationSeconds: 30,
  notAfter: '',
  notBeforeBound: '',
  notAfterBound: '',
};

interface TestIssuer {
  readonly issuer: SigningIssuer;
  readonly publicKeyDer: Uint8Array;
}

const createIssuer = async (type: 'ec' | 'rsa'): Promise<TestIssuer> => {
  const pair = await createKeyPair(type === 'ec' ? { type, bits: 256 } : { type, bits: 2048 });
  const key = Buffer.from(pair.privateKeyDer);
  const privateKey: KeyObject = createPrivateKey({ key, format: 'der', type: 'pkcs8' });
  return {
    publicKeyDer: pair.publicKeyDer,
    issuer: {
      privateKey,
      name: encodeName(toDistinguishedName({ commonName: 'Root' })),
      keyIdentifier: new Uint8Array(20).fill(1),
      pathLength: undefined,
      notAfterMs: NOW_MS + YEAR_MS,
      leafNotAfterBehavior: 'err',
      urls: {
        issuingCertificates: [],
        crlDistributionPoints: [],
        deltaCrlDistributionPoints: [],
        ocspServers: [],
        enableTemplating: false,
      },
      chainRules: {
        allowsUninterpreted: false,
        paths: [{ finding: undefined, constraints: [] }],
      },
    },
  };
};

describe('certificates made on threads', () => {
  const maker = new CertificateMaker(createLogger({ name: 'test', level: 'silent' }));
  let ec: TestIssuer;
  let rsa: TestIssuer;

  beforeAll(async () => {
    [ec, rsa] = await Promise.all([createIssuer('ec'), createIssuer('rsa')]);
    await maker.whenStarted();
  }, 60_000);
  afterAll(() => maker.forget());

  const made = async ({ issuer, publicKeyDer }: TestIssuer, commonName: string) => {
    const { der, serialNumber, keyPair } = await maker.make(
      'mount',
      issuer,
      role,
      order(commonName),
    );
    const certificate = parseCertificate(der);
    expect(isSignedBy(certificate, publicKeyDer)).toBe(true);
    expect(certificate.serialNumber).toEqual(serialNumber);
    expect(certificate.publicKeyDer).toEqual(keyPair?.publicKeyDer);
    return { certificate, serial: Buffer.from(serialNumber).toString('hex') };
  };

  test('answer each order with its own certificate, whatever the key of the issuer', async () => {
    const names = Array.from({ length: 100 }, (_, i) => `host-${i}.example.com`);
    const all = await Promise.all(names.map((name, i) => made(i % 2 === 0 ? ec : rsa, name)));
    for (const [i, { certificate }] of all.entries())
      expect(Buffer.from(certificate.subject).toString('latin1')).toContain(names[i]);
    expect(new Set(all.map(({ serial }) => serial)).size).toBe(names.length);
  });

  test('of a mount that orders many large keys delay none of another', async () => {
    const ended: string[] = [];
    const make = async (mount: string, keyType: 'ec' | 'rsa') => {
      const rules = { ...role, keyType, keyBits: keyType === 'ec' ? 256 : 2048 };
      await maker.make(mount, ec.issuer, rules, order(`${mount}.example.com`));
      ended.push(mount);
    };
    const greedy = Array.from({ length: 16 }, () => make('greedy', 'rsa'));
    await Promise.all([...greedy, make('polite', 'ec')]);
    // Only keys that were under way before may be ready earlier.
    expect(ended.indexOf('polite')).toBeLessThanOrEqual(4);
  });

  test('are refused for the same reasons as on the calling thread', async () => {
    const refused = await Promise.allSettled([
      maker.make('mount', ec.issuer, role, order('a.example.org')),
      made(ec, 'b.example.com'),
      maker.make('mount', ec.issuer, { ...role, keyType: 'any' }, order('c.example.com')),
    ]);
    expect(refused.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'rejected']);
    expect(refused[0]).toMatchObject({
      reason: {
        code: 'request.invalid',
        message: 'common name a.example.org not allowed by this role',
      },
    });
  });

  test('end with their keys and refuse pending orders; the next order starts them again', async () => {
    const asked = maker.make('mount', ec.issuer, role, order('a.example.com'));
    const [answer] = await Promise.allSettled([asked, maker.forget()]);
    expect(answer).toMatchObject({ status: 'rejected', reason: { code: 'sys.sealed' } });
    expect(maker.threadCount).toBe(0);
    await made(ec, 'b.example.com');
    expect(maker.threadCount).toBe(1);
    await maker.whenStarted();
    await made(rsa, 'c.example.com');
  });
});
