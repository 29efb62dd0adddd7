/** Key usages of leaves: the defaults of each key type, and requested usages. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  leafRole,
  MERGE_PATCH,
  type Mounts,
  newRequest,
  openMounts,
} from '../../test/open-mounts.ts';

interface Described {
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly schema: { readonly properties?: Readonly<object> } }>
    >;
  };
}

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

/** The operations that take a parameter, with the other parameters that they need. */
const takersOf = async (parameter: string) => {
  const { pathsJson } = await mounts.pki.service.edge.describe();
  const csr = newRequest(mounts, '/CN=a.example.com');
  const paths = JSON.parse(pathsJson) as Record<string, Record<string, Described>>;
  return Object.entries(paths).flatMap(([path, operations]) =>
    ['post', 'patch'].flatMap((method) => {
      const [body] = Object.values(operations[method]?.requestBody?.content ?? {});
      const { properties = {} } = body?.schema ?? {};
      if (!Object.hasOwn(properties, parameter)) return [];
      return {
        method: method.toUpperCase(),
        path: path
          .slice(1)
          .replace('{type}', 'internal')
          .replace('{issuer_ref}', 'default')
          .replace('{name}', 'taker'),
        least: {
          ...(Object.hasOwn(properties, 'csr') && { csr }),
          ...(Object.hasOwn(properties, 'common_name') && NAME),
        },
      };
    }),
  );
};

/** A misspelt value of each parameter, after a correct one, and the end of its refusal. */
const MISSPELT = [
  ['key_usage', 'CRLSign,DigitalSignatur', 'is not a known key usage: DigitalSignature, '],
  ['ext_key_usage', 'ServerAuth,Servers', 'is not a known extended key usage: Any, ServerAuth, '],
  ['ext_key_usage_oids', '1.2.3.4,1.x', 'is not an object identifier'],
] as const;

describe.for([
  ['specification', false],
  ['vendor', true],
] as const)('in the %s dialect', ([, vendor]) => {
  test.for(MISSPELT)('an unknown value of %s is refused', async ([name, value, text]) => {
    const message = `${name}: "${value.split(',')[1]}" ${text}`;
    await mounts.post('roles/taker', leafRole);
    const takers = await takersOf(name);
    for (const { method, path, least } of takers) {
      const options = { vendor, ...(method === 'PATCH' && MERGE_PATCH) };
      const body = { ...least, [name]: value };
      const { status, json } = await mounts.pki.call(method, path, body, options);
      expect([path, status, json.errors?.[0]]).toEqual([
        path,
        400,
        expect.stringContaining(message),
      ]);
    }
    expect(takers.length).toBeGreaterThan(9);
  });
});
