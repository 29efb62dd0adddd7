/**
 * Clusters whose services run in separate processes with two replicas each, on PostgreSQL, Redis and NATS: a
 * performance secondary of the same kind, and a standalone DR secondary.
 */
import {
  findBroken,
  type NatsServer,
  type PostgresServer,
  type RedisServer,
  startNats,
  startPostgres,
  startRedis,
  WriteLedger,
} from '@keelson/testkit';
import {
  DISTRIBUTED_SERVICES,
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

const WITHIN_MS = 600_000;
const POLICY = 'path "pki/*" { capabilities = ["read"] }';
const PERFORMANCE = 'sys/replication/performance';

let postgres: PostgresServer;
let redis: RedisServer;
let nats: NatsServer;
let primary: DistributedCluster;
let branch: DistributedCluster;
let spare: Cluster;

beforeAll(async () => {
  [postgres, redis, nats] = await Promise.all([
    startPostgres({ settings: { max_connections: '300' } }),
    startRedis(),
    startNats({ jetstream: true }),
  ]);
  const start = (name: string, database: number) =>
    startDistributed({
      postgres,
      redisUrl: `${redis.url}/${database}`,
      name,
      replicas: ofEachService(2),
      settings: ofEachService({ NATS_URL: nats.url }),
    });
  [primary, branch, spare] = await Promise.all([
    start('primary', 0),
    start('branch', 1),
    startCluster(nats.url),
  ]);
}, WITHIN_MS);
afterAll(async () => {
  for (const one of [branch, primary, spare, nats, redis, postgres])
    if (one !== undefined) await ('stop' in one ? one.stop() : one[Symbol.asyncDispose]());
}, WITHIN_MS);

const ok = async (
  cluster: AddressedCluster,
  method: string,
  path: string,
  body?: unknown,
): Promise<void> => {
  const answer = await cluster.v1(method, path, body);
  if (answer.status >= 300)
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
};

/** One record of sys, pki or workspace in turn. */
const write = async (cluster: AddressedCluster, key: string, turn: number): Promise<number> => {
  const made =
    turn % 3 === 0
      ? cluster.v1('POST', `sys/policies/acl/${key}`, { policy: POLICY })
      : turn % 3 === 1
        ? cluster.v1('POST', `pki/roles/${key}`, { allow_any_name: true, key_type: 'ec' })
        : cluster.api(
            'POST',
            'organizations',
            { data: { type: 'organizations', attributes: { name: key, email: 'a@b.example' } } },
            primary.apiToken,
          );
  return (await made).status;
};

const organizationsOf = async (cluster: AddressedCluster): Promise<readonly string[]> => {
  const names: string[] = [];
  for (let page: number | null = 1; page !== null; ) {
    const path = `organizations?page[size]=100&page[number]=${page}`;
    const { body } = await cluster.api('GET', path, undefined, primary.apiToken);
    const found: readonly { readonly id: string }[] = body.data;
    names.push(...found.map(({ id }) => id));
    page = body.meta.pagination['next-page'];
  }
  return names;
};

const heldBy = async (cluster: AddressedCluster): Promise<ReadonlySet<string>> => {
  const policies = await cluster.v1('LIST', 'sys/policies/acl');
  const roles = await cluster.v1('LIST', 'pki/roles');
  return new Set([
    ...policies.body.data.keys,
    ...roles.body.data.keys,
    ...(await organizationsOf(cluster)),
  ]);
};

/** Writes one after the other until `stop` is called, which resolves when the last is answered. */
const startWriting = (cluster: AddressedCluster, prefix: string, ledger: WriteLedger) => {
  let isStopped = false;
  const writing = (async () => {
    for (let turn = 0; !isStopped; turn += 1) {
      const key = `${prefix}-${turn}`;
      await ledger.attempt(key, () => write(cluster, key, turn));
    }
  })();
  return async (): Promise<void> => {
    isStopped = true;
    await writing;
  };
};

const rootsOf = (leader: AddressedCluster, follower: AddressedCluster) =>
  [
    async () => (await leader.status('performance'))?.merkle_root as string,
    async () => (await follower.status('performance'))?.merkle_root as string,
  ] as const;

/** The root of what crosses to the branch, and the branch's own. */
const filteredRootsOf = (leader: AddressedCluster, follower: AddressedCluster) =>
  [
    async () => {
      const [told] = (await leader.status('performance'))?.secondaries ?? [];
      return told?.filtered === true ? (told.merkle_root as string) : '';
    },
    rootsOf(leader, follower)[1],
  ] as const;

const FILTER = `${PERFORMANCE}/primary/paths-filter/branch`;

describe('services in processes of their own, with replicas', { timeout: WITHIN_MS }, () => {
  test('become primaries and secondaries', async () => {
    // Until pki has announced its engines.
    await until(
      () => primary.v1('POST', 'sys/mounts/pki', { type: 'pki' }),
      ({ status }) => status === 204,
    );
    await until(
      () =>
        primary.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' }),
      ({ status }) => status === 200,
    );
    await ok(primary, 'POST', 'pki/roles/web', { allow_any_name: true, key_type: 'ec' });
    await ok(primary, 'POST', `${PERFORMANCE}/primary/enable`);
    await ok(primary, 'POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, spare, 'spare');
    await attach('performance', primary, branch, 'branch');
    branch.token = await generateRoot(branch, primary.shares);
    await untilEqual('performance', primary, branch);
    await untilEqual('dr', primary, spare);
    expect((await primary.v1('GET', 'sys/replication/status')).body.data).toMatchObject({
      dr: { mode: 'primary', known_secondaries: ['spare'] },
      performance: { mode: 'primary', known_secondaries: ['branch'] },
    });
  });

  test('report the same status, whichever replicas answer', async () => {
    for (let times = 0; times < 8; times += 1) {
      expect(await branch.status('performance')).toMatchObject({
        mode: 'secondary',
        state: 'stream-wals',
        connection_state: 'ready',
      });
      const { secondaries } = await primary.status('performance');
      expect(secondaries).toMatchObject([{ node_id: 'branch', connection_status: 'connected' }]);
    }
  });

  test('forward writes, which every replica reads at once', async () => {
    for (let turn = 0; turn < 12; turn += 1) {
      expect(await write(branch, `forwarded-${turn}`, turn)).toBeLessThan(300);
      expect(await heldBy(branch)).toContain(`forwarded-${turn}`);
    }
    expect(await heldBy(primary)).toContain('forwarded-11');
    await ok(branch, 'POST', 'pki/issue/web', { common_name: 'a.example', ttl: '1h' });
  });

  test('withhold a mount from the branch, whichever replicas answer', async () => {
    for (const path of ['kept', 'team/kept']) {
      if (path.startsWith('team/')) await ok(primary, 'POST', 'sys/namespaces/team');
      await ok(primary, 'POST', path.replace(/kept$/, 'sys/mounts/kept'), { type: 'pki' });
      await until(
        () => branch.v1('POST', `${path}/roles/before`, { allow_any_name: true }),
        ({ status }) => status === 200,
      );
    }
    const leased = await until(
      async () => {
        await primary.v1('POST', 'kept/root/generate/internal', { common_name: 'Kept' });
        await primary.v1('POST', 'kept/roles/leased', {
          allow_any_name: true,
          generate_lease: true,
        });
        return branch.v1('POST', 'kept/issue/leased', { common_name: 'a.example', ttl: '1h' });
      },
      ({ status }) => status === 200,
    );
    await ok(primary, 'POST', FILTER, { mode: 'deny', paths: ['kept', 'team'] });
    for (const path of ['kept/roles/before', 'team/kept/roles/before'])
      for (let times = 0; times < 2; times += 1)
        await until(
          () => branch.v1('GET', path),
          ({ status }) => status === 404,
        );
    await until(
      () => branch.v1('POST', 'sys/leases/lookup', { lease_id: leased.body.lease_id }),
      ({ status }) => status === 400,
    );
    for (const [side, cluster] of [
      ['primary', primary],
      ['secondary', branch],
    ] as const)
      for (let times = 0; times < 2; times += 1)
        expect(
          (await cluster.v1('GET', `${PERFORMANCE}/${side}/dynamic-filter/branch`)).body.data,
        ).toEqual({
          dynamic_filtered_mounts: ['kept/', 'team/kept/'],
          dynamic_filtered_namespaces: ['team/'],
        });
  });

  test('lose nothing when a replica of each is killed during writes, and withhold what is denied', async () => {
    const ledger = new WriteLedger();
    const stopWriting = startWriting(branch, 'killed', ledger);
    for (const cluster of [primary, branch])
      for (const service of DISTRIBUTED_SERVICES) {
        const [first] = cluster.processes[service];
        await first?.kill();
        const { length } = ledger.acknowledged;
        await until(
          async () => ledger.acknowledged.length,
          (count) => count > length + 3,
        );
        const kept = `kept/roles/${cluster === primary ? 'a' : 'b'}-${service}`;
        await until(
          () => primary.v1('POST', kept, { allow_any_name: true }),
          ({ status }) => status === 200,
        );
        await first?.start();
      }
    await stopWriting();
    await untilStreaming('performance', branch);
    expect(
      await findBroken({
        ledger,
        held: await heldBy(primary),
        roots: { branch: filteredRootsOf(primary, branch) },
      }),
    ).toEqual([]);
    expect((await branch.v1('GET', 'sys/mounts')).body.data).not.toHaveProperty('kept/');
  });

  test('send everything when the filter is removed', async () => {
    await ok(primary, 'DELETE', FILTER);
    await untilEqual('performance', primary, branch);
    expect((await branch.v1('LIST', 'kept/roles')).body.data.keys).toEqual(
      (await primary.v1('LIST', 'kept/roles')).body.data.keys,
    );
  });

  test('swap roles during writes, and nothing acknowledged is lost', async () => {
    const ledger = new WriteLedger();
    const writers = ['a', 'b', 'c', 'd'].map((name) =>
      startWriting(primary, `switched-${name}`, ledger),
    );
    await until(
      async () => ledger.acknowledged.length,
      (count) => count > 20,
    );
    await ok(primary, 'POST', `${PERFORMANCE}/primary/demote`);
    for (const stop of writers) await stop();
    const promoted = await until(
      () => branch.v1('POST', `${PERFORMANCE}/secondary/promote`),
      ({ status }) => status !== 503,
    );
    expect(promoted).toMatchObject({ status: 200 });
    primary.token = await until(
      () => generateRoot(primary, primary.shares).catch(() => ''),
      (token) => token !== '',
    );
    await follow('performance', branch, primary, 'former');
    expect(
      await findBroken({
        ledger,
        held: await heldBy(branch),
        roots: { former: rootsOf(branch, primary) },
      }),
    ).toEqual([]);
    expect(await write(primary, 'back', 0)).toBe(204);
    expect(await heldBy(branch)).toContain('back');
  });

  test('are replaced by their DR secondary, which loses no more than its lag', async () => {
    const ledger = new WriteLedger();
    const stopWriting = startWriting(primary, 'lost', ledger);
    await until(
      async () => ledger.acknowledged.length,
      (count) => count > 20,
    );
    // The primary's view: it has every acknowledged write, and has heard the spare's position.
    const mark = await ledger.mark(
      async () => (await primary.status('dr')).secondaries[0].lag_entries,
    );
    for (const one of Object.values(primary.processes).flat()) await one.kill();
    await stopWriting();
    const token = await generateOperationToken(spare, primary.shares);
    const promoted = await spare.v1('POST', 'sys/replication/dr/secondary/promote', {
      dr_operation_token: token,
      force: true,
    });
    expect(promoted).toMatchObject({ status: 200 });
    spare.token = primary.token;
    await untilStreaming('performance', spare);
    expect(
      await findBroken({
        ledger,
        held: await heldBy(spare),
        mark,
        roots: { spare: rootsOf(branch, spare) },
      }),
    ).toEqual([]);
  });
});
