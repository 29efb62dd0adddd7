/** Lost messages, slow links and killed processes delay replication without losing records. */
import type { Bus } from '@keelson/bus';
import { InProcessLeaseStore } from '@keelson/locks';
import { takeFence } from '@keelson/storage';
import { startFaultProxy, startNats } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';
import { streamOf, WalPublisher } from '../src/replication.ts';
import { parsePartHead, toParts } from '../src/wire/stream-message.ts';
import {
  findDeviations,
  put,
  SERVICE,
  startPrimary,
  startSecondary,
  type TestPrimary,
  type TestSecondary,
  unreported,
} from './cluster.ts';
import { putMany } from './cluster-writes.ts';

/** States a secondary goes through from now on. */
const watchStates = ({ secondary }: TestSecondary): Set<string> => {
  const states = new Set<string>();
  secondary.onChange(() => states.add(secondary.status().state));
  return states;
};

/** A separate lease store simulates a holder that slept through the loss of its lease. */
const publishBeside = (
  { store, membership, kind }: TestPrimary,
  bus: Bus,
  signal: AbortSignal,
): Promise<void> =>
  new WalPublisher({
    store,
    bus,
    leases: new InProcessLeaseStore(),
    membership,
    kind,
    service: SERVICE,
    faults: unreported(),
    version: '1.2.0',
    retryDelayMs: 1,
  }).run(signal);

/** Each entry is in the stream once. */
const expectOnce = async (bus: Bus, stream: string): Promise<void> => {
  const { lastSequence } = await bus.tail(stream);
  let published: number | undefined;
  for await (const message of bus.consume(stream, 0, new AbortController().signal)) {
    const { first, last } = parsePartHead(message.headers);
    expect(first).toBe((published ?? first - 1) + 1);
    published = last;
    if (message.streamSequence === lastSequence) break;
  }
};

describe('a publisher', () => {
  test('that ended between commit and publish continues with the unpublished entries', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    let publishing = primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    const states = watchStates(secondary);
    for (let round = 0; round < 5; round += 1) {
      const writing = putMany(primary, 300, `round-${round}`);
      await publishing.stop();
      await writing;
      publishing = primary.publish();
    }
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect([...states]).toEqual(['stream-wals']);
  });

  test('that was killed amid a batch of several messages sends the batch again', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    const publishing = primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    await publishing.stop();
    const states = watchStates(secondary);
    const stream = streamOf(primary.clusterId, SERVICE);
    const { logId } = await primary.membership.identity();
    const key = await primary.membership.currentEpoch();
    const first = secondary.secondary.status().lastRemoteWal + 1;
    const [part] = toParts(
      stream,
      { logId, epoch: key.epoch, first, last: first },
      key,
      Buffer.alloc(2_000_000),
    );
    const { headers = {}, payload = Buffer.alloc(0) } = part ?? {};
    await primary.bus.publish(stream, payload, { messageId: 'interrupted', headers });
    await putMany(primary, 50, 'a');
    primary.publish();
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect([...states]).toEqual(['stream-wals']);
  });

  test('that has been replaced without knowing it adds nothing to the stream', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    primary.publish();
    const { bus } = primary;
    const stream = streamOf(primary.clusterId, SERVICE);
    const ending = new AbortController();
    const second = publishBeside(primary, bus, ending.signal);
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    const states = watchStates(secondary);
    await putMany(primary, 3000, 'a');
    await secondary.untilCaughtUp(primary);
    ending.abort();
    await second;
    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect([...states]).toEqual(['stream-wals']);
    await expectOnce(bus, stream);
  });

  test('that was paused while another published the same entry starts again', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    const { store, bus } = primary;
    const stream = streamOf(primary.clusterId, SERVICE);
    const begun = Promise.withResolvers<void>();
    const asleep = Promise.withResolvers<void>();
    const awake = Promise.withResolvers<void>();
    const refused = Promise.withResolvers<unknown>();
    const publish: Bus['publish'] = async (...given) => {
      asleep.resolve();
      await awake.promise;
      return bus.publish(...given).catch((error: unknown) => {
        refused.resolve(error);
        throw error;
      });
    };
    const tail: Bus['tail'] = async (...given) => {
      const end = await bus.tail(...given);
      begun.resolve();
      return end;
    };
    const sleepy = new Proxy(bus, {
      get: (target, name: keyof Bus) =>
        name === 'publish' ? publish : name === 'tail' ? tail : target[name].bind(target),
    });
    const ending = new AbortController();
    const second = publishBeside(primary, sleepy, ending.signal);
    await begun.promise;
    await put(store, { 'shared/secret/a': 'a' });
    await asleep.promise;
    // The batch that the sleeping publisher is about to send begins with this entry, too.
    await secondary.untilCaughtUp(primary);
    awake.resolve();
    expect(await refused.promise).toMatchObject({ code: 'bus.stream_moved' });
    await putMany(primary, 20, 'b');
    await secondary.untilCaughtUp(primary);
    ending.abort();
    await second;
    await expectOnce(bus, stream);
  });
});

describe('a secondary', () => {
  test('that is stopped at any moment continues from its position without a comparison', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    const states = watchStates(secondary);
    for (let round = 0; round < 5; round += 1) {
      const { lastRemoteWal } = secondary.secondary.status();
      const writing = putMany(primary, 600, `round-${round}`);
      await secondary.until((status) => status.lastRemoteWal > lastRemoteWal);
      await secondary.restart();
      await writing;
    }
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect([...states].sort()).toEqual(['shutdown', 'stream-wals']);
  });

  test('whose lease was taken over in the store acquires it again and continues', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    await takeFence(secondary.store, `wal-applier.${primary.clusterId}.${SERVICE}`);
    await putMany(primary, 10, 'after');
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
    expect(secondary.failures).toMatchObject([{ code: 'storage.fenced' }]);
  });

  test('that is stopped amid its first copy compares again and finishes it', async () => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    await putMany(primary, 5000, 'a'.repeat(200));
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.until(({ copiedRecordCount }) => copiedRecordCount > 0);
    await secondary.restart();
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
  });
});

describe('NATS', () => {
  test.for(['kill', 'stop'] as const)('may %s and restart during writes', async (how) => {
    await using nats = await startNats({ jetstream: true });
    await using primary = await startPrimary(nats.url);
    primary.publish();
    await using secondary = await startSecondary(nats.url, primary);
    await secondary.untilCaughtUp(primary);
    for (let round = 0; round < 3; round += 1) {
      const writing = putMany(primary, 500, `round-${round}`);
      await nats.process[how]();
      await put(primary.store, { [`shared/while-down/${round}`]: 'accepted' });
      await nats.process.start();
      await writing;
    }
    await secondary.untilCaughtUp(primary);
    expect(await findDeviations(primary, secondary)).toEqual([]);
  });
});

describe('a partition', () => {
  test('is recovered from the stream', async () => {
    await using nats = await startNats({ jetstream: true });
    await using proxy = await startFaultProxy(nats.port);
    await using primary = await startPrimary(nats.url);
    primary.publish();
    await using near = await startSecondary(nats.url, primary, 'near');
    await using far = await startSecondary(`nats://127.0.0.1:${proxy.port}`, primary, 'far');
    await far.untilCaughtUp(primary);
    const states = watchStates(far);
    for (const fault of ['stall', 'cut'] as const) {
      proxy[fault]();
      await putMany(primary, 1000, fault);
      await near.untilCaughtUp(primary);
      proxy.pass();
      await far.untilCaughtUp(primary);
      expect(await findDeviations(primary, far)).toEqual([]);
    }
    expect([...states]).toEqual(['stream-wals']);
  });

  test('longer than the stream reaches is recovered by comparing Merkle trees', async () => {
    await using nats = await startNats({ jetstream: true });
    await using proxy = await startFaultProxy(nats.port);
    await using primary = await startPrimary(nats.url);
    await putMany(primary, 1000, 'before');
    primary.publish({ maxBytes: 64 * 1024 });
    await using near = await startSecondary(nats.url, primary, 'near');
    await using far = await startSecondary(`nats://127.0.0.1:${proxy.port}`, primary, 'far');
    await far.untilCaughtUp(primary);
    const states = watchStates(far);
    proxy.cut();
    // Each round is in the stream before the next begins, so that the messages of the first are dropped.
    for (let round = 0; round < 10; round += 1) {
      await putMany(primary, 200, `round-${round}`);
      await near.untilCaughtUp(primary);
    }
    proxy.pass();
    await far.untilCaughtUp(primary);
    for (const secondary of [near, far])
      expect(await findDeviations(primary, secondary)).toEqual([]);
    expect(states).toContain('merkle-diff');
  });
});
