/** A revoked secondary cannot decrypt anything more, even if it still receives the stream. */
import { startNats } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { streamOf } from '../src/replication.ts';
import { openBatch, PartAssembler, type SealedBatch } from '../src/wire/stream-message.ts';
import { findDeviations, put, SERVICE, startPrimary, startSecondary } from './cluster.ts';
import { putMany } from './cluster-writes.ts';

test('a revoked secondary can decrypt nothing more, and the others continue', async () => {
  await using nats = await startNats({ jetstream: true });
  await using primary = await startPrimary(nats.url);
  primary.publish();
  await using kept = await startSecondary(nats.url, primary, 'kept');
  await using revoked = await startSecondary(nats.url, primary, 'revoked');
  await putMany(primary, 50, 'before');
  await kept.untilCaughtUp(primary);
  await revoked.untilCaughtUp(primary);
  const keyItKnows = await primary.membership.currentEpoch();

  await primary.membership.revoke('revoked');
  const lastSequence = await primary.store.wal.headSequence();
  await put(primary.store, { 'shared/secret': 'for the others' });
  await kept.untilCaughtUp(primary);
  await revoked.until(({ connectionState }) => connectionState === 'transient_failure');
  await revoked.until(({ state }) => state === 'idle');

  expect(await findDeviations(primary, kept)).toEqual([]);
  expect(await revoked.store.read('shared/secret')).toBeUndefined();
  expect(revoked.failures.at(-1)).toMatchObject({ code: 'replication.not_admitted' });
  expect(await primary.membership.knownSecondaries()).toEqual(['kept']);
  expect((await primary.primary.secondaries()).map(({ id }) => id)).toEqual(['kept']);

  const stream = streamOf(primary.clusterId, SERVICE);
  const { lastSequence: end } = await primary.bus.tail(stream);
  const assembler = new PartAssembler();
  const after: SealedBatch[] = [];
  for await (const message of primary.bus.consume(stream, 0, new AbortController().signal)) {
    const batch = assembler.add(message);
    if (batch !== undefined && batch.head.last > lastSequence) after.push(batch);
    if (message.streamSequence === end) break;
  }
  expect(after.length).toBeGreaterThan(0);
  for (const batch of after)
    expect(() => openBatch(stream, batch, keyItKnows.key)).toThrow(
      expect.objectContaining({ code: 'replication.undecryptable' }),
    );
});

test('an id is available again only after its revocation, and then for another key', async () => {
  await using nats = await startNats({ jetstream: true });
  await using primary = await startPrimary(nats.url);
  primary.publish();
  await using first = await startSecondary(nats.url, primary, 'one');
  await first.untilCaughtUp(primary);
  await expect(primary.membership.admit('one', 'other')).rejects.toThrow(
    expect.objectContaining({ code: 'replication.id_in_use' }),
  );
  await primary.membership.revoke('one');
  await using second = await startSecondary(nats.url, primary, 'one');
  await second.untilCaughtUp(primary);
  expect(await findDeviations(primary, second)).toEqual([]);
  await first.until(({ state }) => state === 'idle');
  expect(first.failures.at(-1)).toMatchObject({ code: 'replication.undecryptable' });
});
