/** R1 for a cluster whose services run in their own processes. */
import { startNats, startPostgres, startRedis } from '@keelson/testkit';
import {
  DISTRIBUTED_SERVICES,
  ofEachService,
  startDistributed,
} from '@keelson/testkit/distributed-cluster';
import { attach, startCluster } from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import { killInTurn } from './kill-rounds.ts';
import { prepare } from './written.ts';

const KILLED = ['gateway', ...DISTRIBUTED_SERVICES] as const;

export const killsDistributed: Chaos = {
  name: 'kills-distributed',
  promise:
    'R1 gateway, sys, pki, workspace, auth and NATS of a distributed primary killed with -9 at random moments ' +
    'under writes: as kills',
  unit: 'kills',
  counts: { full: 100, short: 5 },
  isApart: true,
  run: async (context) => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ jetstream: true }));
    const redis = stack.use(await startRedis({ durable: true }));
    const postgres = stack.use(await startPostgres());
    const primary = await startDistributed({
      postgres,
      redisUrl: redis.url,
      name: 'primary',
      settings: ofEachService({ NATS_URL: nats.url }),
    });
    stack.defer(() => primary.stop());
    const secondary = await startCluster(nats.url);
    stack.defer(() => secondary.stop());
    await prepare(primary);
    await primary.v1('POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, secondary, 'secondary');
    const killing = (process: { kill(): Promise<void>; start(): Promise<void> }) => async () => {
      await process.kill();
      await process.start();
    };
    const services = KILLED.flatMap((name) =>
      primary.processes[name].map((process) => ({ name, isNoticed: true, kill: killing(process) })),
    );
    return await killInTurn(context, primary, secondary, [
      ...services,
      { name: 'NATS', isNoticed: false, kill: killing(nats.process) },
    ]);
  },
};
