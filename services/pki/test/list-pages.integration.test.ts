/** Lists of a mount that are in memory as a whole come in pages like those of certificates. */
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Mounts, openMounts } from './open-mounts.ts';

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
