/** Echoes NATS requests, to measure the round trip alone. */
import { JetStreamBus } from '@keelson/bus/jetstream';
import { answerCommands } from '../child-process.ts';

const start = async ({ url, subject }: { url: string; subject: string }): Promise<void> => {
  const bus = new JetStreamBus({ servers: url });
  await bus.respond(subject, async (payload) => payload, new AbortController().signal);
};

answerCommands({ start });
