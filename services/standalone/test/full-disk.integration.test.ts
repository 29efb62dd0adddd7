/** A data folder on a small disk that is full: what is refused, what goes on, and what shows it. */
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { callsOf } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

const MIB = 1024 * 1024;

let base: TemporaryDirectory;
let keelson: KeelsonProcess;
beforeAll(async () => {
  base = await temporaryDirectory();
  const dataFolder = join(base.path, 'data');
  mkdirSync(dataFolder);
  keelson = await startKeelson({ dataFolder, diskBytes: 32 * MIB });
});
afterAll(async () => {
  await keelson.stop();
  await base[Symbol.asyncDispose]();
});

const at = (name: string): string => join(keelson.root, keelson.dataFolder, name);
const v1 = (method: string, path: string, body?: unknown) =>
  callsOf(
    () => keelson.http,
    () => keelson.rootToken,
    keelson.apiToken,
  ).v1(method, path, body);
const freeBytes = (): number => {
  const { bavail, bsize } = statfsSync(at('.'));
  return bavail * bsize;
};
/** Leaves this much free. */
const fillUpTo = (bytes: number): void =>
  writeFileSync(at('fill'), Buffer.alloc(freeBytes() - bytes));
const makeRoom = (): void => rmSync(at('fill'));
const writePolicy = (name: string, comment = '') =>
  v1('POST', `sys/policies/acl/${name}`, {
    policy: `# ${comment}\npath "a" { capabilities = ["read"] }`,
  });

test('a snapshot that cannot replace all stores replaces none, and is restored once there is room', async () => {
  const authorization = { 'x-service-token': keelson.rootToken };
  const snapshotUrl = `${keelson.http}/v1/sys/storage/raft/snapshot`;
  for (let number = 0; number < 10; number += 1)
    expect((await writePolicy(`long-${number}`, 'x'.repeat(60_000))).status).toBe(204);
  const snapshot = await (await fetch(snapshotUrl, { headers: authorization })).arrayBuffer();
  const restore = () =>
    fetch(snapshotUrl, { method: 'POST', headers: authorization, body: snapshot });
  expect((await writePolicy('since')).status).toBe(204);
  fillUpTo(MIB);
  const refused = await restore();
  expect([refused.status, await refused.json()]).toEqual([
    507,
    { errors: [expect.stringMatching(/needs \d+ bytes of free disk.*Nothing was changed/)] },
  ]);
  expect((await v1('GET', 'sys/policies/acl/since')).status).toBe(200);
  expect((await v1('GET', 'sys/mounts')).status).toBe(200);
  makeRoom();
  expect((await restore()).status).toBe(204);
  expect((await v1('GET', 'sys/policies/acl/since')).status).toBe(404);
});
