import { type NatsServer, startFaultProxy, startNats } from '@keelson/testkit';
import { startNatsCluster } from '@keelson/testkit/high-availability';
import { expect, test } from 'vitest';
import { takeMessages } from './bus.contract.ts';
import { JetStreamBus } from './jetstream-bus.ts';
import type { BusStatus } from './message-bus.ts';

const STREAM = 'wal.cluster-1.sys';
const PER_ROUND = 50;
const never = new AbortController().signal;
const bytes = (text: string): Uint8Array => Buffer.from(text);

const openBus = (servers: string | readonly string[], replicas = 1) => {
  const bus = new JetStreamBus({ servers, replicas });
  return Object.assign(bus, { [Symbol.asyncDispose]: () => bus.close() });
};

const reached = async (bus: JetStreamBus, status: BusStatus): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const forget = bus.onStatus((current) => current === status && resolve());
  if (bus.status() !== status) await promise;
  forget();
};

/** Publishes as the log publisher does: repeats a message until it is acknowledged. */
const publishUntilStored = async (bus: JetStreamBus, messageId: string): Promise<number> => {
  for (;;)
    try {
      await reached(bus, 'connected');
      return await bus.publish(STREAM, bytes(messageId), { messageId });
    } catch {
      // The server was stopping or starting; the message id prevents a second copy.
    }
};

test('without NATS calls fail clearly, and succeed once it is back', async () => {
  await using nats = await startNats({ jetstream: true });
  await nats.process.stop();
  await using bus = openBus(nats.url);
  const unavailable = expect.objectContaining({ code: 'bus.unavailable' });
  await expect(bus.ensureStream({ stream: STREAM })).rejects.toEqual(unavailable);
  await expect(bus.publish(STREAM, bytes('a'), { messageId: 'a' })).rejects.toEqual(unavailable);
  await expect(bus.request('echo', bytes('a'), { timeoutMs: 50 })).rejects.toEqual(unavailable);
  expect(bus.status()).toBe('reconnecting');
  const serving = bus.respond('echo', async (payload) => payload, never);
  await nats.process.start();
  await serving;
  expect(bus.status()).toBe('connected');
  expect(await bus.request('echo', bytes('a'), { timeoutMs: 5000 })).toEqual(bytes('a'));
});

test('a server that hangs counts as unreachable, until it goes on', async () => {
  await using nats = await startNats({ jetstream: true });
  await using bus = openBus(nats.url);
  await reached(bus, 'connected');
  nats.process.pause();
  await reached(bus, 'reconnecting');
  expect(bus.failure()).toBe('there is no connection to NATS');
  nats.process.resume();
  await reached(bus, 'connected');
  expect(bus.failure()).toBeUndefined();
});

/** A cluster that has just started has no leader yet. */
const ensureUntilStored = async (bus: JetStreamBus): Promise<void> => {
  for (;;)
    try {
      return await bus.ensureStream({ stream: STREAM });
    } catch {
      await reached(bus, 'connected');
    }
};

/**
 * Publishes `PER_ROUND` messages while each server is killed and started again, and as many afterwards.
 * @returns id and position of each message that a consumer gets
 */
const consumeThroughKills = async (
  bus: JetStreamBus,
  servers: readonly NatsServer[],
): Promise<readonly (readonly [string, number])[]> => {
  const rounds = servers.length;
  const taken = takeMessages(bus, STREAM, 0, (rounds + 1) * PER_ROUND);
  for (let round = 0; round <= rounds; round++) {
    const from = round * PER_ROUND;
    const publishing = (async () => {
      for (let index = from; index < from + PER_ROUND; index++)
        await publishUntilStored(bus, String(index));
    })();
    await servers[round]?.process.kill();
    await servers[round]?.process.start();
    await publishing;
  }
  return (await taken).map(({ messageId, streamSequence }) => [messageId, streamSequence]);
};

const gapless = (rounds: number) =>
  Array.from({ length: rounds * PER_ROUND }, (_, at) => [String(at), at + 1]);

test('a consumer misses nothing and sees nothing twice while NATS is killed and restarted', async () => {
  await using nats = await startNats({ jetstream: true });
  await using bus = openBus(nats.url);
  await reached(bus, 'connected');
  await bus.ensureStream({ stream: STREAM });
  expect(await consumeThroughKills(bus, [nats, nats, nats])).toEqual(gapless(4));
});

test('nor while one server of a cluster, which keeps three copies, is killed and restarted', async () => {
  await using nats = await startNatsCluster();
  await using bus = openBus(nats.url.split(','), 3);
  await reached(bus, 'connected');
  await ensureUntilStored(bus);
  expect(await consumeThroughKills(bus, nats.servers.slice(0, 1))).toEqual(gapless(2));
});

test('a request in progress fails at once when the connection is lost', async () => {
  await using nats = await startNats({ jetstream: true });
  await using bus = openBus(nats.url);
  const asked = Promise.withResolvers<void>();
  const silent = (): Promise<Uint8Array> => {
    asked.resolve();
    return new Promise(() => undefined);
  };
  await bus.respond('silent', silent, never);
  const request = bus.request('silent', bytes(''), { timeoutMs: 600_000 });
  const outcome = request.catch((error: unknown) => error);
  await asked.promise;
  await nats.process.kill();
  expect(await outcome).toMatchObject({ code: 'bus.unavailable' });
});

test('a subject is served again after a restart', async () => {
  await using nats = await startNats({ jetstream: true });
  await using bus = openBus(nats.url);
  await bus.respond('echo', async (payload) => payload, never);
  const lost = reached(bus, 'reconnecting');
  await nats.process.kill();
  await lost;
  await nats.process.start();
  await reached(bus, 'connected');
  expect(await bus.request('echo', bytes('a'), { timeoutMs: 5000 })).toEqual(bytes('a'));
});

test('a consumer continues after the network was cut', async () => {
  await using nats = await startNats({ jetstream: true });
  await using proxy = await startFaultProxy(nats.port);
  await using behindFault = openBus(`nats://127.0.0.1:${proxy.port}`);
  await using publisher = openBus(nats.url);
  await publisher.ensureStream({ stream: STREAM });
  const taken = takeMessages(behindFault, STREAM, 0, 3);
  await publishUntilStored(publisher, '0');
  await takeMessages(behindFault, STREAM, 0, 1);
  proxy.cut();
  await publishUntilStored(publisher, '1');
  await publishUntilStored(publisher, '2');
  proxy.pass();
  expect((await taken).map(({ messageId }) => messageId)).toEqual(['0', '1', '2']);
});

test('a consumer fails when the server restarts without messages that were consumed', async () => {
  await using kept = await startNats({ jetstream: true });
  await using fresh = await startNats({ jetstream: true });
  await using bus = openBus(kept.url);
  await using other = openBus(fresh.url);
  await bus.ensureStream({ stream: STREAM });
  await other.ensureStream({ stream: STREAM });
  await publishUntilStored(bus, '0');
  await publishUntilStored(bus, '1');
  const [, last] = await takeMessages(bus, STREAM, 0, 2);
  await publishUntilStored(other, '0');
  await expect(takeMessages(other, STREAM, last?.streamSequence ?? 0, 1)).rejects.toMatchObject({
    code: 'bus.position_ahead',
  });
});
