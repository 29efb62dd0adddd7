/** Lists come in pages as asked for; those of any length are sent as they are read. */

import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Mounts, openMounts, other } from '../../test/open-mounts.ts';
import { writeCertificate } from './certificate-records.ts';
import { revocationRecords } from './revocation-records.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
});
afterEach(() => mounts.close());

const MAKE: Readonly<Record<string, (at: number) => Promise<unknown>>> = {
  roles: (at) => mounts.post(`roles/role-${at}`, { key_type: 'ec' }),
  issuers: (at) => mounts.root(`Root ${at}`),
  keys: () => mounts.post('keys/generate/internal', { key_type: 'ec' }),
  eab: () => mounts.post('acme/new-eab'),
};

test.for(Object.entries(MAKE))('%s come page by page', async ([path, make]) => {
  const { pki } = mounts;
  for (const at of [1, 2, 3]) await make(at);
  const list = (query: string) => pki.call('LIST', `${path}${query}`);
  const all: string[] = (await list('')).data.keys;
  expect(all).toHaveLength(3);
  expect(all).toEqual(all.toSorted());
  const page = (await list(`?limit=2`)).data;
  expect(page.keys).toEqual(all.slice(0, 2));
  const described = Object.keys(page.key_info ?? {}).toSorted();
  expect(described).toEqual(path === 'roles' ? [] : page.keys);
  expect((await list(`?after=${all[1]}&limit=2`)).data.keys).toEqual(all.slice(2));
  expect((await list(`?after=${all[0]}`)).data.keys).toEqual(all.slice(1));
  expect((await list(`?after=${all[2]}`)).status).toBe(404);
  for (const everything of ['?limit=0', '?limit=-1'])
    expect((await list(everything)).data.keys).toEqual(all);
  expect((await list('?limit=few')).json.errors).toEqual([expect.stringContaining('limit')]);
});

test.for([
  'roles',
  'issuers',
  'keys',
  'eab',
  'certs',
  'certs/revoked',
  'certs/unified-revoked',
  'certs/revocation-queue',
  'certs/detailed',
  'cert-metadata',
])('%s of an empty mount is 404 without a text, in both dialects', async (path) => {
  for (const vendor of [false, true]) {
    const { status, json } = await mounts.pki.call('LIST', path, undefined, { vendor });
    expect([vendor, status, json]).toEqual([vendor, 404, { errors: [] }]);
  }
});

/** As many serial numbers, in order, each with a certificate and a revocation on record. */
const fill = async (count: number): Promise<readonly string[]> => {
  const { pki } = mounts;
  const serials = Array.from({ length: count }, (_, at) => (0x10_00_00 + at).toString(16));
  const keys = serials.map((hex) => hex.match(/../g)?.join('-') ?? '');
  const { raw } = new X509Certificate((await mounts.root('Other', other)).certificate);
  const revokedBy = { kind: 'lease' } as const;
  const revocation = { revokedAtMs: 0, issuerId: '', notAfterMs: 0, revokedBy };
  await pki.store.transact((tx) => {
    for (const key of keys) {
      writeCertificate(tx, pki.mount, key, raw);
      revocationRecords(pki.mount).write(tx, key, revocation);
    }
  });
  return keys.map((key) => key.replaceAll('-', ':'));
};

test.for(['certs', 'certs/revoked'])('%s of any length are sent page by page', async (path) => {
  const { pki } = mounts;
  const serials = await fill(2500);
  const list = (query = '') => pki.call('LIST', `${path}${query}`);
  const all = await list();
  expect(all.data).toEqual({ keys: serials });
  expect(all.json).toMatchObject({ lease_id: '', warnings: null, request_id: 'request-1' });
  // A name takes 11 octets here, and a page has a thousand.
  expect(Math.max(...all.pieces)).toBeLessThanOrEqual(11_000);
  const after = serials[99];
  for (const [query, from, to] of [
    ['?limit=1000', 0, 1000],
    ['?limit=1001', 0, 1001],
    [`?after=${after}`, 100, 2500],
    [`?after=${after}&limit=2399`, 100, 2499],
    [`?after=${after}&limit=9999`, 100, 2500],
    ['?limit=1', 0, 1],
  ] as const)
    expect((await list(query)).data).toEqual({ keys: serials.slice(from, to) });
  expect((await list(`?after=${serials.at(-1)}`)).status).toBe(404);
  expect((await list('?after=nothing')).json.errors).toEqual(['malformed serial number']);
  expect((await list('?offset=1&limit=2')).json).toMatchObject({
    data: { keys: serials.slice(0, 2) },
    warnings: [expect.stringContaining('[offset]')],
  });
});
