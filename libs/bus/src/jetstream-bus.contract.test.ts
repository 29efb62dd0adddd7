import { type NatsServer, startNats } from '@keelson/testkit';
import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { afterAll, beforeAll } from 'vitest';
import { registerBusContract } from './bus.contract.ts';
import { JetStreamBus } from './jetstream-bus.ts';

let nats: NatsServer;
beforeAll(async () => {
  nats = await startNats({ jetstream: true });
});
afterAll(() => nats[Symbol.asyncDispose]());

const deleteStreams = async (): Promise<void> => {
  const connection = await connect({ servers: nats.url });
  const { streams } = await jetstreamManager(connection);
  for await (const { config } of streams.list()) await streams.delete(config.name);
  await connection.close();
};

registerBusContract(async () => {
  const bus = new JetStreamBus({ servers: nats.url });
  return {
    bus,
    async [Symbol.asyncDispose]() {
      await bus.close();
      await deleteStreams();
    },
  };
});
