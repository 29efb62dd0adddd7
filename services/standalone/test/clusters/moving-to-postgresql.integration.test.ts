/** The page on the way from one process to PostgreSQL, its shell blocks pasted word for word. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  type PostgresServer,
  type RedisServer,
  startKeelson,
  startPostgres,
  startRedis,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { callsOf } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, openRunbookShell } from '../runbook-shell.ts';

let folder: TemporaryDirectory;
let postgres: PostgresServer;
let redis: RedisServer;
let cluster: DistributedCluster;
let single: KeelsonProcess;

beforeAll(async () => {
  folder = await temporaryDirectory();
  [postgres, redis, single] = await Promise.all([
    startPostgres(),
    startRedis(),
    startKeelson({
      dataFolder: join(folder.path, 'data'),
      env: { KEELSON_RATE_LIMIT: 'off' },
    }),
  ]);
  cluster = await startDistributed({ postgres, redisUrl: redis.url, name: 'moved' });
});
afterAll(async () => {
  await Promise.allSettled([cluster?.stop(), single?.stop()]);
  await Promise.allSettled([postgres?.[Symbol.asyncDispose](), redis?.[Symbol.asyncDispose]()]);
  await folder[Symbol.asyncDispose]();
});

test('moves everything with the commands of the page', async () => {
  const old = callsOf(
    () => single.http,
    () => single.rootToken,
    single.apiToken,
  );
  const made = async (path: string, body: object): Promise<void> => {
    const { status } = await old.v1('POST', path, body);
    expect([path, status]).toEqual([path, expect.toSatisfy((code: number) => code < 300)]);
  };
  await made('sys/mounts/pki', { type: 'pki' });
  await made('pki/root/generate/internal', { common_name: 'Example Root', key_type: 'ec' });
  await made('pki/roles/web', { allow_any_name: true, key_type: 'ec', max_ttl: '720h' });
  await made('sys/policies/acl/readers', { policy: 'path "pki/*" { capabilities = ["read"] }' });
  for (const host of ['one', 'two', 'three'])
    await made('pki/issue/web', { common_name: `${host}.example.com` });
  const facts = JSON.parse(readFileSync(join(single.dataFolder, 'first-run.json'), 'utf8')) as {
    readonly unseal_keys: readonly string[];
  };
  await using shell = openRunbookShell();
  await shell.set({
    OLD: single.http,
    ROOT: single.rootToken,
    NEW: cluster.urls[0] ?? '',
    NEW_ROOT: cluster.token,
    SHARES: facts.unseal_keys.slice(0, 3).join(' '),
  });
  await shell.paste(`cd '${folder.path}'; sleep() { command sleep 0.1; }`);
  const [versions, take, restore, compare, rotate, ...more] = blocksOf('../moving-to-postgresql');
  expect(more).toEqual([]);
  const paste = (block = ''): Promise<string> => shell.paste(block);
  expect(new Set((await paste(versions)).split('\n').filter(Boolean)).size).toBe(1);
  expect(await paste(take)).toBe('SHA256SUMS.sealed');
  expect(await paste(restore)).toMatch(/"status":"ready"/);
  expect((await paste(compare)).split('\n')).toEqual(
    ['sys/mounts', 'sys/policies/acl', 'pki/certs', 'pki/issuers', 'pki/roles'].map(
      (path) => `same: ${path}`,
    ),
  );
  expect(await paste(rotate)).toContain('"success":true');

  // The tokens, the seal and the certificates are those of the former server, also after a restart.
  for (const replica of cluster.processes.sys) {
    await replica.kill();
    await replica.start();
  }
  const moved = callsOf(
    () => cluster.urls[0] ?? '',
    () => single.rootToken,
    single.apiToken,
  );
  await shell.paste('until curl -s --fail -o /dev/null "$NEW/readyz"; do sleep 1; done');
  expect((await moved.v1('POST', 'pki/issue/web', { common_name: 'new.example.com' })).status).toBe(
    200,
  );
  expect((await moved.api('GET', 'account/details')).status).toBe(200);
});
