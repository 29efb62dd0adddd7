/**
 * Clusters with both kinds of seal in separate processes, performance and DR: services opened by a
 * share (PostgreSQL, Redis) and standalone ones with a static seal. The shares of the primary are
 * valid on all of them. What a commit proves about services in separate processes is here, and the rest in
 * `distributed-replication`, for a release.
 */
import {
  type NatsServer,
  type PostgresServer,
  type RedisServer,
  startNats,
  startPostgres,
  startRedis,
} from '@keelson/testkit';
import {
  type DistributedCluster,
  ofEachService,
  startDistributed,
} from '@keelson/testkit/distributed-cluster';
import {
  type AddressedCluster,
  attach,
  type Cluster,
  follow,
  generateOperationToken,
  generateRoot,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 300_000;
const POLICY = 'path "pki/*" { capabilities = ["read"] }';

let postgres: PostgresServer;
let redis: RedisServer;
let nats: NatsServer;
/** A share opens it. */
let shamir: DistributedCluster;
/** These open themselves. */
let branch: Cluster;
let spare: Cluster;
/** The newest of the set. */
let share: string;

beforeAll(async () => {
  [postgres, redis, nats] = await Promise.all([
    startPostgres({ settings: { max_connections: '200' } }),
    startRedis(),
    startNats({ jetstream: true }),
  ]);
  [shamir, branch, spare] = await Promise.all([
    startDistributed({
      postgres,
      redisUrl: redis.url,
      name: 'shamir',
      seal: 'shamir',
      settings: ofEachService({ NATS_URL: nats.url }),
    }),
    startCluster(nats.url),
    startCluster(nats.url),
  ]);
}, WITHIN_MS);
afterAll(async () => {
  for (const one of [shamir, branch, spare, nats, redis, postgres])
    if (one !== undefined) await ('stop' in one ? one.stop() : one[Symbol.asyncDispose]());
}, WITHIN_MS);

const ok = async (cluster: AddressedCluster, path: string, body?: unknown) => {
  const answer = await cluster.v1('POST', path, body);
  if (answer.status >= 300) throw new Error(`${path}: ${answer.status}`);
  return answer.body;
};

const isSealed = async (): Promise<boolean> =>
  (await shamir.v1('GET', 'sys/seal-status', undefined, '')).body?.sealed;

/** Kills its sys, and tries the keys one after the other. @returns after which it was open */
const reopen = async (keys: readonly string[]): Promise<readonly boolean[]> => {
  const [sys] = shamir.processes.sys;
  await sys?.kill();
  await sys?.start();
  await until(isSealed, (sealed) => sealed === true);
  const opened: boolean[] = [];
  for (const key of keys) {
    await shamir.v1('PUT', 'sys/unseal', { key }, '');
    opened.push(!(await isSealed()));
  }
  return opened;
};

const accepts = async (cluster: AddressedCluster, key: string): Promise<boolean> => {
  // A share that was refused leaves its attempt to the next one.
  await cluster.v1('POST', 'sys/generate-root/attempt', {}, '');
  const { nonce } = (await cluster.v1('GET', 'sys/generate-root/attempt', undefined, '')).body;
  const { body } = await cluster.v1('POST', 'sys/generate-root/update', { key, nonce }, '');
  return body?.complete === true;
};

describe('clusters with different seals', { timeout: WITHIN_MS }, () => {
  test('follow one that is unsealed with a share', async () => {
    [share = ''] = shamir.shares;
    for (const kind of ['performance', 'dr'])
      await ok(shamir, `sys/replication/${kind}/primary/enable`);
    await attach('performance', shamir, branch, 'branch');
    await attach('dr', shamir, spare, 'spare');
    branch.token = await generateRoot(branch, [share]);
    await ok(shamir, 'sys/policies/acl/one', { policy: POLICY });
    await Promise.all([branch.restart('SIGKILL'), spare.restart('SIGKILL')]);
    await untilStreaming('performance', branch);
    await untilStreaming('dr', spare);
    await untilEqual('performance', shamir, branch);
    await untilEqual('dr', shamir, spare);
    expect((await branch.v1('GET', 'sys/policies/acl/one')).status).toBe(200);
  });

  test('forward what each service writes, even while one of the primary is killed', async () => {
    // Until pki has announced its engines.
    await until(
      () => shamir.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
      ({ status }) => status === 204,
    );
    const organization = {
      type: 'organizations',
      attributes: { name: 'acme', email: 'a@b.example' },
    };
    const role = { allow_any_name: true };
    await until(
      () => branch.v1('POST', 'pki/roles/web', role),
      ({ status }) => status === 200,
    );
    const [pki] = shamir.processes.pki;
    await pki?.kill();
    const created = await branch.api(
      'POST',
      'organizations',
      { data: organization },
      shamir.apiToken,
    );
    expect(created.status).toBe(201);
    expect((await branch.v1('GET', 'pki/roles/web')).status).toBe(200);
    await pki?.start();
    await until(
      () => branch.v1('POST', 'pki/roles/later', role),
      ({ status }) => status === 200,
    );
    expect((await shamir.v1('LIST', 'pki/roles')).body.data.keys).toEqual(['later', 'web']);
    await untilEqual('performance', shamir, branch);
    await untilEqual('dr', shamir, spare);
  });

  test('refuse an activation token that was used', async () => {
    const path = 'sys/replication/performance';
    const issued = await ok(shamir, `${path}/primary/secondary-token`, { id: 'again' });
    const { token } = issued.wrap_info;
    expect((await shamir.v1('PUT', 'sys/wrapping/unwrap', { token })).status).toBe(200);
    expect((await branch.v1('POST', `${path}/secondary/enable`, { token })).status).toBe(400);
    await ok(shamir, `${path}/primary/revoke-secondary`, { id: 'again' });
    await untilStreaming('performance', branch);
  });

  test('use its new share, and the former one nowhere', async () => {
    const former = share;
    const { nonce } = await ok(shamir, 'sys/rekey/init', { secret_shares: 1, secret_threshold: 1 });
    const renewed = await ok(shamir, 'sys/rekey/update', { key: former, nonce });
    [share = ''] = renewed.keys_base64;
    await until(
      () => accepts(branch, share),
      (accepted) => accepted,
    );
    expect(await accepts(branch, former)).toBe(false);
    expect(await reopen([former, share])).toEqual([false, true]);
    await untilEqual('dr', shamir, spare);
  });

  test('swap roles: the one that is unsealed with a share follows', async () => {
    await ok(shamir, 'sys/replication/dr/primary/demote');
    const token = await generateOperationToken(spare, [share]);
    const promoted = await until(
      () => spare.v1('POST', 'sys/replication/dr/secondary/promote', { dr_operation_token: token }),
      ({ status }) => status !== 503,
    );
    expect(promoted.status).toBe(200);
    spare.token = shamir.token;
    await until(
      () => spare.v1('GET', 'sys/policies/acl/one'),
      ({ status }) => status === 200,
    );
    await follow('dr', spare, shamir, 'former', await generateOperationToken(shamir, [share]));
    await ok(spare, 'sys/policies/acl/two', { policy: POLICY });
    await untilEqual('dr', spare, shamir);
    expect(await reopen([share])).toEqual([true]);
    await untilStreaming('dr', shamir);
    await untilEqual('dr', spare, shamir);
    await untilEqual('performance', spare, branch);
  });

  test('follow as performance secondary, too', async () => {
    const token = await generateOperationToken(shamir, [share]);
    const path = 'sys/replication/dr/secondary/disable';
    const disabled = await until(
      () => shamir.v1('POST', path, { dr_operation_token: token }),
      ({ status }) => status !== 503,
    );
    expect(disabled.status).toBeLessThan(300);
    shamir.token = await until(
      () => generateRoot(shamir, [share]).catch(() => ''),
      (made) => made !== '',
    );
    await attach('performance', spare, shamir, 'shamir');
    await untilEqual('performance', spare, shamir);
    expect(await reopen([share])).toEqual([true]);
    await untilStreaming('performance', shamir);
    await untilEqual('performance', spare, shamir);
    shamir.token = await generateRoot(shamir, [share]);
    expect((await shamir.v1('GET', 'sys/policies/acl/two')).status).toBe(200);
  });
});
