/** A control plane in processes of its services on PostgreSQL with flushes, as benches measure it. */
import { type PostgresServer, startPostgres, startRedis } from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { until } from '@keelson/testkit/replication-cluster';
import type { BenchContext } from './bench.ts';
import { headersOf, type MeasuredServer } from './measured-server.ts';

export interface DistributedServer extends AsyncDisposable {
  readonly cluster: DistributedCluster;
  readonly postgres: PostgresServer;
  /** The first gateway, which is what most benches ask. */
  readonly first: MeasuredServer;
}

type Replicas = NonNullable<Parameters<typeof startDistributed>[0]['replicas']>;

/** Starts the services, and waits until each of them serves. */
export const openDistributedServer = async (
  context: BenchContext,
  { name, replicas }: { readonly name: string; readonly replicas: Replicas },
): Promise<DistributedServer> => {
  await using stack = new AsyncDisposableStack();
  const settings = { fsync: 'on', shared_buffers: '256MB' };
  const postgres = stack.use(await startPostgres({ settings }));
  const redis = stack.use(await startRedis());
  const cluster = await startDistributed({ postgres, redisUrl: redis.url, name, replicas });
  stack.defer(() => cluster.stop());
  // Until pki has joined and serves its mounts.
  await until(
    () => cluster.v1('POST', 'sys/mounts/ready', { type: 'pki' }),
    ({ status }) => status === 204,
  );
  await until(
    () => cluster.v1('GET', 'ready/config/urls'),
    ({ status }) => status === 200,
  );
  await until(
    () => cluster.api('GET', 'organizations'),
    ({ status }) => status === 200,
  );
  const owned = stack.move();
  const close = () => owned.disposeAsync();
  const first: MeasuredServer = {
    url: cluster.urls[0] ?? '',
    ...headersOf(context, { v1: cluster.token, api: cluster.apiToken }),
    pid: undefined,
    [Symbol.asyncDispose]: close,
  };
  return { cluster, postgres, first, [Symbol.asyncDispose]: close };
};
