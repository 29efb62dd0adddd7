import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

test('belongs to one token and is deleted with it', async () => {
  const mine = await harness.createToken(['default']);
  const other = await harness.createToken(['default']);
  expect(
    (await harness.call('POST', 'cubbyhole/a/b', { token: mine, body: { k: 'v' } })).status,
  ).toBe(204);
  expect((await harness.call('GET', 'cubbyhole/a/b', { token: mine })).body.data).toEqual({
    k: 'v',
  });
  expect((await harness.call('LIST', 'cubbyhole', { token: mine })).body.data.keys).toEqual(['a/']);
  expect((await harness.call('LIST', 'cubbyhole/a/', { token: mine })).body.data.keys).toEqual([
    'b',
  ]);
  expect((await harness.call('GET', 'cubbyhole/a/b', { token: other })).status).toBe(404);
  expect((await harness.call('LIST', 'cubbyhole', { token: other })).status).toBe(404);
  expect((await harness.call('DELETE', 'cubbyhole/a/b', { token: mine })).status).toBe(204);
  expect((await harness.call('GET', 'cubbyhole/a/b', { token: mine })).status).toBe(404);
});

test('is refused to batch tokens and unauthenticated callers', async () => {
  const body = { type: 'batch', policies: ['default'] };
  const made = await harness.asRoot('POST', 'auth/token/create', { body });
  const token = made.body.auth.client_token;
  expect((await harness.call('GET', 'cubbyhole/a', { token })).status).toBe(400);
  expect((await harness.call('GET', 'cubbyhole/a')).status).toBe(403);
});

test('an empty name in a path does not count', async () => {
  const body = { k: 'v' };
  expect((await harness.asRoot('POST', 'cubbyhole/a/b/', { body })).status).toBe(204);
  expect((await harness.asRoot('GET', 'cubbyhole/a/b')).body.data).toEqual(body);
});

test.for([
  ['a', {}, 'missing data fields'],
  ['x'.repeat(513), { k: 'v' }, 'a path has at most 512 characters'],
] as const)('%s is refused with %j', async ([path, body, text]) => {
  expect(await harness.asRoot('POST', `cubbyhole/${path}`, { body })).toEqual({
    status: 400,
    body: { errors: [text] },
  });
});

test('a full cubbyhole takes changes, but no other secret', async () => {
  const body = { k: 'v' };
  const names = Array.from({ length: 1000 }, (_, index) => `cubbyhole/${index}`);
  for (const name of names) expect((await harness.asRoot('POST', name, { body })).status).toBe(204);
  expect(await harness.asRoot('POST', 'cubbyhole/other', { body })).toEqual({
    status: 400,
    body: { errors: ['a cubbyhole holds at most 1000 secrets'] },
  });
  expect((await harness.asRoot('POST', 'cubbyhole/7', { body: { k: 'w' } })).status).toBe(204);
});
