/** Signing requests that are refused because of their keys, signatures or names. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Mounts, newRequest, openMounts } from '../../test/open-mounts.ts';

let mounts: Mounts;
beforeAll(async () => {
  mounts = await openMounts();
  await mounts.root();
  await mounts.post('roles/any', { allow_any_name: true, key_type: 'any' });
  await mounts.post('roles/nameless', { require_cn: false, key_type: 'ec' });
});
afterAll(() => mounts.close());

const request = (...args: readonly string[]): string =>
  mounts.openssl(
    'req',
    '-new',
    '-nodes',
    '-keyout',
    mounts.file('request.key', ''),
    '-subj',
    '/CN=a.example.com',
    ...args,
  );
const ecRequest = (curve: string, ...args: readonly string[]): string =>
  request('-newkey', 'ec', '-pkeyopt', `ec_paramgen_curve:${curve}`, ...args);

const WAYS = ['sign/any', 'sign-verbatim', 'root/sign-intermediate'];

test.for(WAYS)('%s refuses a key that spells out the parameters of its curve', async (path) => {
  const csr = ecRequest('P-256', '-pkeyopt', 'ec_param_enc:explicit');
  expect(await mounts.refusal(path, { csr, common_name: 'a.example.com' })).toContain(
    'an EC key must name its curve and not spell out its parameters (RFC 5480 §2.1.1)',
  );
});

test('a private key with explicit curve parameters is not imported', async () => {
  const key = mounts.openssl(
    'ecparam',
    '-name',
    'P-256',
    '-param_enc',
    'explicit',
    '-genkey',
    '-noout',
  );
  expect(await mounts.refusal('keys/import', { pem_bundle: key })).toContain('RFC 5480 §2.1.1');
});

test.for(WAYS)('%s reports an unsupported curve, and the supported ones', async (path) => {
  const csr = ecRequest('secp256k1');
  expect(await mounts.refusal(path, { csr, common_name: 'a.example.com' })).toContain(
    'unsupported EC curve secp256k1: P-224, P-256, P-384 and P-521 are allowed',
  );
});

test.for([
  ['rsa:2048', 'RSA with SHA-1'],
  ['P-256', 'ECDSA with SHA-1'],
])(
  'a request signed with SHA-1 (%s) is refused with the name of the algorithm',
  async ([key, name]) => {
    const csr = key === 'P-256' ? ecRequest(key, '-sha1') : request('-newkey', 'rsa:2048', '-sha1');
    for (const path of WAYS)
      expect(await mounts.refusal(path, { csr, common_name: 'a.example.com' })).toContain(
        `unsupported signature algorithm ${name}: RSA (PKCS #1 v1.5 or PSS) and ECDSA with SHA-256, SHA-384 or SHA-512, and Ed25519 are allowed`,
      );
  },
);

test('nothing is issued without a subject and without alternative names', async () => {
  const count = async (): Promise<number> =>
    (await mounts.pki.call('LIST', 'certs')).data.keys.length;
  const before = await count();
  const csr = newRequest(mounts, '/');
  const cases = [
    ['issue/nameless', {}],
    ['issue/nameless', { exclude_cn_from_sans: true }],
    ['sign/nameless', { csr }],
    ['sign-verbatim', { csr }],
  ] as const;
  for (const vendor of [false, true])
    for (const [path, body] of cases) {
      const { status, json } = await mounts.pki.call('POST', path, body, { vendor });
      expect([path, status, json.errors]).toEqual([
        path,
        400,
        [expect.stringContaining('the subject is empty and there are no alternative names')],
      ]);
    }
  expect(await mounts.refusal('root/sign-intermediate', { csr })).toContain(
    'the subject of a CA certificate is empty',
  );
  expect(await count()).toBe(before);
});

test('a warning says when the certificate lacks the must-staple of its CSR', async () => {
  const csr = ecRequest('P-256', '-addext', 'tlsfeature=status_request');
  const { json } = await mounts.post('sign/any', { csr });
  expect(json.warnings).toEqual([expect.stringContaining('lacks the TLS feature extension')]);
});
