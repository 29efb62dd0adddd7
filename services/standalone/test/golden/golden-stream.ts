/** The messages of the primary of a golden store, recorded once and published again for a secondary of today. */
import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { JetStreamBus } from '@keelson/bus/jetstream';
import { STORE_SERVICES } from '../../src/first-start.ts';

/** Stored by the secondary as the address of its primary. Nothing else uses this address of the loopback interface. */
const HOST = '127.9.8.7';
const PORT = 4222;
export const PRIMARY_ADDRESS = `nats://${HOST}:${PORT}`;

/** Makes a server on loopback reachable at the primary's address. */
export const relayTo = async (port: number): Promise<AsyncDisposable> => {
  const sockets = new Set<Socket>();
  const relay = createServer((from) => {
    const to = connect(port, '127.0.0.1');
    sockets.add(from);
    for (const [one, other] of [
      [from, to],
      [to, from],
    ] as const) {
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => other.destroy());
    }
  });
  relay.listen(PORT, HOST);
  await once(relay, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      await relay[Symbol.asyncDispose]();
    },
  };
};

interface RecordedMessage {
  readonly stream: string;
  readonly messageId: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly payload: string;
}

/** @returns the messages of the set's streams so far, one on each line */
export const recordStreams = async (natsUrl: string, setId: string): Promise<string> => {
  const bus = new JetStreamBus({ servers: natsUrl });
  const messages: RecordedMessage[] = [];
  try {
    for (const service of STORE_SERVICES) {
      const stream = `wal.${setId}.${service}`;
      const { lastSequence } = await bus.tail(stream);
      const ending = new AbortController();
      for await (const message of bus.consume(stream, 0, ending.signal)) {
        const { messageId, headers, payload, streamSequence } = message;
        const text = Buffer.from(payload).toString('base64');
        messages.push({ stream, messageId, headers, payload: text });
        if (streamSequence === lastSequence) break;
      }
      ending.abort();
    }
  } finally {
    await bus.close();
  }
  return messages.map((message) => `${JSON.stringify(message)}\n`).join('');
};

export const publishRecorded = async (natsUrl: string, lines: string): Promise<void> => {
  const bus = new JetStreamBus({ servers: natsUrl });
  const messages = lines
    .trimEnd()
    .split('\n')
    .map((line): RecordedMessage => JSON.parse(line));
  try {
    for (const stream of new Set(messages.map((message) => message.stream)))
      await bus.ensureStream({ stream });
    for (const { stream, messageId, headers, payload } of messages)
      await bus.publish(stream, Buffer.from(payload, 'base64'), { messageId, headers });
  } finally {
    await bus.close();
  }
};
