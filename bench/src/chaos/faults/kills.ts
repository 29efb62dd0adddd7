/** R1: processes of two clusters are killed at random moments under writes. */
import { setTimeout as delay } from 'node:timers/promises';
import { findBroken, startNats } from '@keelson/testkit';
import { attach, startCluster } from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import { Random } from '../random.ts';
import { heldBy, prepare, Writers } from './written.ts';

const MOST_MS_BEFORE = 1500;

export const kills: Chaos = {
  name: 'kills',
  promise:
    'R1 primary, secondary and NATS killed with -9 at random moments under writes: nothing acknowledged is ' +
    'lost, each starts without help, equal Merkle roots',
  counts: { full: 100, short: 3 },
  isApart: true,
  run: async ({ count, seed, say }) => {
    const random = new Random(seed);
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ jetstream: true }));
    const primary = await startCluster(nats.url, { KEELSON_HTTP_PORT: '0' });
    stack.defer(() => primary.stop());
    const secondary = await startCluster(nats.url);
    stack.defer(() => secondary.stop());
    await prepare(primary);
    await primary.v1('POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, secondary, 'secondary');
    const writers = new Writers(primary, 'kill');
    const broken: string[] = [];
    const victims = [
      { name: 'the primary', kill: () => primary.restart('SIGKILL') },
      { name: 'the secondary', kill: () => secondary.restart('SIGKILL') },
      {
        name: 'NATS',
        kill: async () => {
          await nats.process.kill();
          await nats.process.start();
        },
      },
    ] as const;
    for (let round = 0; round < count; round += 1) {
      const victim = victims[round % victims.length] ?? victims[0];
      await delay(random.below(MOST_MS_BEFORE));
      say(`${victim.name} is killed`);
      await victim.kill();
      if ((await writers.untilAcknowledged(10)) === undefined) {
        broken.push(`no writes after ${victim.name} was killed`);
        break;
      }
    }
    await writers.stop();
    const { ledger } = writers;
    broken.push(
      ...(await findBroken({
        ledger,
        held: await heldBy(primary),
        roots: {
          secondary: [
            async () => (await primary.status('dr'))?.merkle_root as string,
            async () => (await secondary.status('dr'))?.merkle_root as string,
          ],
        },
        comparisons: 600,
      })),
    );
    return {
      broken,
      figures: {
        kills: count,
        'writes acknowledged': ledger.acknowledged.length,
        'writes with an unknown outcome': ledger.unknown.length,
      },
    };
  },
};
