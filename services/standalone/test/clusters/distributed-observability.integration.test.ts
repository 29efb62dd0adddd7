/**
 * The view of an operator on the processes of a distributed cluster: whether Redis can be reached, and the cause
 * of a failed request in the log of the service that it failed in, without any secret.
 */
import {
  findFreePort,
  type PostgresServer,
  type RedisServer,
  startPostgres,
  startRedis,
} from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { until } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

let postgres: PostgresServer;
let redis: RedisServer;
let cluster: DistributedCluster;
let probes: string;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  probes = `127.0.0.1:${await findFreePort()}`;
  cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'observed',
    settings: { pki: { PROBE_ADDRESS: probes } },
  });
  await until(
    () => cluster.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
    ({ status }) => status === 204,
  );
  await until(
    () => cluster.v1('POST', 'pki/roles/web', { allow_any_name: true }),
    ({ status }) => status === 200,
  );
});
afterAll(async () => {
  await cluster?.stop();
  await redis?.[Symbol.asyncDispose]();
  await postgres?.[Symbol.asyncDispose]();
});

const logOf = (service: 'pki' | 'gateway'): string => cluster.processes[service][0]?.log ?? '';

const untilLogged = (text: string): Promise<string> =>
  until(
    async () => logOf('pki'),
    (log) => log.includes(text),
  );

test('whether Redis can be reached is a metric of each process, and said in its log', async () => {
  const reachable = async (): Promise<string | undefined> => {
    const text = await (await fetch(`http://${probes}/metrics`)).text();
    return /^keelson_leases_reachable (\d)$/m.exec(text)?.[1];
  };
  expect(await reachable()).toBe('1');
  await redis.process.kill();
  await until(reachable, (value) => value === '0');
  await untilLogged('Redis cannot be reached: background work waits for it');
  await redis.process.start();
  await until(reachable, (value) => value === '1');
  await untilLogged('Redis is reachable: background work goes on');
});

test('the cause of a 500 is in the log of its service with the id of the request, and no secret is', async () => {
  const secret = 'passphrase-of-the-caller';
  await postgres.firstRow('observed_pki', 'ALTER TABLE wal RENAME TO mislaid');
  const answer = await fetch(`${cluster.urls[0]}/v1/pki/roles/web`, {
    method: 'POST',
    headers: { 'x-service-token': cluster.token, 'x-request-id': 'asked-1' },
    body: JSON.stringify({ allow_any_name: true, organization: [secret] }),
  });
  const text = await answer.text();
  expect([answer.status, JSON.parse(text)]).toEqual([500, { errors: [expect.any(String)] }]);
  // The client learns that it failed and by which id to ask, not how the store is built.
  expect(text).not.toContain('wal');
  const id = answer.headers.get('x-request-id') ?? '';
  await untilLogged('request failed');
  const line = logOf('pki')
    .split('\n')
    .find((one) => one.includes('request failed'));
  expect(JSON.parse(line ?? '{}')).toMatchObject({
    level: 'error',
    request_id: id,
    err: { message: expect.stringContaining('relation "wal" does not exist') },
  });
  for (const log of [logOf('pki'), logOf('gateway')])
    for (const hidden of [secret, cluster.token, cluster.apiToken])
      expect(log).not.toContain(hidden);
  await postgres.firstRow('observed_pki', 'ALTER TABLE mislaid RENAME TO wal');
});
