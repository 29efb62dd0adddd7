/**
 * A service of a distributed cluster whose database was replaced by an empty one, and the resulting messages.
 */
import { type PostgresServer, type RedisServer, startPostgres, startRedis } from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { until } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

const WITHIN_MS = 300_000;

let postgres: PostgresServer;
let redis: RedisServer;
let cluster: DistributedCluster;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  cluster = await startDistributed({ postgres, redisUrl: `${redis.url}/0`, name: 'one' });
}, WITHIN_MS);
afterAll(async () => {
  for (const one of [cluster, redis, postgres])
    if (one !== undefined) await ('stop' in one ? one.stop() : one[Symbol.asyncDispose]());
}, WITHIN_MS);

const readiness = async () => {
  const response = await fetch(`${cluster.urls[0]}/readyz`);
  const body = (await response.json()) as { readonly services: Readonly<Record<string, boolean>> };
  return { status: response.status, pki: body.services['pki'] };
};

test(
  'the service does not start: nothing is created in place of the former database',
  async () => {
    await until(
      () => cluster.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
      ({ status }) => status === 204,
    );
    const made = await until(
      () =>
        cluster.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' }),
      ({ status }) => status === 200,
    );
    expect(made.body.data.issuer_name).toBeDefined();
    await until(readiness, ({ status }) => status === 200);

    const [pki] = cluster.processes.pki;
    await pki?.kill();
    await postgres.emptyDatabase('one_pki');
    await pki?.start();
    await until(
      async () => pki?.log ?? '',
      (log) =>
        log.includes('the store of the pki service is not the one that belongs to this cluster') &&
        log.includes('KEELSON_NEW_STORES=pki'),
    );
    expect((await cluster.v1('LIST', 'pki/issuers')).status).toBe(503);
    expect(await readiness()).toEqual({ status: 503, pki: false });
    expect((await cluster.v1('GET', 'auth/token/lookup-self')).status).toBe(200);
  },
  WITHIN_MS,
);
