/** Performance replication under its paths from before there were two kinds. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeAll(async () => {
  harness = await openInitializedSys({ transport: inProcessTransport() });
});
afterAll(() => harness.close());

test('a set is created, joined and disabled, and its secondaries filtered', async () => {
  const post = (path: string, body: object = {}) =>
    harness.asRoot('POST', `sys/replication/${path}`, { body });
  expect((await post('primary/enable')).status).toBe(200);
  const status = await harness.call('GET', 'sys/replication/performance/status');
  expect(status.body.data.mode).toBe('primary');
  const issued = await post('primary/secondary-token', { id: 'branch' });
  expect(issued.body.wrap_info.creation_path).toBe(
    'sys/replication/performance/primary/secondary-token',
  );
  const filter = 'performance/primary/mount-filter/branch';
  await post(filter, { mode: 'deny', paths: ['x/'] });
  const read = await harness.asRoot('GET', `sys/replication/${filter}`);
  expect(read.body.data).toEqual({ mode: 'deny', paths: ['x/'] });
  expect((await harness.asRoot('DELETE', `sys/replication/${filter}`)).status).toBe(204);
  expect((await post('primary/revoke-secondary', { id: 'branch' })).status).toBe(204);
  expect((await post('secondary/disable')).status).toBe(400);
  expect((await post('secondary/generate-public-key')).status).toBe(200);
  expect((await post('primary/disable')).status).toBe(200);
  const after = await harness.call('GET', 'sys/replication/performance/status');
  expect(after.body.data).toEqual({ mode: 'disabled' });
});

test('are described as former paths', async () => {
  const { pathsJson } = await harness.sys.edge.describe();
  const paths = JSON.parse(pathsJson) as Record<string, { post?: { deprecated?: boolean } }>;
  expect(paths['/sys/replication/primary/enable']?.post?.deprecated).toBe(true);
  expect(paths['/sys/replication/performance/primary/enable']?.post?.deprecated).toBeUndefined();
});
