import { createPrivateKey } from 'node:crypto';
import {
  chooseSignatureScheme,
  createCsr,
  createKeyPair,
  createSigner,
  decodePem,
  describeKey,
  encodeName,
  encodePem,
  parseCertificate,
  parseName,
  subjectAltName,
  toDistinguishedName,
} from '@keelson/x509';
import { describe, expect, test } from 'vitest';
import { decide } from './decide.ts';
import type { Question } from './question.ts';
import { parseRules } from './rules.ts';

const NOW_MS = Date.UTC(2026, 10, 21);
const keyPair = await createKeyPair({ type: 'ec', bits: 256 });
const key = createPrivateKey({
  key: Buffer.from(keyPair.privateKeyDer),
  format: 'der',
  type: 'pkcs8',
});
const signer = createSigner(key, chooseSignatureScheme(describeKey(key)));

const rules = parseRules(
  JSON.stringify({
    default_policy: 'web',
    policies: {
      web: {
        allowed_names: ['*.example.com', '10.0.0.*'],
        ttl_seconds: 3600,
        max_ttl_seconds: 7200,
      },
      ca: {
        modes: ['ica'],
        allowed_names: ['Region *'],
        ttl_seconds: 3600,
        max_ttl_seconds: 3600,
        path_length: 0,
      },
    },
  }),
);

const csr = async (commonName = '', names: Parameters<typeof subjectAltName>[0] = []) =>
  encodePem(
    'CERTIFICATE REQUEST',
    await createCsr(
      {
        subject: encodeName(toDistinguishedName({ commonName })),
        publicKeyDer: keyPair.publicKeyDer,
        extensions: names.length === 0 ? [] : [subjectAltName(names, true)],
      },
      signer,
    ),
  );

const ask = async (
  user: Partial<Question['user_request_key_values']>,
  values: Partial<Question['vault_request_values']> = {},
) =>
  decide(
    rules,
    {
      request_version: 1,
      request_uuid: 'id',
      user_request_key_values: { csr: await csr(), ...user },
      vault_request_values: { issuance_mode: 'issue', requested_issuer_id: 'i-1', ...values },
    },
    signer,
    NOW_MS,
  );

const certificateOf = ({ certificate = '' }: { readonly certificate?: string }) =>
  parseCertificate(decodePem(certificate)[0]?.der ?? new Uint8Array(0));

describe('the rules of a policy', () => {
  test('issue a certificate for allowed names from the requested issuer', async () => {
    const decision = await ask({ common_name: 'a.example.com', ip_sans: ['10.0.0.1'] });
    expect(decision).toMatchObject({
      request_uuid: 'id',
      issuer_ref: 'i-1',
      store_certificate: false,
    });
    const certificate = certificateOf(decision);
    expect(certificate.notAfterMs).toBe(NOW_MS + 3_600_000);
    expect(parseName(certificate.subject)[0]?.[0]?.value).toBe('a.example.com');
  });

  test('check the names in the CSR too', async () => {
    const named = await csr('', [{ kind: 'dns', value: 'b.example.org' }]);
    expect(await ask({ csr: named })).toEqual({
      request_uuid: 'id',
      error: 'b.example.org is not allowed by this policy',
    });
  });

  test.for([
    ['a name outside', { common_name: 'example.com' }, {}, /not allowed/],
    ['no name', {}, {}, /no name/],
    ['a lifetime over the longest', { common_name: 'a.example.com', ttl: '3h' }, {}, /over the/],
    ['a malformed lifetime', { common_name: 'a.example.com', ttl: 'x' }, {}, /cannot be read/],
    ['a policy that is not there', {}, { policy_name: 'toString' }, /no policy toString/],
    ['a kind it is not for', {}, { issuance_mode: 'ica' }, /not for requests of the kind ica/],
  ] as const)('refuse %s', async ([, user, values, text]) => {
    expect((await ask(user, values)).error).toMatch(text);
  });

  test('refuse names of other kinds', async () => {
    const named = await csr('', [{ kind: 'email', value: 'a@example.com' }]);
    expect((await ask({ csr: named })).error).toMatch(/only host names/);
  });

  test('allow an intermediate where they say so', async () => {
    const values = { policy_name: 'ca', issuance_mode: 'ica' };
    const certificate = certificateOf(await ask({ common_name: 'Region North' }, values));
    expect(certificate.extensions.map(({ oid }) => oid)).toEqual([
      '2.5.29.19',
      '2.5.29.15',
      '2.5.29.14',
    ]);
  });

  test.for([
    ['a member that is not known', { policies: {}, extra: 1 }],
    ['a key usage that does not exist', { policies: { a: { key_usages: ['Fly'] } } }],
  ])('cannot have %s', ([, document]) => {
    expect(() => parseRules(JSON.stringify(document))).toThrow(/cannot be used/);
  });
});
