import { startFaultProxy, startNats } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { takeMessages } from './bus.contract.ts';
import { JetStreamBus } from './jetstream-bus.ts';
import type { BusStatus } from './message-bus.ts';

const STREAM = 'wal.cluster-1.sys';
const never = new AbortController().signal;
const bytes = (text: string): Uint8Array => Buffer.from(text);

const openBus = (url: string) => {
  const bus = new JetStreamBus({ servers: url });
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

test('a consumer misses nothing and sees nothing twice while NATS is killed and restarted', async () => {
  await using nats = await startNats({ jetstream: true });
  await using bus = openBus(nats.url);
  await reached(bus, 'connected');
  await bus.ensureStream({ stream: STREAM });
  const rounds = 3;
  const perRound = 50;
  const taken = takeMessages(bus, STREAM, 0, (rounds + 1) * perRound);
  for (let round = 0; round <= rounds; round++) {
    const from = round * perRound;
    const publishing = (async () => {
      for (let index = from; index < from + perRound; index++)
        await publishUntilStored(bus, String(index));
    })();
    if (round < rounds) {
      await nats.process.kill();
      await nats.process.start();
    }
    await publishing;
  }
  const messages = await taken;
  expect(messages.map(({ messageId }) => messageId)).toEqual(messages.map((_, at) => String(at)));
  expect(messages.map(({ streamSequence }) => streamSequence)).toEqual(
    messages.map((_, at) => at + 1),
  );
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
