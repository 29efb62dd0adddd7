/**
 * The replication state that a service reports to sys, and the maintenance of its trees on request of sys.
 */
import type {
  ReplicationMemberDefinition,
  ReplicationPeer,
  ReplicationReport,
} from '@keelson/proto/sys/v1/replication';
import {
  type Difference,
  guardWrites,
  type PeerFacts,
  REPLICATION_KINDS,
  type RecordGroups,
  type ReplicationKind,
  type SecondaryFacts,
  type SecondaryStatus,
} from '@keelson/replication';
import type { RpcService } from '@keelson/rpc';
import {
  type DamagedRecord,
  type MerkleCorruptionReport,
  SUBPAGES_PER_PAGE,
} from '@keelson/storage';
import { recordUpgradesRpc } from './record-upgrades.ts';
import { parseKind } from './remote-membership.ts';
import type { ReplicationMember } from './replication-member.ts';
import type { PrimaryRun, SecondaryRun } from './replication-runs.ts';
import { storeCopyRpc } from './store-copy.ts';
import { loadUpkeep, type Upkeep, writeUpkeep } from './upkeep-records.ts';

const NO_FILTER = { filtered: false, merkleRoot: '', localClusterId: '' };

const toPeer = (
  id: string,
  facts: PeerFacts & Pick<SecondaryFacts, 'lastRemoteWal' | 'bytesReceived' | 'resync'>,
  filter: Pick<ReplicationPeer, 'filtered' | 'merkleRoot' | 'localClusterId'> = NO_FILTER,
): ReplicationPeer => ({
  id,
  apiAddress: facts.apiAddress,
  clusterAddress: facts.clusterAddress,
  clockSkewMs: BigInt(facts.clockSkewMs),
  lastHeartbeatAtMs: BigInt(facts.lastHeartbeatAtMs),
  roundTripMs: BigInt(facts.roundTripMs),
  ...(facts.canaryAgeMs !== undefined && { canaryAgeMs: BigInt(Math.round(facts.canaryAgeMs)) }),
  lastRemoteWal: BigInt(facts.lastRemoteWal),
  bytesShipped: BigInt(facts.bytesReceived),
  resyncRecords: BigInt(facts.resync.records),
  resyncBytes: BigInt(facts.resync.bytes),
  ...filter,
});

/** Root of the records that cross to a secondary; its first computation continues in the background. */
const filteredRoot = async ({ views }: PrimaryRun, id: string) => {
  const reduced = await views.reducedTree(id).catch(() => undefined);
  if (reduced === undefined)
    return (await views.of(id, [])) === undefined ? {} : { filtered: true };
  const tree = reduced.current();
  tree.catch(() => undefined);
  if (!reduced.isCounted) return { filtered: true };
  const root = await tree.then((counted) => counted.rootDigest()).catch(() => new Uint8Array());
  return { filtered: true, merkleRoot: Buffer.from(root).toString('hex') };
};

const primarySide = async (run: PrimaryRun): Promise<ReplicationReport['side']> => {
  const known = await run.primary.secondaries();
  const secondaries = await Promise.all(
    known.map(async (one) =>
      toPeer(one.id, one, {
        ...NO_FILTER,
        localClusterId: one.localClusterId,
        ...(await filteredRoot(run, one.id)),
      }),
    ),
  );
  return { $case: 'primary', value: { secondaries } };
};

const primaryPeer = (
  status: SecondaryStatus,
  canaryAgeMs: number | undefined,
): ReplicationPeer | undefined =>
  status.heartbeat &&
  toPeer('', {
    apiAddress: status.heartbeat.primaryApiAddress ?? '',
    clusterAddress: status.heartbeat.primaryClusterAddresses[0] ?? '',
    clockSkewMs: status.heartbeat.clockSkewMs,
    lastHeartbeatAtMs: status.heartbeat.atMs,
    roundTripMs: status.heartbeat.roundTripMs,
    canaryAgeMs,
    lastRemoteWal: status.lastRemoteWal,
    bytesReceived: status.bytesReceived,
    resync: status.resync,
  });

const secondarySide = async (
  { secondary }: SecondaryRun,
  kind: ReplicationKind,
  measure: boolean,
  groups: RecordGroups,
): Promise<ReplicationReport['side']> => {
  const status = await secondary.reportedStatus();
  const isWhole = await secondary.followed.isWhole(kind);
  const lag = measure && !isWhole ? await secondary.lag() : { inStream: 0, known: 0 };
  const known = isWhole ? 0 : status.lastKnownWal;
  return {
    $case: 'secondary',
    value: {
      state: status.state,
      mode: status.mode,
      connectionState: status.connectionState,
      lastRemoteWal: BigInt(status.lastRemoteWal),
      lastKnownWal: BigInt(Math.max(known, status.lastRemoteWal + lag.known)),
      lastStartMs: BigInt(status.lastStartMs),
      bytesReceived: BigInt(status.bytesReceived),
      resyncRecords: BigInt(status.resync.records),
      resyncBytes: BigInt(status.resync.bytes),
      primary: primaryPeer(status, await secondary.canaryAgeMs()),
      primaryClusterAddresses: [...(status.heartbeat?.primaryClusterAddresses ?? [])],
      activated: true,
      whole: isWhole,
      holdsAll: await secondary.followed.holds((group) => groups.prefixesOf(group).length > 0),
      inStream: BigInt(lag.inStream),
      promotion: BigInt(await secondary.promotion.load()),
    },
  };
};

const toSuspects = ({ corrupted_tree_map: trees }: MerkleCorruptionReport): Difference =>
  Object.values(trees).map(({ tree_type: tree, corrupted_index_tuples_map: pages }) => [
    tree,
    Object.entries(pages ?? {}).flatMap(([page, { subpages }]) =>
      subpages.map((subpage) => Number(page) * SUBPAGES_PER_PAGE + subpage),
    ),
  ]);

const toDifference = (damaged: readonly DamagedRecord[]): Difference =>
  damaged.map(({ tree, subpage }) => [tree, [subpage]]);

export const replicationMemberRpc = (
  member: ReplicationMember,
): RpcService<typeof ReplicationMemberDefinition> => {
  const { store, clock } = member.parts;
  const note = (change: (known: Upkeep) => Partial<Upkeep>): Promise<void> =>
    store.transact(async (tx) => {
      const known = await loadUpkeep(tx);
      writeUpkeep(tx, { ...known, ...change(known) });
    });
  const check = async ({ treesOnly }: { readonly treesOnly: boolean }) => {
    const trees = await store.merkle.check();
    const tables = treesOnly ? [] : await store.findDamagedProjections();
    const areTreesCorrupted =
      trees.corrupted_root ||
      Object.values(trees.corrupted_tree_map).some((tree) => tree.corrupted_subtree_root);
    const isCorrupted = areTreesCorrupted || tables.length > 0;
    await note((known) => ({
      checkedAtMs: clock.nowMs(),
      // Damage of the tables that a complete check has found.
      isCorrupted: isCorrupted || (treesOnly && known.isCorrupted),
    }));
    return { trees, areTreesCorrupted, tables, isCorrupted };
  };
  /**
   * Records first, because trees built from damaged records would hide the damage.
   * @returns false when there is no primary to fetch them from
   */
  const repair = async (suspects: Difference): Promise<boolean> => {
    let isSecondary = false;
    for (const kind of REPLICATION_KINDS) {
      const run = member.runOf(kind);
      if (run?.role !== 'secondary') continue;
      isSecondary = true;
      await run.secondary.repair(suspects);
    }
    return isSecondary;
  };
  return {
    report: async ({ kind: given, measure }) => {
      const kind = parseKind(given);
      const run = await member.settledRunOf(kind);
      const roots = await store.merkle.roots();
      const upkeep = await loadUpkeep(store);
      return {
        lastWal: BigInt(await store.wal.headSequence()),
        merkleRoot: kind === 'dr' ? roots.composite : roots.replicated,
        corrupted: upkeep.isCorrupted,
        checkedAtMs: BigInt(upkeep.checkedAtMs),
        reindexedAtMs: BigInt(upkeep.reindexedAtMs),
        natsConnected: run?.bus.status() === 'connected',
        side:
          run === undefined
            ? undefined
            : run.role === 'primary'
              ? await primarySide(run)
              : await secondarySide(run, kind, measure, member.parts.groups),
      };
    },
    recover: async ({ kind }) => {
      const run = member.runOf(parseKind(kind));
      if (run?.role === 'secondary') await run.secondary.recover();
      return {};
    },
    reindex: async ({ diff, force, skipFlush }) => {
      const checked = force ? undefined : await check({ treesOnly: false });
      if (checked?.areTreesCorrupted === true) await repair(toSuspects(checked.trees));
      const isCounted = !diff || checked?.areTreesCorrupted === true;
      const damaged = isCounted ? await store.merkle.rebuild() : [];
      const isRepaired = damaged.length === 0 || (await repair(toDifference(damaged)));
      // The trees still contain the damaged rows instead of the records that the repair fetched or removed.
      if (damaged.length > 0 && isRepaired) await store.merkle.rebuild();
      // Last, because the tables are derived from the records, which must be readable.
      if (isRepaired && (!diff || checked?.isCorrupted === true)) await store.rebuildProjections();
      if (!skipFlush) await store.merkle.save();
      await note(() => ({ reindexedAtMs: clock.nowMs(), isCorrupted: !isRepaired }));
      for (const kind of REPLICATION_KINDS) {
        const run = member.runOf(kind);
        if (run?.role === 'secondary') await run.secondary.compareAgain();
      }
      return {};
    },
    checkMerkle: async ({ treesOnly }) => {
      const { trees, tables, isCorrupted } = await check({ treesOnly });
      const report = { ...trees, corrupted_tables: tables };
      return { reportJson: JSON.stringify(report), corrupted: isCorrupted };
    },
    applyRoles: async ({ performanceGeneration: performance, drGeneration: dr }) => ({
      applied: await member.waitForRoles({ performance, dr }),
    }),
    refreshFilters: async () => {
      const run = member.runOf('performance');
      if (run?.role === 'primary') await run.refreshFilters();
      return {};
    },
    finishPublishing: async ({ kind }) => ({
      published: await member.finishPublishing(parseKind(kind)),
    }),
    ...recordUpgradesRpc(guardWrites(store, member.gate), member.gate),
    ...storeCopyRpc({
      store,
      barrier: member.parts.barrier,
      stopReplication: () => member.stop(),
    }),
  };
};
