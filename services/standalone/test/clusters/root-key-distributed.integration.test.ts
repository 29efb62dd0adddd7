/** The seal of a cluster of services that have stores and replicas of their own: its keys are replaced, and replicas sealed. */
import {
  type PostgresServer,
  type RedisServer,
  type ServerProcess,
  startPostgres,
  startRedis,
} from '@keelson/testkit';
import { type DistributedCluster, startDistributed } from '@keelson/testkit/distributed-cluster';
import { until } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

let postgres: PostgresServer;
let redis: RedisServer;
let cluster: DistributedCluster;

beforeAll(async () => {
  [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
  cluster = await startDistributed({
    postgres,
    redisUrl: redis.url,
    name: 'rootkey',
    replicas: { sys: 2, pki: 2, gateway: 2 },
  });
});
afterAll(async () => {
  await cluster?.stop();
  await Promise.allSettled([postgres?.[Symbol.asyncDispose](), redis?.[Symbol.asyncDispose]()]);
});

const request = async (method: string, path: string, body?: unknown): Promise<readonly number[]> =>
  Promise.all(
    cluster.urls.map(async (url) => {
      const isBytes = body instanceof Uint8Array;
      const answer = await fetch(`${url}/v1/${path}`, {
        method,
        headers: { 'X-Vault-Token': cluster.token },
        ...(body !== undefined && { body: isBytes ? body : JSON.stringify(body) }),
      });
      await answer.arrayBuffer();
      return answer.status;
    }),
  );
/** A service answers 503 while it follows. */
const untilAnswered = (method: string, path: string, wanted: number, body?: unknown) =>
  until(
    () => request(method, path, body),
    (statuses) => statuses.every((status) => status === wanted),
  );
const account = async (): Promise<number> => (await cluster.api('GET', 'account/details')).status;
const rotate = async (): Promise<void> => {
  expect((await cluster.v1('POST', 'sys/rotate/unseal-key')).status).toBe(204);
};
const hasClosed = ({ log }: ServerProcess): boolean => log.includes('"sealed":true');
const isOpen = ({ log }: ServerProcess): boolean =>
  log.lastIndexOf('"sealed":false') > log.lastIndexOf('"sealed":true');
/** Opens both replicas of sys, which close their seals after a restoration: one share is the threshold, and is for all. */
const unseal = async (): Promise<void> => {
  const { sys } = cluster.processes;
  await until(async () => sys.every(hasClosed), Boolean);
  const answer = await cluster.v1('PUT', 'sys/unseal', { key: cluster.shares[0] });
  expect(answer).toMatchObject({ status: 200, body: { sealed: false } });
  await until(async () => sys.every(isOpen), Boolean);
};
const useAll = async (name: string): Promise<void> => {
  await untilAnswered('POST', `pki/roles/${name}`, 200, { allow_any_name: true });
  await untilAnswered('POST', `sys/policies/acl/${name}`, 204, { policy: 'path "x" { }' });
  await until(account, (status) => status === 200);
};

test('all replicas follow; a service that was away follows two replacements at its start; a snapshot made before still opens', async () => {
  await until(
    () => cluster.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
    ({ status }) => status === 204,
  );
  await useAll('first');
  const snapshot = await fetch(`${cluster.urls[0]}/v1/sys/storage/raft/snapshot`, {
    headers: { 'X-Vault-Token': cluster.token },
  });
  expect(snapshot.status).toBe(200);
  const archive = new Uint8Array(await snapshot.arrayBuffer());

  await rotate();
  await useAll('second');

  const { sys, pki, workspace, auth } = cluster.processes;
  const others = [...pki, ...workspace, ...auth];
  await Promise.all(others.map((one) => one.kill()));
  await rotate();
  await rotate();
  // Killed at once: what the transaction wrote is all that the next start has.
  await Promise.all(sys.map((one) => one.kill()));
  await Promise.all([...sys, ...others].map((one) => one.start()));
  await useAll('third');
  for (const name of ['first', 'second', 'third'])
    await untilAnswered('GET', `pki/roles/${name}`, 200);

  const restored = await fetch(`${cluster.urls[0]}/v1/sys/storage/raft/snapshot`, {
    method: 'POST',
    headers: { 'X-Vault-Token': cluster.token },
    body: archive,
  });
  expect([restored.status, await restored.text()]).toEqual([204, '']);
  // The snapshot has the former key file and the shares, which did not change.
  await unseal();
  await useAll('fourth');
  await untilAnswered('GET', 'pki/roles/third', 404);
  await untilAnswered('GET', 'pki/roles/first', 200);
  await rotate();
  await useAll('fifth');
}, 180_000);

test('a sealed replica of sys leaves requests to the open one; when all are sealed, the answer is 503', async () => {
  const seal = () => cluster.v1('POST', 'sys/seal');
  expect((await seal()).status).toBe(204);
  for (let asked = 0; asked < 10; asked += 1) {
    expect(await request('GET', 'sys/mounts')).toEqual([200, 200]);
    expect(await request('GET', 'auth/token/lookup-self')).toEqual([200, 200]);
    // A service that followed the sealed replica goes on with the open one.
    expect(await request('GET', 'pki/roles/first')).toEqual([200, 200]);
    expect(await account()).toBe(200);
  }
  expect((await seal()).status).toBe(204);
  expect(await seal()).toMatchObject({ status: 503, body: { errors: ['Keelson is sealed'] } });
  expect(await request('GET', 'sys/mounts')).toEqual([503, 503]);
  expect((await cluster.v1('GET', 'sys/seal-status')).body).toMatchObject({ sealed: true });
  await untilAnswered('GET', 'pki/roles/first', 503);

  const share = { key: cluster.shares[0] };
  expect(await cluster.v1('PUT', 'sys/unseal', share)).toMatchObject({ body: { sealed: false } });
  await until(async () => cluster.processes.sys.every(isOpen), Boolean);
  for (let asked = 0; asked < 5; asked += 1) await untilAnswered('GET', 'pki/roles/first', 200);
  await until(account, (status) => status === 200);
});
