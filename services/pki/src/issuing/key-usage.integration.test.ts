/** Key usages of leaves: the defaults of each key type, and requested usages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  leafRole,
  MERGE_PATCH,
  type Mounts,
  newRequest,
  openMounts,
} from '../../test/open-mounts.ts';

let mounts: Mounts;
beforeAll(async () => {
  mounts = await openMounts();
  await mounts.root();
});
afterAll(() => mounts.close());

const NAME = { common_name: 'a.example.com' };
const DEFAULT = ['DigitalSignature', 'KeyAgreement', 'KeyEncipherment'];
const ALL = 'Digital Signature, Key Encipherment, Key Agreement';

const usageOf = (pem: string): string | undefined =>
  /Key Usage: critical\n\s*(.*)/.exec(mounts.textOf(pem))?.[1];

const requestOf = (type: string): string => {
  const algorithm = { rsa: 'rsa:2048', ec: 'ec', ed25519: 'ed25519' }[type] ?? '';
  const curve = type === 'ec' ? ['-pkeyopt', 'ec_paramgen_curve:P-256'] : [];
  const key = ['-newkey', algorithm, ...curve, '-nodes', '-keyout', mounts.file('request.key', '')];
  return mounts.openssl('req', '-new', ...key, '-subj', '/CN=a.example.com');
};

test.for<readonly [string, string]>([
  ['rsa', 'Digital Signature, Key Encipherment'],
  ['ec', 'Digital Signature, Key Agreement'],
  ['ed25519', 'Digital Signature'],
])('a %s key gets the usages %s by default', async ([key_type, shown]) => {
  await mounts.post('roles/plain', { allow_any_name: true, key_type });
  const csr = requestOf(key_type);
  for (const path of ['issue/plain', 'sign/plain', 'sign-verbatim', 'sign-verbatim/plain']) {
    const { data } = await mounts.post(path, { csr, ...NAME });
    expect([path, usageOf(data.certificate)]).toEqual([path, shown]);
  }
});

test.for<readonly [string, object, string, readonly string[]]>([
  ['rsa', { server_flag: false }, 'Digital Signature', []],
  ['ec', { server_flag: false }, 'Digital Signature, Key Agreement', []],
  ['rsa', {}, 'Digital Signature, Key Encipherment', []],
  [
    'ec',
    { server_flag: false, client_flag: false, code_signing_flag: true },
    'Digital Signature',
    [],
  ],
  [
    'rsa',
    { server_flag: false, client_flag: false, ext_key_usage: 'OCSPSigning' },
    'Digital Signature',
    ['OCSP No Check'],
  ],
  [
    'rsa',
    { server_flag: false, client_flag: false, ext_key_usage: 'TimeStamping' },
    'Digital Signature',
    ['Extended Key Usage: critical'],
  ],
  // The extension is critical only for an authority that does nothing else.
  ['rsa', { ext_key_usage: 'TimeStamping' }, 'Digital Signature, Key Encipherment', []],
])('a %s key under a role with %o gets the usages %s', async ([key_type, role, shown, more]) => {
  await mounts.post('roles/purpose', { allow_any_name: true, key_type, ...role });
  const { data } = await mounts.post('issue/purpose', NAME);
  const text = mounts.textOf(data.certificate);
  expect(usageOf(data.certificate)).toBe(shown);
  for (const part of ['OCSP No Check', 'Extended Key Usage: critical'])
    expect([part, text.includes(part)]).toEqual([part, more.includes(part)]);
});

test('the same extended usage by name and by identifier is written once', async () => {
  const csr = requestOf('rsa');
  const body = { csr, ext_key_usage: 'ClientAuth', ext_key_usage_oids: '1.3.6.1.5.5.7.3.2' };
  const { data } = await mounts.post('sign-verbatim', body);
  expect(mounts.textOf(data.certificate).match(/TLS Web Client Authentication/g)).toHaveLength(1);
  expect(mounts.textOf(data.certificate)).not.toContain('Client Authentication,');
  expect(usageOf(data.certificate)).toBe('Digital Signature');
});

test('requested usages are set, whatever the key', async () => {
  await mounts.post('roles/asked', { allow_any_name: true, key_type: 'ec', key_usage: DEFAULT });
  const csr = requestOf('ec');
  for (const [path, body] of [
    ['issue/asked', NAME],
    ['sign/asked', { csr }],
    ['sign-verbatim', { csr, key_usage: DEFAULT }],
  ] as const) {
    const { data } = await mounts.post(path, body);
    expect([path, usageOf(data.certificate)]).toEqual([path, ALL]);
  }
});

test('a role without key usages shows the default, and keeps it when it is patched', async () => {
  const { data } = await mounts.post('roles/kept', { allow_any_name: true, key_type: 'ec' });
  expect(data.key_usage).toEqual(DEFAULT);
  const patch = (body: object) => mounts.pki.call('PATCH', 'roles/kept', body, MERGE_PATCH);
  const issued = async () => usageOf((await mounts.post('issue/kept', NAME)).data.certificate);
  expect((await patch({ ttl: '1h' })).data.key_usage).toEqual(DEFAULT);
  expect(await issued()).toBe('Digital Signature, Key Agreement');
  await patch({ key_usage: DEFAULT });
  expect(await issued()).toBe(ALL);
  expect((await patch({ key_usage: null })).data.key_usage).toEqual(DEFAULT);
  expect(await issued()).toBe('Digital Signature, Key Agreement');
});

test('a usage that is unknown is warned of wherever it is given', async () => {
  const body = { key_usage: 'DigitalSignatur,CRLSign', ext_key_usage: 'ServerAuth,Servers' };
  const warnings = [
    'the key usage "DigitalSignatur" is unknown and has no effect',
    'the extended key usage "Servers" is unknown and has no effect',
  ];
  const role = await mounts.post('roles/misspelt', { ...leafRole, ...body });
  expect(role.json.warnings).toEqual(warnings);
  const patch = await mounts.pki.call('PATCH', 'roles/misspelt', { ttl: '1h' }, MERGE_PATCH);
  expect(patch.json.warnings).toEqual(warnings);
  const csr = newRequest(mounts, '/CN=a.example.com');
  expect((await mounts.post('sign-verbatim', { csr, ...body })).json.warnings).toEqual(warnings);
  const request = { common_name: 'CA', key_type: 'ec', key_usage: 'CertSign,Sign' };
  const made = await mounts.post('intermediate/generate/internal', request);
  expect(made.json.warnings).toEqual(['the key usage "Sign" is unknown and has no effect']);
});
