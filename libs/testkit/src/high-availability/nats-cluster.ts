import { findFreePort } from '../free-port.ts';
import { type NatsServer, startNats } from '../nats.ts';

const SERVERS = 3;

export interface NatsCluster extends AsyncDisposable {
  /** nats://…,nats://…,nats://… */
  readonly url: string;
  readonly servers: readonly NatsServer[];
}

/** Three NATS servers with JetStream, which keep what two of them have. */
export const startNatsCluster = async (): Promise<NatsCluster> => {
  await using stack = new AsyncDisposableStack();
  const routes: number[] = [];
  for (let number = 0; number < SERVERS; number += 1) routes.push(await findFreePort());
  const servers = await Promise.all(
    routes.map((port) => startNats({ jetstream: true, cluster: { port, routes } })),
  );
  for (const server of servers) stack.use(server);
  const owned = stack.move();
  return {
    url: servers.map(({ url }) => url).join(),
    servers,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
};
