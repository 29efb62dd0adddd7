/** Background work in the running service: done by whichever replica holds its lease. */
import { InProcessLeaseStore } from '@keelson/locks';
import { expect, test } from 'vitest';
import { uploadsTo } from './state-uploads.ts';
import { startHarness } from './workspace-harness.ts';

test('background work begins when another holder releases its lease, and takes over the lease in the store', async () => {
  const leases = new InProcessLeaseStore();
  const name = 'workspace/state-removal';
  const held = await leases.tryAcquire(name, { ttlMs: 60_000 });
  await using harness = await startHarness({ leases });
  await harness.create('/organizations', 'organizations', { name: 'acme', email: 'a@b.example' });
  const { id } = await harness.create('/organizations/acme/workspaces', 'workspaces', {
    name: 'app',
  });
  const states = uploadsTo(harness, id);
  await states.lock();
  const path = `shared/state-versions/${(await states.upload(1)).id}`;
  expect((await harness.call('DELETE', `/workspaces/${id}`)).status).toBe(204);
  expect(await harness.store.read(path)).toBeDefined();
  const removal = new AbortController();
  const entries = harness.store.wal.follow(await harness.store.wal.headSequence(), removal.signal);
  await held?.release();
  for await (const { operations } of entries)
    if (operations.some((operation) => operation.path === path)) removal.abort();
  expect(await harness.store.read(path)).toBeUndefined();
  // From the takeover on, a former holder commits nothing.
  expect(await harness.store.read(`node/fences/${name}`)).toBeDefined();
  await leases.close();
});
