/** Heartbeats that are out of order, by the clocks of both sides. */
import { join } from 'node:path';
import { createBarrier, openSqliteStore, type Store } from '@keelson/storage';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { SecondaryHeartbeats } from './secondary-heartbeats.ts';

const NOW_MS = Date.UTC(2030, 0, 1);
const MINUTE_MS = 60_000;

let directory: TemporaryDirectory;
let store: Store;
let heartbeats: SecondaryHeartbeats;
beforeEach(async () => {
  directory = await temporaryDirectory();
  const barrier = createBarrier();
  barrier.initialize(new Uint8Array(32).fill(1));
  store = await openSqliteStore({ file: join(directory.path, 'store.db'), barrier });
  heartbeats = new SecondaryHeartbeats(store, 'dr', 'sys');
});
afterEach(async () => {
  await store.close();
  await directory[Symbol.asyncDispose]();
});

/** @returns the clock of the primary at the heartbeat that counts */
const receive = async (primaryMs: number, secondaryMs: number): Promise<number | undefined> => {
  const facts = {
    id: 'spare',
    localClusterId: '',
    lastRemoteWal: 0,
    apiAddress: '',
    clusterAddress: '',
    clockSkewMs: 0,
    lastHeartbeatAtMs: primaryMs,
    roundTripMs: 0,
    bytesReceived: 0,
    resync: { records: 0, bytes: 0 },
    canaryAgeMs: undefined,
  };
  await heartbeats.note(facts, secondaryMs);
  return (await heartbeats.all(async () => true))[0]?.lastHeartbeatAtMs;
};

test('one that was sent before the newest is ignored until that is a minute old', async () => {
  expect(await receive(NOW_MS, NOW_MS)).toBe(NOW_MS);
  expect(await receive(NOW_MS + 1000, NOW_MS - 1)).toBe(NOW_MS);
  const laterMs = NOW_MS + MINUTE_MS + 1;
  expect(await receive(laterMs, NOW_MS - 1)).toBe(laterMs);
});

test('is accepted at once when the clocks of both sides were set back', async () => {
  await receive(NOW_MS, NOW_MS);
  const backMs = NOW_MS - 10 * MINUTE_MS;
  expect(await receive(backMs, backMs)).toBe(backMs);
});
