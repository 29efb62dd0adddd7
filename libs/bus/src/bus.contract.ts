import { KeelsonError } from '@keelson/errors';
import { context, propagation, ROOT_CONTEXT } from '@opentelemetry/api';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Bus, StreamMessage } from './message-bus.ts';

export interface BusUnderTest extends AsyncDisposable {
  readonly bus: Bus;
}

const STREAM = 'wal.cluster-1.pki';
const bytes = (text: string): Uint8Array => Buffer.from(text);
const textOf = (payload: Uint8Array): string => Buffer.from(payload).toString();

/** The next `count` messages after `position`. */
export const takeMessages = async (
  bus: Bus,
  stream: string,
  position: number,
  count: number,
): Promise<StreamMessage[]> => {
  const messages: StreamMessage[] = [];
  for await (const message of bus.consume(stream, position, new AbortController().signal)) {
    messages.push(message);
    if (messages.length === count) break;
  }
  return messages;
};

export const registerBusContract = (start: () => Promise<BusUnderTest>): void => {
  let started: BusUnderTest;
  let bus: Bus;
  const stop = new AbortController();
  const code = (expected: string) => expect.objectContaining({ code: expected });
  const publishAll = async (...texts: readonly string[]): Promise<number[]> => {
    const sequences: number[] = [];
    for (const text of texts)
      sequences.push(await bus.publish(STREAM, bytes(text), { messageId: text }));
    return sequences;
  };

  beforeEach(async () => {
    started = await start();
    bus = started.bus;
  });
  afterEach(() => started[Symbol.asyncDispose]());

  describe('publishing', () => {
    test('numbers messages from 1 without gaps', async () => {
      await bus.ensureStream({ stream: STREAM });
      expect(await publishAll('a', 'b', 'c')).toEqual([1, 2, 3]);
    });

    test('stores messages with equal ids once', async () => {
      await bus.ensureStream({ stream: STREAM });
      expect(await publishAll('a', 'a', 'b', 'a')).toEqual([1, 1, 2, 1]);
      const messages = await takeMessages(bus, STREAM, 0, 2);
      expect(messages.map(({ payload }) => textOf(payload))).toEqual(['a', 'b']);
    });

    test('stores a message only at the expected position', async () => {
      await bus.ensureStream({ stream: STREAM });
      const publish = (messageId: string, expectedLastSequence: number) =>
        bus.publish(STREAM, bytes(messageId), { messageId, expectedLastSequence });
      expect(await publish('a', 0)).toBe(1);
      expect(await publish('b', 1)).toBe(2);
      await expect(publish('c', 1)).rejects.toEqual(code('bus.stream_moved'));
      expect((await bus.tail(STREAM)).lastSequence).toBe(2);
    });

    test('reports the end of a stream', async () => {
      await expect(bus.tail(STREAM)).rejects.toEqual(code('bus.stream_not_found'));
      await bus.ensureStream({ stream: STREAM });
      expect(await bus.tail(STREAM)).toEqual({ lastSequence: 0, message: undefined });
      await publishAll('a', 'b');
      const { lastSequence, message } = await bus.tail(STREAM);
      expect([lastSequence, message?.messageId, textOf(message?.payload ?? bytes(''))]).toEqual([
        2,
        'b',
        'b',
      ]);
    });

    test('requires the stream to exist', async () => {
      await expect(publishAll('a')).rejects.toEqual(code('bus.stream_not_found'));
    });

    test.for(['', 'a b', 'a.', '.a', 'a_b', 'a.*', '>'])(
      'refuses the stream name "%s"',
      async (stream) => {
        await expect(bus.ensureStream({ stream })).rejects.toEqual(code('request.invalid'));
      },
    );

    test('keeps messages when ensureStream is called again', async () => {
      await bus.ensureStream({ stream: STREAM });
      await publishAll('a');
      await bus.ensureStream({ stream: STREAM, maxBytes: 1_000_000, maxAgeMs: 3_600_000 });
      expect(await takeMessages(bus, STREAM, 0, 1)).toHaveLength(1);
    });
  });

  describe('consuming', () => {
    test('yields what was published: id, headers and payload', async () => {
      await bus.ensureStream({ stream: STREAM });
      const payload = Uint8Array.from([0, 255, 10, 13]);
      await bus.publish(STREAM, payload, { messageId: '7', headers: { epoch: 'é 3' } });
      const [message] = await takeMessages(bus, STREAM, 0, 1);
      expect(message).toMatchObject({
        streamSequence: 1,
        messageId: '7',
        headers: { epoch: 'é 3' },
      });
      expect(Buffer.from(message?.payload ?? [])).toEqual(Buffer.from(payload));
    });

    test('starts after the position and continues with live messages', async () => {
      await bus.ensureStream({ stream: STREAM });
      await publishAll('a', 'b', 'c');
      const taken = takeMessages(bus, STREAM, 1, 4);
      await publishAll('d', 'e');
      expect((await taken).map(({ messageId }) => messageId)).toEqual(['b', 'c', 'd', 'e']);
    });

    test('is in order and without gaps for many messages and several consumers', async () => {
      await bus.ensureStream({ stream: STREAM });
      const count = 1000;
      const publishMany = (from: number): Promise<number[]> =>
        Promise.all(
          Array.from({ length: count }, (_, index) =>
            bus.publish(STREAM, bytes('x'), { messageId: String(from + index) }),
          ),
        );
      const early = takeMessages(bus, STREAM, 0, 2 * count);
      await publishMany(0);
      const late = takeMessages(bus, STREAM, count, count);
      await publishMany(count);
      const sequences = (await early).map(({ streamSequence }) => streamSequence);
      expect(sequences).toEqual(Array.from({ length: 2 * count }, (_, index) => index + 1));
      expect(await late).toEqual((await early).slice(count));
    });

    test('ends when its signal aborts', async () => {
      await bus.ensureStream({ stream: STREAM });
      await publishAll('a');
      const ending = new AbortController();
      const seen: string[] = [];
      for await (const { messageId } of bus.consume(STREAM, 0, ending.signal)) {
        seen.push(messageId);
        ending.abort();
      }
      expect(seen).toEqual(['a']);
    });

    test('fails instead of skipping pruned messages', async () => {
      await bus.ensureStream({ stream: STREAM, maxBytes: 2000 });
      const large = 'x'.repeat(900);
      for (const id of ['a', 'b', 'c', 'd', 'e'])
        await bus.publish(STREAM, bytes(large), { messageId: id });
      await expect(takeMessages(bus, STREAM, 0, 1)).rejects.toEqual(code('bus.messages_pruned'));
      expect(await takeMessages(bus, STREAM, 4, 1)).toHaveLength(1);
    });

    test('fails when the stream ends before the position', async () => {
      await bus.ensureStream({ stream: STREAM });
      await publishAll('a');
      await expect(takeMessages(bus, STREAM, 2, 1)).rejects.toEqual(code('bus.position_ahead'));
    });

    test('requires the stream to exist', async () => {
      await expect(takeMessages(bus, STREAM, 0, 1)).rejects.toEqual(code('bus.stream_not_found'));
    });

    test('ends with an error when the bus is closed', async () => {
      await bus.ensureStream({ stream: STREAM });
      await publishAll('a');
      const taken = takeMessages(bus, STREAM, 0, 2);
      await takeMessages(bus, STREAM, 0, 1);
      await bus.close();
      await expect(taken).rejects.toEqual(code('bus.unavailable'));
    });
  });

  describe('request and reply', () => {
    const echo = async (payload: Uint8Array): Promise<Uint8Array> => bytes(`<${textOf(payload)}>`);

    test('returns the answer of a process that serves the subject', async () => {
      await bus.respond('echo', echo, stop.signal);
      const answers = await Promise.all(
        ['a', 'b', 'c'].map((text) => bus.request('echo', bytes(text), { timeoutMs: 5000 })),
      );
      expect(answers.map(textOf)).toEqual(['<a>', '<b>', '<c>']);
    });

    test('asks one of several processes', async () => {
      let asked = 0;
      const count = async (): Promise<Uint8Array> => bytes(String(++asked));
      await bus.respond('count', count, stop.signal);
      await bus.respond('count', count, stop.signal);
      await bus.request('count', bytes(''), { timeoutMs: 5000 });
      expect(asked).toBe(1);
    });

    test('fails at once when nobody serves', async () => {
      await expect(bus.request('nobody', bytes(''), { timeoutMs: 60_000 })).rejects.toEqual(
        code('bus.no_responder'),
      );
    });

    test('fails when no process serves the subject any more', async () => {
      const serving = new AbortController();
      await bus.respond('echo', echo, serving.signal);
      await bus.request('echo', bytes('a'), { timeoutMs: 5000 });
      serving.abort();
      await expect(bus.request('echo', bytes('a'), { timeoutMs: 60_000 })).rejects.toEqual(
        code('bus.no_responder'),
      );
    });

    test('fails when no answer comes in time', async () => {
      await bus.respond('silent', () => new Promise(() => undefined), stop.signal);
      await expect(bus.request('silent', bytes(''), { timeoutMs: 50 })).rejects.toMatchObject({
        code: 'bus.timeout',
        params: { subject: 'silent', timeoutMs: 50 },
      });
    });

    test('passes on an error with its code, and hides unexpected ones', async () => {
      const refuse = async (payload: Uint8Array): Promise<Uint8Array> => {
        throw textOf(payload) === 'bug'
          ? new TypeError('internal detail')
          : new KeelsonError('request.not_found', { text: 'no such page' });
      };
      await bus.respond('refusing', refuse, stop.signal);
      await expect(bus.request('refusing', bytes(''), { timeoutMs: 5000 })).rejects.toMatchObject({
        code: 'request.not_found',
        message: 'no such page',
      });
      await expect(
        bus.request('refusing', bytes('bug'), { timeoutMs: 5000 }),
      ).rejects.toMatchObject({ code: 'internal', message: 'internal error' });
    });

    test('refuses after the bus was closed', async () => {
      await bus.close();
      await expect(bus.request('echo', bytes(''), { timeoutMs: 50 })).rejects.toEqual(
        code('bus.unavailable'),
      );
    });
  });

  test('status becomes closed, and listeners are called', async () => {
    await bus.ensureStream({ stream: STREAM });
    const heard: string[] = [];
    const forget = bus.onStatus((status) => heard.push(status));
    bus.onStatus(() => forget());
    expect(bus.status()).toBe('connected');
    await bus.close();
    expect(bus.status()).toBe('closed');
    expect(heard).toEqual(['closed']);
  });

  test('carries the trace context in the headers of a message', async () => {
    const key = Symbol('trace');
    propagation.setGlobalPropagator({
      inject: (from, carrier, setter) => {
        const value = from.getValue(key);
        if (typeof value === 'string') setter.set(carrier, 'traceparent', value);
      },
      extract: (into, carrier, getter) => into.setValue(key, getter.get(carrier, 'traceparent')),
      fields: () => ['traceparent'],
    });
    const active = vi
      .spyOn(context, 'active')
      .mockReturnValue(ROOT_CONTEXT.setValue(key, '00-trace-span-01'));
    try {
      await bus.ensureStream({ stream: STREAM });
      await bus.publish(STREAM, bytes('a'), { messageId: 'a' });
    } finally {
      active.mockRestore();
      propagation.disable();
    }
    const [message] = await takeMessages(bus, STREAM, 0, 1);
    expect(message?.headers).toEqual({ traceparent: '00-trace-span-01' });
  });
};
