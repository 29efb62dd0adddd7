/**
 * Replication status as the administration document shows it. Ages, skews and epochs are strings there;
 * log positions are numbers.
 */
import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { connectionStatusOf } from './heartbeat.ts';

/** Facts about the peer cluster that the status shows. */
export const peerFactsShape = Type.Object({
  apiAddress: Type.String(),
  clusterAddress: Type.String(),
  clockSkewMs: Type.Number(),
  /** By the clock of the cluster that shows the status. */
  lastHeartbeatAtMs: Type.Number(),
  roundTripMs: Type.Number(),
  /** Absent before the first canary arrives. */
  canaryAgeMs: Type.Optional(Type.Number()),
});
export type PeerFacts = Shaped<typeof peerFactsShape>;

/** An element of `primaries`; with `node_id` one of `secondaries`. */
export interface PeerDocument {
  readonly api_address: string;
  readonly cluster_address: string;
  readonly clock_skew_ms: string;
  readonly connection_status: 'connected' | 'disconnected';
  readonly last_heartbeat: string;
  readonly last_heartbeat_duration_ms: string;
  readonly replication_primary_canary_age_ms: string;
}

/** RFC 3339 in UTC, to the second. */
export const toTimestamp = (epochMs: number): string =>
  `${new Date(epochMs).toISOString().slice(0, 19)}Z`;

/** Unix seconds as text. */
export const toEpochText = (epochMs: number): string => String(Math.floor(epochMs / 1000));

/** `last_corruption_check_epoch` before the first check. */
export const NEVER_CHECKED = '-62135596800';
/** `last_reindex_epoch` before the first reindex. */
export const NEVER_REINDEXED = '0';

/** One of `secondaries` or `primaries` of a status, as clients read it. */
export const toPeerDocument = (
  peer: PeerFacts,
  nowMs: number,
  heartbeatIntervalMs: number,
): PeerDocument => ({
  api_address: peer.apiAddress,
  cluster_address: peer.clusterAddress,
  clock_skew_ms: String(peer.clockSkewMs),
  connection_status: connectionStatusOf(peer.lastHeartbeatAtMs, nowMs, heartbeatIntervalMs),
  last_heartbeat: toTimestamp(peer.lastHeartbeatAtMs),
  last_heartbeat_duration_ms: String(peer.roundTripMs),
  replication_primary_canary_age_ms: String(peer.canaryAgeMs ?? 0),
});
