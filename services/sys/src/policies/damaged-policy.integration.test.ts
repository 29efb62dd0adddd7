/** A policy record damaged by a disk: its consequences, and who is informed. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openSqliteStore } from '@keelson/storage';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';

const READ = 'path "sys/mounts" { capabilities = ["read"] }';

let folder: TemporaryDirectory;
let harness: SysHarness;
let root: string;
let untouched: string;
let touched: string;

const open = (): Promise<SysHarness> => {
  const file = join(folder.path, 'kept.sqlite');
  return openSysHarness({
    config: { unsealKeyFile: join(folder.path, 'unseal.key') },
    openStore: (barrier, _folder, clock) => openSqliteStore({ file, barrier, clock }),
  });
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  harness = await open();
  root = (await harness.initialize()).rootToken;
  for (const name of ['lost', 'kept'])
    await harness.asRoot('PUT', `sys/policies/acl/${name}`, { body: { policy: READ } });
  untouched = await harness.createToken(['kept']);
  touched = await harness.createToken(['kept', 'lost']);
  await harness.close();

  const database = new DatabaseSync(join(folder.path, 'kept.sqlite'));
  database
    .prepare("UPDATE record SET stored = x'00' WHERE path = 'shared/policies/root/lost'")
    .run();
  database.close();
  harness = await open();
  await harness.sys.start();
});
afterAll(async () => {
  await harness.close();
  await folder[Symbol.asyncDispose]();
});

const statusOf = async (path: string, token: string): Promise<number> =>
  (await harness.call('GET', path, { token })).status;

test('tokens without it are served as before', async () => {
  expect(await statusOf('auth/token/lookup-self', untouched)).toBe(200);
  expect(await statusOf('sys/mounts', untouched)).toBe(200);
  expect(await statusOf('sys/mounts', root)).toBe(200);
});

test('a token with it has no permissions, because what it denied is unknown', async () => {
  expect(await statusOf('auth/token/lookup-self', touched)).toBe(403);
  expect(await statusOf('sys/mounts', touched)).toBe(403);
});

test('paths without authentication answer with any token', async () => {
  for (const token of ['', root, untouched, touched])
    for (const path of ['sys/health', 'sys/seal-status', 'sys/leader', 'sys/generate-root/attempt'])
      expect([path, await statusOf(path, token)]).toEqual([path, 200]);
});

test('it is reported by health and in the list of policies', async () => {
  expect((await harness.call('GET', 'sys/health')).body.damaged_records).toEqual({ policies: 1 });
  const listed = await harness.call('LIST', 'sys/policies/acl', { token: root });
  expect(listed.body.warnings).toEqual([
    'the policy "lost" is damaged and cannot be read: tokens with it may do nothing until it is written again',
  ]);
  expect((await harness.call('GET', 'sys/policies/acl/lost', { token: root })).status).toBe(500);
});

test('writing it again repairs it, for tokens that were made before, too', async () => {
  const created = await harness.call('POST', 'auth/token/create', {
    token: root,
    body: { policies: ['lost'] },
  });
  expect([created.status, created.body.warnings]).toEqual([200, null]);
  const written = await harness.call('PUT', 'sys/policies/acl/lost', {
    token: root,
    body: { policy: READ },
  });
  expect(written.status).toBe(204);
  expect(await statusOf('sys/mounts', touched)).toBe(200);
  expect((await harness.call('GET', 'sys/health')).body).not.toHaveProperty('damaged_records');
});
