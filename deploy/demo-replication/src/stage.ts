/** What the story plays on: one nats-server, lines to it that can be cut, three clusters. */
import { type FaultProxy, type NatsServer, startFaultProxy, startNats } from '@keelson/testkit';
import { type Cluster, startCluster } from '@keelson/testkit/replication-cluster';

export interface Stage {
  readonly nats: NatsServer;
  /**
   * Between NATS and those who follow another cluster: one for the address of the primary, one for that of
   * its spare. A secondary without a primary tries both, so a partition cuts both.
   */
  readonly lines: readonly FaultProxy[];
  /** What the primary tells its secondaries about who may take its place. */
  readonly spareAddress: string;
  readonly primary: Cluster;
  readonly secondary: Cluster;
  readonly dr: Cluster;
}

export interface Building {
  /** @throws Error what could not be started, with its output */
  start(): Promise<Stage>;
  /** Ends everything that was started, also while `start` runs, and removes its folders. */
  stop(): Promise<void>;
}

export const openBuilding = (): Building => {
  /** In the order of their start; each resolves with what ends it. */
  const ends: Promise<() => Promise<void>>[] = [];
  let isStopping = false;
  const started = async <T>(starting: () => Promise<T>, end: (it: T) => Promise<void>) => {
    if (isStopping) throw new Error('stopped');
    const it = starting();
    const ending = it.then((one) => () => end(one));
    ending.catch(() => undefined); // Told by `it`.
    ends.push(ending);
    return it;
  };
  const cluster = (natsUrl: string, env?: Readonly<Record<string, string>>): Promise<Cluster> =>
    started(
      () => startCluster(natsUrl, env),
      (it) => it.stop(),
    );
  return {
    async start() {
      const nats = await started(
        () => startNats({ jetstream: true }),
        async (it) => it[Symbol.asyncDispose](),
      );
      const line = (): Promise<FaultProxy> =>
        started(
          () => startFaultProxy(nats.port),
          async (it) => it[Symbol.asyncDispose](),
        );
      const lines = [await line(), await line()];
      const [address = '', spareAddress = ''] = lines.map(({ port }) => `nats://127.0.0.1:${port}`);
      const [primary, secondary, dr] = await Promise.all([
        cluster(nats.url, { KEELSON_CLUSTER_ADDRESS: address }),
        cluster(nats.url),
        cluster(nats.url, { KEELSON_CLUSTER_ADDRESS: spareAddress }),
      ]);
      return { nats, lines, spareAddress, primary, secondary, dr };
    },
    async stop() {
      isStopping = true;
      for (const one of await Promise.allSettled(ends.reverse()))
        if (one.status === 'fulfilled') await one.value();
    },
  };
};
