/** A data folder on a small disk that is full: what is refused, what goes on, and what shows it. */
import { mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  bundledProcess,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { callsOf } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { blocksOf, openRunbookShell } from '../runbook-shell.ts';

const MAIN = await bundledProcess('services/standalone/src/main.ts');

const MIB = 1024 * 1024;

let base: TemporaryDirectory;
let keelson: KeelsonProcess;
beforeAll(async () => {
  base = await temporaryDirectory();
  const dataFolder = join(base.path, 'data');
  mkdirSync(dataFolder);
  keelson = await startKeelson({
    dataFolder,
    diskBytes: 32 * MIB,
    env: { KEELSON_LOG_FILE: '-' },
  });
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

const FULL = expect.stringContaining('the disk of the store is full');
const readiness = async () => {
  const answer = await fetch(`${keelson.http}/readyz`);
  const { impaired } = (await answer.json()) as { readonly impaired?: unknown };
  return { status: answer.status, impaired };
};
const metric = async (name: string): Promise<number> => {
  const text = await (await fetch(`${keelson.http}/metrics`)).text();
  const line = text.split('\n').find((one) => one.startsWith(name));
  return Number(line?.split(' ').at(-1));
};
/** Lines of the log with this text. */
const logged = (text: string): number =>
  keelson
    .output()
    .split('\n')
    .filter((line) => line.includes(`"msg":"${text}`)).length;

test('a full disk is told once by the log, and by readiness, health and metrics until a write succeeds', async () => {
  const before = logged('the disk of the store is full');
  expect(await readiness()).toEqual({ status: 200, impaired: undefined });
  expect((await v1('GET', 'sys/health')).body).not.toHaveProperty('store_faults');
  expect(await metric('keelson_store_fault{service="sys",kind="full"}')).toBe(0);
  fillUpTo(0);
  for (let tries = 0; tries < 3; tries += 1)
    expect((await writePolicy('refused', 'x'.repeat(60_000))).status).toBe(507);
  expect(await readiness()).toEqual({
    status: 200,
    impaired: expect.objectContaining({ sys: [FULL] }),
  });
  expect((await v1('GET', 'sys/health')).body).toMatchObject({ store_faults: [FULL] });
  expect(await metric('keelson_store_fault{service="sys",kind="full"}')).toBe(1);
  expect(await metric('keelson_disk_free_bytes{purpose="data"}')).toBe(0);
  expect(await metric('keelson_disk_size_bytes{purpose="data"}')).toBe(32 * MIB);
  expect(await metric('keelson_store_log_bytes{service="sys"}')).toBeGreaterThan(0);
  await expect.poll(() => logged('the disk of the store is full')).toBe(before + 1);
  await using shell = openRunbookShell();
  await shell.set({ ADDRESS: keelson.http, DATA: at('.') });
  const [look = '', wait = '', ...more] = blocksOf('disk-full');
  expect(more).toEqual([]);
  expect(await shell.paste(look)).toMatch(/disk of the store is full.*fill/s);
  makeRoom();
  expect(await shell.paste(wait)).toContain('"status":"ready"');
  expect((await writePolicy('taken', 'x'.repeat(60_000))).status).toBe(204);
  expect((await readiness()).status).toBe(200);
  expect((await v1('GET', 'sys/health')).body).not.toHaveProperty('store_faults');
  expect(await metric('keelson_store_fault{service="sys",kind="full"}')).toBe(0);
  await expect.poll(() => logged('over: the disk of the store is full')).toBe(before + 1);
  expect(logged('the disk of the store is full')).toBe(before + 1);
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

test('a start on a full disk says so, and does not repeat it', async () => {
  await using folder = await temporaryDirectory();
  const dataFolder = join(folder.path, 'data');
  mkdirSync(dataFolder);
  const fifo = join(folder.path, 'greeting');
  // The disk lives as long as the first process, which therefore becomes the second one.
  const script = `mkfifo ${fifo}
    "$0" "$1" > ${fifo} 2>&1 & pid=$!
    while read -r line; do case "$line" in *Ctrl-C*) break;; esac; done < ${fifo}
    kill -9 $pid; wait $pid
    cat /dev/zero > ${dataFolder}/fill
    exec "$0" "$1"`;
  const started = await startKeelson({
    dataFolder,
    diskBytes: 32 * MIB,
    command: ['bash', '-c', script, process.execPath, MAIN],
    env: { KEELSON_LOG_FILE: '-' },
  });
  try {
    expect(started.output()).toContain('Keelson has started, but:');
    expect(started.output()).not.toContain('Keelson is up');
    const answer = await fetch(`${started.http}/readyz`);
    expect(await answer.json()).toMatchObject({
      status: 'not ready',
      // Its state in replication cannot be written.
      reasons: { sys: expect.stringContaining('replication') },
      impaired: {
        sys: expect.arrayContaining([FULL]),
        pki: expect.arrayContaining([FULL]),
        workspace: expect.arrayContaining([FULL]),
      },
    });
    // Each request tries again what could not be written at the start.
    for (let requests = 0; requests < 5; requests += 1)
      await fetch(`${started.http}/v1/sys/mounts`);
    const told = started
      .output()
      .split('\n')
      .filter((line) => /"level":"(?:warn|error)"/.test(line))
      .map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>)
      .map((line) => [line['service'], line['worker'], line['msg']].join(' '));
    expect(told.filter((line, at) => told.indexOf(line) !== at)).toEqual([]);
  } finally {
    await started.stop('SIGKILL');
  }
});
