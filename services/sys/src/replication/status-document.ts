/** Replication status with the names and types of the administration document: many numbers are strings. */
import { createHash } from 'node:crypto';
import type { ReplicationPeer, ReplicationReport } from '@keelson/proto/sys/v1/replication';
import {
  NEVER_CHECKED,
  NEVER_REINDEXED,
  type PeerDocument,
  type ReplicationKind,
  toEpochText,
  toPeerDocument,
  toTimestamp,
} from '@keelson/replication';
import type { JsonObject } from '@keelson/secrets-api';
import type { PrimaryRoleRecord, SecondaryRoleRecord } from './replication-records.ts';
import type { ServiceReport } from './service-members.ts';

const HEARTBEAT_INTERVAL_MS = 5000;

/** From best to worst; the cluster shows the worst value of its services. */
const STATES = ['stream-wals', 'merkle-sync', 'merkle-diff', 'idle', 'shutdown'];
const CONNECTIONS = ['ready', 'connecting', 'idle', 'transient_failure', 'shutdown'];

const worst = (order: readonly string[], values: readonly string[]): string =>
  order[Math.max(0, ...values.map((value) => order.indexOf(value)))] ?? '';

const sum = (values: readonly bigint[]): number =>
  Number(values.reduce((total, value) => total + value, 0n));

const max = (values: readonly bigint[]): number =>
  values.reduce((largest, value) => Math.max(largest, Number(value)), 0);

const answered = (reports: readonly ServiceReport[]): readonly ReplicationReport[] =>
  reports.flatMap(({ report }) => (report === undefined ? [] : [report]));

/** Combined root of all services, in their order; equal on both sides when the roots of all services are. */
const combinedRoot = (
  roots: readonly { readonly service: string; readonly root: string }[],
): string => {
  const lines = roots.map(({ service, root }) => `${service} ${root}`);
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 40);
};

const common = (reports: readonly ServiceReport[], promotion: number): JsonObject => {
  const known = answered(reports);
  const checkedAtMs = max(known.map((one) => one.checkedAtMs));
  const reindexedAtMs = max(known.map((one) => one.reindexedAtMs));
  return {
    corrupted_merkle_tree: known.some(({ corrupted }) => corrupted),
    last_corruption_check_epoch: checkedAtMs === 0 ? NEVER_CHECKED : toEpochText(checkedAtMs),
    last_reindex_epoch: reindexedAtMs === 0 ? NEVER_REINDEXED : toEpochText(reindexedAtMs),
    merkle_root: combinedRoot(
      reports.map(({ service, report }) => ({ service, root: report?.merkleRoot ?? '' })),
    ),
    ssct_generation_counter: promotion,
  };
};

const isNatsReached = (reports: readonly ServiceReport[]): boolean =>
  answered(reports).every(({ natsConnected }) => natsConnected);

const toPeer = (peer: ReplicationPeer, nowMs: number): PeerDocument =>
  toPeerDocument(
    {
      apiAddress: peer.apiAddress,
      clusterAddress: peer.clusterAddress,
      clockSkewMs: Number(peer.clockSkewMs),
      lastHeartbeatAtMs: Number(peer.lastHeartbeatAtMs),
      roundTripMs: Number(peer.roundTripMs),
      canaryAgeMs: peer.canaryAgeMs === undefined ? undefined : Number(peer.canaryAgeMs),
    },
    nowMs,
    HEARTBEAT_INTERVAL_MS,
  );

/** The peer as its last heartbeat reported it; an overdue heartbeat adds to the age of the canary. */
const agedSince = (peer: ReplicationPeer, nowMs: number): ReplicationPeer => {
  const overdueMs = nowMs - Number(peer.lastHeartbeatAtMs) - HEARTBEAT_INTERVAL_MS;
  return peer.canaryAgeMs === undefined || overdueMs <= 0
    ? peer
    : { ...peer, canaryAgeMs: peer.canaryAgeMs + BigInt(overdueMs) };
};

/** Age of the newest canary at the service that is furthest behind; null before the first canary. */
const lagMs = (peers: readonly (ReplicationPeer | undefined)[]): number | null => {
  const ages = peers.flatMap((peer) => (peer?.canaryAgeMs === undefined ? [] : [peer.canaryAgeMs]));
  return ages.length === 0 ? null : max(ages);
};

const peersOf = (
  reports: readonly ServiceReport[],
  nowMs: number,
): ReadonlyMap<string, ReplicationPeer[]> => {
  const peers = new Map<string, ReplicationPeer[]>();
  for (const { side } of answered(reports))
    if (side?.$case === 'primary')
      for (const peer of side.value.secondaries)
        peers.set(peer.id, [...(peers.get(peer.id) ?? []), agedSince(peer, nowMs)]);
  return peers;
};

/** Root of the data that crosses to a secondary; "" until every service has computed its filtered root. */
const rootFor = (reports: readonly ServiceReport[], id: string): string => {
  const roots = reports.map(({ service, report }) => {
    const peers = report?.side?.$case === 'primary' ? report.side.value.secondaries : [];
    const peer = peers.find((one) => one.id === id);
    const root = peer?.filtered === true ? peer.merkleRoot : (report?.merkleRoot ?? '');
    return { service, root };
  });
  return roots.some(({ root }) => root === '') ? '' : combinedRoot(roots);
};

/** Facts about the set that this cluster leads. */
export interface SetFacts {
  readonly knownSecondaries: readonly string[];
  readonly promotion: number;
  /** Another cluster leads the set now. */
  readonly isSuperseded: boolean;
}

export const toPrimaryStatus = (
  kind: ReplicationKind,
  role: PrimaryRoleRecord,
  { knownSecondaries, promotion, isSuperseded }: SetFacts,
  reports: readonly ServiceReport[],
  nowMs: number,
): JsonObject => {
  const lastWal = sum(answered(reports).map((one) => one.lastWal));
  const secondaries = [...peersOf(reports, nowMs)].map(([id, peers]) => {
    const [first] = peers;
    return {
      ...(first && toPeer(first, nowMs)),
      node_id: id,
      local_cluster_id: first?.localClusterId ?? '',
      filtered: peers.some(({ filtered }) => filtered),
      merkle_root: rootFor(reports, id),
      last_remote_wal: sum(peers.map((peer) => peer.lastRemoteWal)),
      lag_entries: Math.max(0, lastWal - sum(peers.map((peer) => peer.lastRemoteWal))),
      lag_ms: lagMs(peers),
      bytes_shipped: sum(peers.map((peer) => peer.bytesShipped)),
      resync_records: sum(peers.map((peer) => peer.resyncRecords)),
      resync_bytes: sum(peers.map((peer) => peer.resyncBytes)),
    };
  });
  return {
    ...common(reports, promotion),
    cluster_id: role.clusterId,
    known_secondaries: knownSecondaries,
    last_wal: lastWal,
    [kind === 'dr' ? 'last_dr_wal' : 'last_performance_wal']: lastWal,
    mode: 'primary',
    nats_connected: isNatsReached(reports),
    primary_cluster_addr: role.primaryClusterAddress,
    secondaries,
    state: isSuperseded ? 'superseded' : 'running',
  };
};

export const toSecondaryStatus = (
  role: SecondaryRoleRecord,
  reports: readonly ServiceReport[],
  nowMs: number,
): JsonObject => {
  const sides = reports.map(({ report }) =>
    report?.side?.$case === 'secondary' ? report.side.value : undefined,
  );
  const known = sides.filter((side) => side !== undefined);
  const isOrphan = role.link === undefined;
  const isBootstrapping =
    !isOrphan && (known.length < sides.length || known.some(({ mode }) => mode !== 'secondary'));
  const primary = known[0]?.primary;
  const addresses = new Set([
    ...(role.link?.addresses ?? []),
    ...known.flatMap((side) => side.primaryClusterAddresses).filter((address) => address !== ''),
  ]);
  return {
    ...common(reports, max(known.map((side) => side.promotion))),
    cluster_id: role.clusterId,
    connection_state: isOrphan
      ? 'shutdown'
      : worst(
          CONNECTIONS,
          sides.map((side) => side?.connectionState ?? 'connecting'),
        ),
    known_primary_cluster_addrs: [...addresses],
    last_remote_wal: sum(known.map((side) => side.lastRemoteWal)),
    last_start: toTimestamp(max(known.map((side) => side.lastStartMs))),
    mode: isBootstrapping ? 'bootstrapping' : 'secondary',
    ...(!isOrphan && { nats_connected: isNatsReached(reports) }),
    primaries: primary === undefined ? [] : [toPeer(primary, nowMs)],
    primary_cluster_addr: role.primaryClusterAddress,
    secondary_id: role.link?.secondaryId ?? '',
    state: isOrphan
      ? 'idle'
      : worst(
          STATES,
          sides.map((side) => side?.state ?? 'idle'),
        ),
    lag_entries: known.reduce(
      (lag, side) => lag + Math.max(0, Number(side.lastKnownWal) - Number(side.lastRemoteWal)),
      0,
    ),
    lag_ms: lagMs(known.map((side) => side.primary)),
    bytes_received: sum(known.map((side) => side.bytesReceived)),
    resync_records: sum(known.map((side) => side.resyncRecords)),
    resync_bytes: sum(known.map((side) => side.resyncBytes)),
  };
};

/**
 * `data` of merkle-check: the trees of all services, each with its own number, and the derived tables that
 * differ from the records, as `<service>/<table>`.
 */
export const toMerkleReport = (
  reports: ReadonlyMap<string, string>,
  checkedAtMs: number,
): JsonObject => {
  let isCorrupted = false;
  const trees: Record<string, unknown> = {};
  const tables: string[] = [];
  for (const [service, text] of reports) {
    const report = JSON.parse(text) as {
      readonly corrupted_root: boolean;
      readonly corrupted_tree_map: Readonly<Record<string, JsonObject>>;
      readonly corrupted_tables: readonly string[];
    };
    isCorrupted ||= report.corrupted_root;
    tables.push(...report.corrupted_tables.map((table) => `${service}/${table}`));
    for (const tree of Object.values(report.corrupted_tree_map))
      trees[Object.keys(trees).length + 1] = { ...tree, service };
  }
  // The documents place the time inside the report; some clients look for it outside.
  const checked = { last_corruption_check_epoch: toTimestamp(checkedAtMs) };
  return {
    merkle_corruption_report: {
      corrupted_root: isCorrupted,
      corrupted_tree_map: trees,
      corrupted_tables: tables,
      ...checked,
    },
    ...checked,
  };
};
