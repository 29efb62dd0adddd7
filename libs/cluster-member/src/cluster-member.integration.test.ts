import { setImmediate } from 'node:timers/promises';
import { InProcessBus } from '@keelson/bus';
import { ManualClock, systemClock } from '@keelson/clock';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import type { ClusterState } from '@keelson/proto/sys/v1/cluster';
import type { ReplicationRole } from '@keelson/proto/sys/v1/replication';
import { findCanary, finishActivation } from '@keelson/replication';
import { createBarrier, openBarrierFor, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import {
  type ClusterMember,
  composeServiceReplication,
  followCluster,
  type ReplicationMember,
  type ReplicationParts,
  type ReplicationTransport,
} from './cluster-member.ts';

const state = (change: Partial<ClusterState>): ClusterState => ({
  initialized: true,
  sealed: false,
  serviceKey: Buffer.alloc(32, 1),
  keyringTerm: 1,
  clusterId: '',
  clusterName: '',
  unreadableMountUuids: [],
  formerServiceKeys: [],
  mounts: [],
  replicationRoles: [],
  ...change,
});

test('a member opens its store, follows the key term, and drops the key on seal, in the order of the states', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  const logger = createLogger({ name: 'test', level: 'silent' });
  const { member: replication } = composeServiceReplication(
    { store, barrier, leases: new InProcessLeaseStore(), clock: systemClock },
    {
      service: 'pki',
      logger,
    },
  );
  const seen: string[] = [];
  const note = (what: string): void => {
    seen.push(`${what} ${barrier.isSealed ? 'sealed' : `term ${barrier.term}`}`);
  };
  const states = [
    state({ sealed: true, serviceKey: Buffer.alloc(0) }),
    state({}),
    state({ keyringTerm: 3 }),
    state({ sealed: true, serviceKey: Buffer.alloc(0) }),
    state({ keyringTerm: 3 }),
  ];
  const member: ClusterMember = {
    store,
    barrier,
    cluster: {
      join: async function* () {
        yield* states;
      },
    } as ClusterMember['cluster'],
    logger,
    replication,
    request: { service: 'pki', instanceId: 'one', version: '1', engines: [] },
    onUnsealed: async () => note('unsealed'),
    onMounts: async () => note('mounts'),
    onSealed: () => note('sealed'),
  };
  await expect(followCluster(member, new AbortController().signal)).rejects.toThrow('ended');
  expect(seen).toEqual([
    'sealed sealed',
    'unsealed term 1',
    'mounts term 1',
    'mounts term 3',
    'sealed sealed',
    'unsealed term 3',
    'mounts term 3',
  ]);
  await store.close();
});

const orphan = (generation: string): ReplicationRole => ({
  kind: 'performance',
  role: 'secondary',
  clusterId: 'set',
  generation,
  link: undefined,
  activation: '',
  previousServiceKey: Buffer.alloc(0),
});

test('roles are applied when the member acts on all of them, and not while it acts on others', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  const clock = new ManualClock();
  const { member } = composeServiceReplication(
    { store, barrier, leases: new InProcessLeaseStore(), clock },
    {
      service: 'pki',
      logger: createLogger({ name: 'test', level: 'silent' }),
    },
  );
  const kept: ReplicationRole = { ...orphan('kept'), kind: 'dr' };
  const second = member.waitForRoles({ performance: 'second', dr: 'kept' });
  await member.follow([orphan('first'), kept], Buffer.alloc(32));
  expect(await member.waitForRoles({ performance: 'first', dr: 'kept' })).toBe(true);
  await member.follow([orphan('second'), kept], Buffer.alloc(32));
  expect(await second).toBe(true);
  const never = member.waitForRoles({ performance: 'second', dr: '' });
  clock.advance(12_000);
  expect(await never).toBe(false);
  await store.close();
});

test('a report waits until the replica takes up the role, and not for long', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  const rootKey = Buffer.alloc(32, 1);
  await openBarrierFor(store, barrier, rootKey);
  const clock = new ManualClock();
  const { member, rpc } = composeServiceReplication(
    { store, barrier, leases: new InProcessLeaseStore(), clock },
    { service: 'pki', logger: createLogger({ name: 'test', level: 'silent' }) },
  );
  const seen: string[] = [];
  const ask = () =>
    rpc.report({ kind: 'performance', measure: false }).then(() => seen.push('reported'));
  const early = ask();
  // Enough commits to answer a report that does not wait.
  for (let times = 0; times < 20; times += 1)
    await store.transact((tx) => tx.write('node/other', Buffer.from(`${times}`)));
  seen.push('follows');
  await member.follow([orphan('first')], rootKey);
  await early;
  await member.stop();
  const late = ask();
  seen.push('the time is over');
  clock.advance(2000);
  await late;
  expect(seen).toEqual(['follows', 'reported', 'the time is over', 'reported']);
  await store.close();
});

test('a cluster demoted in one set writes no canary for the other', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  await openBarrierFor(store, barrier, Buffer.alloc(32, 1));
  const clock = new ManualClock();
  const bus = new InProcessBus();
  const { member } = composeServiceReplication(
    {
      store,
      barrier,
      leases: new InProcessLeaseStore(),
      clock,
      replication: {
        transport: {
          bus,
          clusterAddress: 'here',
          apiAddress: '',
          connect: () => Promise.resolve(bus),
        },
        // No secondary follows this cluster, so the membership of a set is never requested.
        sets: {} as ReplicationParts['sets'],
      },
    },
    {
      service: 'pki',
      logger: createLogger({ name: 'test', level: 'silent' }),
    },
  );
  const disasterPrimary: ReplicationRole = { ...orphan('dr'), kind: 'dr', role: 'primary' };
  await member.follow([disasterPrimary], Buffer.alloc(32));
  for await (const _ of store.wal.follow(0, new AbortController().signal))
    if ((await findCanary(store)) !== undefined) break;
  const before = await findCanary(store);
  await member.follow([orphan('secondary'), disasterPrimary], Buffer.alloc(32));
  clock.advance(5000);
  await setImmediate();
  // Waits until pending writes are finished.
  await member.stop();
  expect(await findCanary(store)).toEqual(before);
  await store.close();
});

test('a role is applied when every running replica acts on it', {
  timeout: 60_000,
}, async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  await openBarrierFor(store, barrier, Buffer.alloc(32, 1));
  const bus = new InProcessBus();
  const transport: ReplicationTransport = {
    bus,
    clusterAddress: 'here',
    apiAddress: '',
    connect: () => Promise.resolve(bus),
  };
  const openReplica = (leases: InProcessLeaseStore) =>
    composeServiceReplication(
      {
        store,
        barrier,
        leases,
        clock: systemClock,
        replication: { transport, sets: {} as ReplicationParts['sets'] },
      },
      {
        service: 'pki',
        logger: createLogger({ name: 'test', level: 'silent' }),
      },
    ).member;
  const leases = new InProcessLeaseStore();
  const [first, second] = [openReplica(leases), openReplica(leases)];
  // Its lease is invisible to the others, as that of a process that was killed.
  const gone = openReplica(new InProcessLeaseStore());
  const follow = (replica: ReplicationMember, generation: string) =>
    replica.follow([orphan(generation)], Buffer.alloc(32));
  for (const replica of [first, second, gone]) await follow(replica, 'first');
  await follow(first, 'second');
  const seen: string[] = [];
  const applied = first.waitForRoles({ performance: 'second', dr: '' }).then((isApplied) => {
    seen.push('applied');
    return isApplied;
  });
  // Enough commits to end a wait that would end too early.
  for (let times = 0; times < 20; times += 1)
    await store.transact((tx) => tx.write('node/other', Buffer.from(`${times}`)));
  seen.push('the second begins');
  await follow(second, 'second');
  expect(await applied).toBe(true);
  expect(seen).toEqual(['the second begins', 'applied']);
  // A sealed replica acts on no roles and delays no other replica.
  await follow(first, 'third');
  await second.stop();
  expect(await first.waitForRoles({ performance: 'third', dr: '' })).toBe(true);
  for (const replica of [first, gone]) await replica.stop();
  await store.close();
});

test('a member that opened with the former key continues with the primary’s key, which another replica adopted', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const others = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  const formerKey = Buffer.alloc(32, 1);
  const primaryKey = Buffer.alloc(32, 2);
  await openBarrierFor(store, others, formerKey);
  const wrappedKeyring = createBarrier().initialize(primaryKey);
  class LeasesOfTwo extends InProcessLeaseStore {
    override async acquire(...given: Parameters<InProcessLeaseStore['acquire']>) {
      const taken = { rootKey: primaryKey, wrappedKeyring };
      await finishActivation(store, others, 'performance', 'activation', taken);
      return super.acquire(...given);
    }
  }
  const logger = createLogger({ name: 'test', level: 'silent' });
  const { member: replication } = composeServiceReplication(
    { store, barrier, leases: new LeasesOfTwo(), clock: systemClock },
    {
      service: 'pki',
      logger,
    },
  );
  const role: ReplicationRole = {
    kind: 'performance',
    role: 'secondary',
    clusterId: 'set',
    generation: 'first',
    link: undefined,
    activation: 'activation',
    previousServiceKey: formerKey,
  };
  const member: ClusterMember = {
    store,
    barrier,
    cluster: {
      join: async function* () {
        yield state({ serviceKey: primaryKey, replicationRoles: [role] });
      },
    } as ClusterMember['cluster'],
    logger,
    replication,
    request: { service: 'pki', instanceId: 'one', version: '1', engines: [] },
  };
  await expect(followCluster(member, new AbortController().signal)).rejects.toThrow('ended');
  const sealed = barrier.encrypt('shared/a', Buffer.from('value'));
  expect(Buffer.from(others.decrypt('shared/a', sealed)).toString()).toBe('value');
  await store.close();
});

test.each([
  ['while it is open', [state({ serviceKey: Buffer.alloc(32, 1) })]],
  ['when it starts', []],
])('a member moves its keyring to a key that has replaced others, %s', async (_when, before) => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  const [first, second, third] = [1, 2, 3].map((byte) => Buffer.alloc(32, byte));
  if (first === undefined || second === undefined || third === undefined) return;
  const former = createBarrier();
  await openBarrierFor(store, former, first);
  const written = former.encrypt('shared/a', Buffer.from('value'));
  const logger = createLogger({ name: 'test', level: 'silent' });
  const { member: replication } = composeServiceReplication(
    { store, barrier, leases: new InProcessLeaseStore(), clock: systemClock },
    { service: 'pki', logger },
  );
  const member: ClusterMember = {
    store,
    barrier,
    cluster: {
      join: async function* () {
        yield* before;
        yield state({ serviceKey: third, formerServiceKeys: [first, second], keyringTerm: 2 });
      },
    } as ClusterMember['cluster'],
    logger,
    replication,
    request: { service: 'pki', instanceId: 'one', version: '1', engines: [] },
  };
  await expect(followCluster(member, new AbortController().signal)).rejects.toThrow('ended');
  expect(barrier.term).toBe(2);
  expect(Buffer.from(barrier.decrypt('shared/a', written)).toString()).toBe('value');
  await expect(openBarrierFor(store, createBarrier(), first)).rejects.toThrow('root key');
  await openBarrierFor(store, createBarrier(), third);
  await store.close();
});
