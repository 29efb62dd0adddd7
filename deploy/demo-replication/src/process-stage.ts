/** Clusters as processes on loopback ports of this machine, over one nats-server, in temporary folders. */
import { randomBytes } from 'node:crypto';
import { type FaultProxy, startFaultProxy, startNats } from '@keelson/testkit';
import { type Cluster, startCluster } from '@keelson/testkit/replication-cluster';
import { type Building, type DemoCluster, Started } from './stage.ts';

/** Enough to show the error of a process. */
const SHOWN_LOG_LINES = 5;
const NATS_USER = 'keelson';

export const openProcesses = (): Building => {
  const started = new Started();
  const cluster = async (
    name: string,
    natsUrl: string,
    env?: Readonly<Record<string, string>>,
  ): Promise<Cluster & DemoCluster> => {
    const it = await started.add(
      () => startCluster(natsUrl, env),
      (one) => one.stop(),
    );
    return Object.assign(it, { name, address: () => it.process().http });
  };
  return {
    title: 'Replication between three clusters on this machine',
    text: 'nats-server and three clusters start',

    async start() {
      const password = randomBytes(16).toString('hex');
      const login = { KEELSON_NATS_LOGIN: `${NATS_USER}:${password}` };
      const nats = await started.add(
        () =>
          startNats({
            jetstream: true,
            configuration: `authorization { user: ${NATS_USER}, password: "${password}" }`,
          }),
        async (it) => it[Symbol.asyncDispose](),
      );
      const line = (): Promise<FaultProxy> =>
        started.add(
          () => startFaultProxy(nats.port),
          async (it) => it[Symbol.asyncDispose](),
        );
      const lines = [await line(), await line()];
      const [primaryAddress = '', spareAddress = ''] = lines.map(
        ({ port }) => `nats://127.0.0.1:${port}`,
      );
      const [primary, secondary, dr] = await Promise.all([
        cluster('primary', nats.url, login),
        cluster('secondary', nats.url, login),
        cluster('spare', nats.url, { ...login, KEELSON_CLUSTER_ADDRESS: spareAddress }),
      ]);
      const named = [primary, secondary, dr];
      return {
        primary,
        secondary,
        dr,
        lines,
        primaryAddress,
        spareAddress,
        loss: {
          text: 'the process of the primary is killed',
          lose: async () => {
            await primary.process().stop('SIGKILL');
          },
          returnText: 'the former primary starts again, and gives up its role',
          bringBack: () => primary.restart(),
        },
        wasPlayed: false,
        keep: async () =>
          [
            ...named.map((it) =>
              [
                `  ${it.name}`,
                `    API         ${it.process().http}`,
                `    Console     ${it.process().http}/ui/`,
                `    Root token  ${it.token}`,
                `    Data        ${it.process().dataFolder}`,
                '',
              ].join('\n'),
            ),
            `  NATS          ${nats.url}`,
          ].join('\n'),
        newestLog: () =>
          named
            .map((it) => {
              const lines = it.process().output().split('\n').slice(-SHOWN_LOG_LINES);
              return [`The newest log lines of ${it.name}:`, ...lines, ''].join('\n');
            })
            .join('\n'),
      };
    },

    stop: () => started.end(),
  };
};
