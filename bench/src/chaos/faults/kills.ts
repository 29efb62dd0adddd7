/** R1 for standalone clusters. */
import { startNats } from '@keelson/testkit';
import { attach, startCluster } from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import { killInTurn } from './kill-rounds.ts';
import { prepare } from './written.ts';

export const kills: Chaos = {
  name: 'kills',
  promise:
    'R1 standalone primary, secondary and NATS killed with -9 at random moments under writes: nothing ' +
    'acknowledged is lost, no serial number twice, nothing half there, each starts without help, equal ' +
    'Merkle roots, no server error but 503 with Retry-After around a kill of the primary',
  unit: 'kills',
  counts: { full: 100, short: 3 },
  run: async (context) => {
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ jetstream: true }));
    const [primary, secondary] = await Promise.all([
      startCluster(nats.url),
      startCluster(nats.url),
    ]);
    stack.defer(() => primary.stop());
    stack.defer(() => secondary.stop());
    await prepare(primary);
    await primary.v1('POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, secondary, 'secondary');
    return await killInTurn(context, primary, secondary, [
      { name: 'the primary', isNoticed: true, kill: () => primary.restart('SIGKILL') },
      { name: 'the secondary', isNoticed: false, kill: () => secondary.restart('SIGKILL') },
      {
        name: 'NATS',
        isNoticed: false,
        kill: async () => {
          await nats.process.kill();
          await nats.process.start();
        },
      },
    ]);
  },
};
