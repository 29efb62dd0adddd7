import type { MerkleTree } from '@keelson/storage';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const HOUR_MS = 3_600_000;
const DIFFERENT = expect.stringContaining('records differ from the Merkle trees');

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys({ config: { corruptionCheckHours: 2 } });
});
afterEach(() => harness.close());

/** Makes the tree differ from the records, as lost or changed records do; a second call undoes it. */
const damage = async (): Promise<void> => {
  const { replicated } = await harness.store.merkle.current();
  (replicated as MerkleTree).replace(258, undefined, new Uint8Array(20).fill(1));
};
const after = async (ms: number): Promise<readonly string[]> => {
  harness.clock.advance(ms);
  await harness.settle('corruption-check');
  return harness.sys.edge.check();
};

test('records are compared with the trees an hour after the start and then at intervals', async () => {
  await damage();
  expect(await after(HOUR_MS - 1)).toEqual([]);
  expect(await after(1)).toEqual([DIFFERENT]);
  // The leaf is combined by exclusive or.
  await damage();
  expect(await after(2 * HOUR_MS - 1)).toEqual([DIFFERENT]);
});

test('a comparison that finds nothing does not end what a complete check has found', async () => {
  await damage();
  expect(await after(HOUR_MS)).toEqual([DIFFERENT]);
  await damage();
  expect(await after(2 * HOUR_MS)).toEqual([DIFFERENT]);
  expect((await harness.asRoot('POST', 'sys/replication/reindex', { body: {} })).status).toBe(200);
});

test('nothing is compared when it is turned off', async () => {
  await harness.close();
  harness = await openInitializedSys({ config: { corruptionCheckHours: 0 } });
  expect(Object.keys(harness.sys.periodicWork)).not.toContain('corruption-check');
});
