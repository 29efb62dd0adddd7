/** One failed flush: the store closes, every request reports it, and a restart repairs it. */
import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  recordedEnvironment,
  startKeelson,
  temporaryDirectory,
} from '@keelson/testkit';
import { type Answer, callsOf } from '@keelson/testkit/replication-cluster';
import { expect, test } from 'vitest';
import { STORE_SERVICES, type StoreService } from '../../src/first-start.ts';

const get = async (keelson: KeelsonProcess, path: string) => {
  const response = await fetch(keelson.http + path);
  return { status: response.status, text: await response.text() };
};

const callsTo = (keelson: KeelsonProcess) =>
  callsOf(
    () => keelson.http,
    () => keelson.rootToken,
    keelson.apiToken,
  );

const organization = (name: string) => ({
  data: { type: 'organizations', attributes: { name, email: 'a@example.com' } },
});

/** By service: a write of it, and a read of another one. */
const WRITES: Readonly<
  Record<StoreService, (keelson: KeelsonProcess, name: string) => Promise<Answer>>
> = {
  sys: (keelson, name) =>
    callsTo(keelson).v1('POST', `sys/policies/acl/${name}`, {
      policy: 'path "a" { capabilities = ["read"] }',
    }),
  pki: (keelson, name) =>
    callsTo(keelson).v1('POST', `pki/roles/${name}`, { allow_any_name: true, key_type: 'ec' }),
  workspace: (keelson, name) => callsTo(keelson).api('POST', 'organizations', organization(name)),
  auth: (keelson, name) => callsTo(keelson).v1('POST', `auth/approle/role/${name}`, {}),
};

/** Responses of `sys/health` after the store of a service is lost. */
const HEALTH = {
  sys: { errors: [expect.stringContaining('restart Keelson')] },
  pki: expect.objectContaining({ sealed: false, unavailable_services: ['pki'] }),
  workspace: expect.objectContaining({ sealed: false, unavailable_services: ['workspace'] }),
  auth: expect.objectContaining({ sealed: false, unavailable_services: ['auth'] }),
};

test.for(STORE_SERVICES)('the %s store after one failed flush', async (service) => {
  await using folder = await temporaryDirectory();
  const disk = {
    folder: join(realpathSync(folder.path), 'disk'),
    record: join(folder.path, 'record'),
  };
  for (const path of [disk.folder, disk.record]) mkdirSync(path);
  const dataFolder = join(disk.folder, 'data');
  const write = WRITES[service];
  let keelson = await startKeelson({ dataFolder, env: await recordedEnvironment(disk) });
  await callsTo(keelson).v1('POST', 'sys/mounts/pki', { type: 'pki' });
  await callsTo(keelson).v1('POST', 'sys/auth/approle', { type: 'approle' });
  expect((await write(keelson, 'before')).status).toBeLessThan(300);

  const file = join(dataFolder, `${service}.sqlite`);
  writeFileSync(join(disk.record, 'fail'), `${file}-wal`);
  expect((await write(keelson, 'during')).status).toBe(503);
  rmSync(join(disk.record, 'fail'));
  const refused = await write(keelson, 'after');
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    503,
    expect.stringContaining('restart Keelson'),
  ]);

  expect(await get(keelson, '/healthz')).toEqual({
    status: 503,
    text: expect.stringContaining(`the ${service} store`),
  });
  const ready = await get(keelson, '/readyz');
  expect([ready.status, JSON.parse(ready.text)]).toEqual([
    503,
    expect.objectContaining({
      status: 'not ready',
      services: expect.objectContaining({ [service]: false }),
      reasons: { [service]: expect.stringContaining('restart Keelson') },
    }),
  ]);
  const health = await get(keelson, '/v1/sys/health');
  expect([health.status, JSON.parse(health.text)]).toEqual([503, HEALTH[service]]);
  expect((await fetch(`${keelson.http}/v1/sys/health`, { method: 'HEAD' })).status).toBe(503);
  const metrics = (await get(keelson, '/metrics')).text;
  expect(metrics).toContain(`keelson_edge_service_ready{service="${service}"} 0`);
  const told = readFileSync(join(dataFolder, 'keelson.log'), 'utf8')
    .split('\n')
    .filter((line) => line.includes('"level":"fatal"'));
  expect(told.map((line) => JSON.parse(line))).toEqual([
    // SQLITE_IOERR_FSYNC.
    expect.objectContaining({ service, file, err: expect.objectContaining({ errcode: 1034 }) }),
  ]);

  await keelson.stop();
  keelson = await startKeelson({ dataFolder });
  expect((await get(keelson, '/readyz')).status).toBe(200);
  expect((await get(keelson, '/v1/sys/health')).status).toBe(200);
  expect((await get(keelson, '/healthz')).status).toBe(200);
  expect((await write(keelson, 'again')).status).toBeLessThan(300);
  await keelson.stop();
});
