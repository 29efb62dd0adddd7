/** A primary and its secondaries over real stores and a real NATS server. */
import { rotateBarrier } from '@keelson/storage';
import { startNats } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';
import { runCanary } from '../src/replication.ts';
import { findDeviations, put, startPrimary, startSecondary } from './cluster.ts';
import { putMany } from './cluster-writes.ts';

const MEGABYTE = 1024 * 1024;

describe('activation', () => {
  test('copies 10,000 records and then streams what is written', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    await putMany(primary, 10_000, 'before');
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    const writing = putMany(primary, 1000, 'meanwhile');
    await secondary.until(({ state }) => state === 'stream-wals');
    await writing;
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect(secondary.secondary.status()).toMatchObject({
      mode: 'secondary',
      connectionState: 'ready',
    });
  });

  test('carries records larger than a message, in the copy and in the stream', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    await put(primary.store, { 'shared/large': 'a'.repeat(3 * MEGABYTE), 'shared/small': 'b' });
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    await put(primary.store, { 'shared/large': 'c'.repeat(4 * MEGABYTE), 'shared/other': 'd' });
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
  });
});

describe('a stream', () => {
  test('carries whole commits, including deletions, to two secondaries', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    primary.publish();
    await using first = await startSecondary(nats.url, primary, 'first');
    await using second = await startSecondary(nats.url, primary, 'second');
    await first.untilCaughtUp(primary);
    await putMany(primary, 200, 'a');
    await primary.store.transact((tx) => {
      tx.delete('shared/a/1');
      tx.write('shared/a/2', Buffer.from('changed'));
    });
    for (const secondary of [first, second]) {
      await secondary.untilCaughtUp(primary);
      expect(await findDeviations(primary, secondary)).toEqual([]);
      expect(await secondary.store.read('shared/a/1')).toBeUndefined();
    }
  });

  test.for([
    { kind: 'performance', hasLocal: false },
    { kind: 'dr', hasLocal: true },
  ] as const)(
    'of $kind replication carries local records: $hasLocal',
    async ({ kind, hasLocal }) => {
      await using nats = await startNats({ jetstream: true });
      await using primary = await startPrimary(nats.url, kind);
      await put(primary.store, { 'local/before': '1', 'shared/before': '1' });
      primary.publish();
      await using secondary = await startSecondary(nats.url, primary);
      await secondary.untilCaughtUp(primary);
      await put(primary.store, { 'local/after': '1', 'shared/after': '1', 'node/own': '1' });
      await secondary.untilCaughtUp(primary);
      expect(await findDeviations(primary, secondary)).toEqual([]);
      for (const path of ['local/before', 'local/after'])
        expect((await secondary.store.read(path)) !== undefined).toBe(hasLocal);
      expect(await secondary.store.read('node/own')).toBeUndefined();
    },
  );

  test('brings the key with the first record that is sealed under it', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    await rotateBarrier(primary.store, primary.barrier, 3);
    await put(primary.store, { 'shared/a': 'under the new key' });
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect(secondary.barrier.term).toBe(3);
  });

  test('shows its age on both sides', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    primary.publish();
    const ending = new AbortController();
    const canaries = runCanary(primary.store, ending.signal, { intervalMs: 20 });
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.until(({ heartbeat }) => heartbeat !== undefined);
    const [start] = await primary.primary.secondaries();
    expect(start).toMatchObject({ id: 'secondary-1', apiAddress: 'https://secondary.example' });
    await secondary.until(({ lastRemoteWal }) => lastRemoteWal > (start?.lastRemoteWal ?? 0) + 3);
    expect(await secondary.secondary.canaryAgeMs()).toBeGreaterThanOrEqual(0);
    expect(secondary.secondary.status().heartbeat).toMatchObject({
      primaryClusterAddresses: ['nats://primary.example:4222'],
    });
    ending.abort();
    await canaries;
  });
});

describe('a Merkle synchronisation', () => {
  test('fetches what differs, and nothing else', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    await putMany(primary, 2000, 'a');
    const publishing = primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    await publishing.stop();
    await putMany(primary, 20, 'b');
    await primary.store.transact((tx) => {
      tx.delete('shared/a/7');
      tx.write('shared/a/8', Buffer.from('changed'));
    });
    // A new log: the next entries in the stream do not continue those already applied.
    await primary.membership.renewLog();
    primary.publish();
    await secondary.until(({ copiedRecordCount }) => copiedRecordCount === 22);
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
  });

  test('removes records that the secondary has and its primary does not have', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url, 'dr');
    await putMany(primary, 100, 'a');
    const publishing = primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    await put(secondary.store, { 'shared/a/1': 'written here', 'local/extra': 'too' });
    expect(await findDeviations(primary, secondary)).not.toEqual([]);
    await publishing.stop();
    await primary.membership.renewLog();
    primary.publish();
    // The two records, and the primary's own record of its new log.
    await secondary.until(({ copiedRecordCount }) => copiedRecordCount === 3);
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
  });
});

describe('the checker of these tests', () => {
  test.for([
    ['a record that is missing', (path: string) => ({ path, stored: undefined })],
    ['a record that is damaged', (path: string) => ({ path, stored: Buffer.alloc(40) })],
    ['a record too many', () => ({ path: 'shared/extra', stored: Buffer.alloc(40) })],
  ] as const)('finds %s', async ([, change]) => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    await putMany(primary, 20, 'a');
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    const operation = change('shared/a/3');
    await secondary.store.applyRecords('test', [operation]);
    expect(await findDeviations(primary, secondary)).toEqual([
      operation.path,
      'root of replicated',
    ]);
  });
});
