import { systemClock } from '@keelson/clock';
import { InProcessLeaseStore } from '@keelson/locks';
import { createLogger } from '@keelson/logging';
import type { ClusterState } from '@keelson/proto/sys/v1/cluster';
import { createBarrier, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { type ClusterMember, composeServiceReplication, followCluster } from './cluster-member.ts';

const state = (change: Partial<ClusterState>): ClusterState => ({
  initialized: true,
  sealed: false,
  serviceKey: Buffer.alloc(32, 1),
  keyringTerm: 1,
  clusterId: '',
  clusterName: '',
  mounts: [],
  replicationRoles: [],
  ...change,
});

test('a member opens its store, follows the term, and lets go on seal, in the order of the states', async () => {
  await using folder = await temporaryDirectory();
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: `${folder.path}/store.db`, barrier });
  const logger = createLogger({ name: 'test', level: 'silent' });
  const { member: replication } = composeServiceReplication(
    { store, barrier, leases: new InProcessLeaseStore(), clock: systemClock },
    {
      service: 'pki',
      logger,
      edge: () => {
        throw new Error('nobody forwards');
      },
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
