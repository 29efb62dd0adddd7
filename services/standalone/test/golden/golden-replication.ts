/** The primary of both kinds of sets, with a secondary that follows it for a moment and others that never do. */
import { type KeelsonProcess, startKeelson } from '@keelson/testkit';
import { attach, until } from '@keelson/testkit/addressed-cluster';
import { answersOf, type GoldenCalls, type GoldenRead, reads } from './golden-calls.ts';
import { PRIMARY_ADDRESS } from './golden-stream.ts';

const PERFORMANCE = 'sys/replication/performance/primary';
const DR = 'sys/replication/dr/primary';

/** @param dataFolder of the secondary, which stops where the first area begins */
export const makeReplicationSets = async (
  { v1 }: GoldenCalls,
  process: KeelsonProcess,
  dataFolder: string,
): Promise<readonly GoldenRead[]> => {
  const primary = answersOf(process.http, process);
  await v1('POST', `${PERFORMANCE}/enable`, { primary_cluster_addr: PRIMARY_ADDRESS });
  await v1('POST', `${DR}/enable`);
  const secondary = await startKeelson({ dataFolder, env: { KEELSON_RATE_LIMIT: 'off' } });
  try {
    const follower = answersOf(secondary.http, secondary);
    await attach('performance', primary, follower, 'branch', process.http);
    // A heartbeat has arrived.
    await until(
      () => primary.status('performance'),
      (status) => status?.secondaries?.length > 0,
    );
  } finally {
    // A process that is killed leaves the record of its part in replication.
    await secondary.stop('SIGKILL');
  }
  await v1('POST', `${PERFORMANCE}/secondary-token`, { id: 'filtered' });
  const filter = `${PERFORMANCE}/paths-filter/filtered`;
  await v1('POST', filter, { mode: 'deny', paths: ['withheld/'] });
  await v1('POST', `${DR}/secondary-token`, { id: 'standby' });
  for (const kind of ['performance', 'dr'])
    await v1('POST', `sys/replication/${kind}/secondary/generate-public-key`);
  await v1('POST', 'sys/replication/merkle-check');
  return reads('v1', 'GET', [filter]);
};
