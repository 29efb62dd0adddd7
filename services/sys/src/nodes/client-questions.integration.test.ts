/** Endpoints that shipped clients read to find out where they are. */
import { cpus, hostname } from 'node:os';
import { VERSION } from '@keelson/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';
import { createVersionHistory } from './version-history.ts';

let harness: SysHarness;
beforeAll(async () => {
  harness = await openInitializedSys();
});
afterAll(() => harness.close());

const read = async (path: string) => (await harness.asRoot('GET', path)).body;

test('the history of versions has those that ran, in their order', async () => {
  expect((await harness.asRoot('LIST', 'sys/version-history')).status).toBe(404);
  const installedAt = new Date(harness.clock.nowMs()).toISOString();
  await harness.settle('version-history');
  harness.clock.advance(60_000);
  const { store, clock } = harness;
  await createVersionHistory({ store, clock, version: '99.0.0' }).recording.round({});
  // A restart of a version that is known changes nothing.
  await harness.settle('version-history');
  const { data } = (await harness.asRoot('LIST', 'sys/version-history')).body;
  expect(data.keys).toEqual([VERSION, '99.0.0']);
  expect(data.key_info).toMatchObject({
    [VERSION]: { previous_version: null, timestamp_installed: installedAt },
    '99.0.0': { previous_version: VERSION },
  });
});

test('the machine is that of the process', async () => {
  const { host, cpu, cpu_times: times, memory } = (await read('sys/host-info')).data;
  expect(host).toMatchObject({ hostname: hostname(), os: process.platform });
  expect([cpu.length, times.length]).toEqual([cpus().length, cpus().length]);
  expect(memory.used + memory.free).toBe(memory.total);
  expect((await harness.call('GET', 'sys/host-info')).status).toBe(403);
});

test('the catalog has the engines that can be mounted', async () => {
  const { data } = await read('sys/plugins/catalog');
  expect(data).toMatchObject({ auth: ['token'], database: [], secret: ['sample'] });
  expect(data.detailed).toContainEqual({
    builtin: true,
    deprecation_status: 'supported',
    name: 'sample',
    type: 'secret',
    version: `v${VERSION}+builtin`,
  });
  const list = async (type: string) => harness.asRoot('LIST', `sys/plugins/catalog/${type}`);
  expect((await list('secret')).body.data.keys).toEqual(['sample']);
  expect((await list('database')).status).toBe(404);
  expect((await list('other')).body.errors).toEqual([
    'type must be one of auth, database, secret, not "other"',
  ]);
  expect((await read('sys/plugins/catalog/secret/sample')).data).toMatchObject({ builtin: true });
  expect((await harness.asRoot('GET', 'sys/plugins/catalog/secret/kv')).status).toBe(404);
});

test('there are no feature flags, and nobody needs a token to know', async () => {
  const answer = await harness.call('GET', 'sys/internal/ui/feature-flags');
  expect(answer).toEqual({ status: 200, body: { feature_flags: [] } });
});
