/** Whoever can read the stream can decrypt its values, even when the primary is unreachable. */
import { join } from 'node:path';
import { rotateBarrier, type WalEntry } from '@keelson/storage';
import { type NatsServer, startNats, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parsePathsFilter, streamOf } from '../src/replication.ts';
import { toParts } from '../src/wire/stream-message.ts';
import { encodeBatch } from '../src/wire/wal-batch.ts';
import {
  admit,
  findDeviations,
  put,
  resumeSecondary,
  SERVICE,
  startPrimary,
  startSecondary,
  type TestPrimary,
  type TestSecondary,
} from './cluster.ts';
import { putMany } from './cluster-writes.ts';

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats({ jetstream: true });
}, 120_000);
afterAll(async () => {
  await nats[Symbol.asyncDispose]();
});

/** The primary rotates twice under writes, and is lost before anybody could ask it for the new keys. */
const rotateAndVanish = async (primary: TestPrimary): Promise<void> => {
  primary.silence();
  for (const term of [2, 3]) {
    await rotateBarrier(primary.store, primary.barrier, term);
    await putMany(primary, 20, `of-term-${term}`);
  }
  await put(primary.store, { 'shared/late': 'under the newest key', 'local/late': 'as well' });
};

/** Waits until the secondary has applied all that the primary published, or has failed. */
const untilSettled = async (primary: TestPrimary, secondary: TestSecondary): Promise<void> => {
  const head = await primary.store.wal.headSequence();
  await secondary.until(({ state, lastRemoteWal }) => state === 'idle' || lastRemoteWal >= head);
};

test.for(['performance', 'dr'] as const)(
  'a secondary for %s opens records of a key rotated just before the primary was lost',
  { timeout: 120_000 },
  async (kind) => {
    await using primary = await startPrimary(nats.url, kind);
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    await rotateAndVanish(primary);
    await untilSettled(primary, secondary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect(secondary.barrier.term).toBe(3);
    expect(secondary.failures).toEqual([]);
  },
);

test('a secondary with a paths filter does, too', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  const identity = await admit(primary, 'secondary-1');
  await primary.membership.setFilter('secondary-1', parsePathsFilter('deny', ['hidden']));
  await using secondary = await startSecondary(nats.url, primary, identity);
  await secondary.untilCaughtUp(primary);
  await rotateAndVanish(primary);
  await untilSettled(primary, secondary);
  expect(await findDeviations(primary, secondary)).toEqual([]);
}, 120_000);

test('a secondary that was stopped meanwhile does, and keeps the keys over a restart', async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'secondary.db');
  await using primary = await startPrimary(nats.url, 'dr');
  primary.publish();
  await using other = await startSecondary(nats.url, primary, 'other');
  const identity = await admit(primary, 'away');
  {
    await using secondary = await resumeSecondary(nats.url, 'dr', identity, file);
    await secondary.untilCaughtUp(primary);
  }
  await rotateAndVanish(primary);
  await untilSettled(primary, other);
  {
    await using secondary = await resumeSecondary(nats.url, 'dr', identity, file);
    await untilSettled(primary, secondary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
  }
  await using again = await resumeSecondary(nats.url, 'dr', identity, file);
  expect(await findDeviations(primary, again)).toEqual([]);
  expect(again.barrier.term).toBe(3);
}, 120_000);

test('an epoch that started just before the primary was lost opens for the remaining secondaries', async () => {
  await using primary = await startPrimary(nats.url, 'dr');
  primary.publish();
  await using kept = await startSecondary(nats.url, primary, 'kept');
  await using revoked = await startSecondary(nats.url, primary, 'revoked');
  for (const one of [kept, revoked]) await one.untilCaughtUp(primary);
  primary.silence();
  await primary.membership.revoke('revoked');
  await rotateAndVanish(primary);
  await untilSettled(primary, kept);
  expect(await findDeviations(primary, kept)).toEqual([]);
  expect(kept.failures).toEqual([]);
  await revoked.until(({ state }) => state === 'idle');
  expect(revoked.barrier.term).toBe(1);
  expect(await revoked.store.read('shared/late')).toBeUndefined();
  // Its request for forbidden data was refused.
  expect(revoked.failures).not.toEqual([]);
}, 120_000);

test('a revoked secondary gets no new key, although it still receives the stream', async () => {
  await using primary = await startPrimary(nats.url);
  primary.publish();
  await using kept = await startSecondary(nats.url, primary, 'kept');
  await using revoked = await startSecondary(nats.url, primary, 'revoked');
  for (const one of [kept, revoked]) await one.untilCaughtUp(primary);
  await primary.membership.revoke('revoked');
  await rotateBarrier(primary.store, primary.barrier, 2);
  await put(primary.store, { 'shared/secret': 'for the others' });
  await kept.untilCaughtUp(primary);
  expect(await findDeviations(primary, kept)).toEqual([]);
  await revoked.until(({ state }) => state === 'idle');
  expect(revoked.barrier.term).toBe(1);
}, 120_000);

test('a primary of an earlier version, which sends no keys with entries, is asked for them', async () => {
  await using primary = await startPrimary(nats.url);
  const publishing = primary.publish();
  await using secondary = await startSecondary(nats.url, primary);
  await secondary.untilCaughtUp(primary);
  await publishing.stop();
  await rotateBarrier(primary.store, primary.barrier, 2);
  const applied = secondary.secondary.status().lastRemoteWal;
  await put(primary.store, { 'shared/a': 'under the new key' });
  const entries: WalEntry[] = [];
  for await (const entry of primary.store.wal.follow(applied, new AbortController().signal)) {
    entries.push(entry);
    if (entry.operations.some(({ path }) => path === 'shared/a')) break;
  }
  const stream = streamOf(primary.clusterId, SERVICE);
  const { logId } = await primary.membership.identity();
  const key = await primary.membership.currentEpoch();
  const last = applied + entries.length;
  const head = { logId, epoch: key.epoch, first: applied + 1, last };
  for (const part of toParts(stream, head, key, encodeBatch('performance', entries)))
    await primary.bus.publish(stream, part.payload, {
      headers: part.headers,
      messageId: 'of before',
    });
  await secondary.until(({ lastRemoteWal }) => lastRemoteWal >= last);
  expect(await secondary.store.read('shared/a')).toBeDefined();
  expect(secondary.barrier.term).toBe(2);
}, 120_000);
