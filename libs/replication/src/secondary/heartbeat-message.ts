/** The heartbeat of a secondary as sent, and the status that follows from the primary's answer. */
import type { Heartbeat, HeartbeatAnswer } from '@keelson/proto/replication/v1/replication';
import { clockSkewMs, lagEntryCount, roundTripMs } from '../domain/heartbeat.ts';
import type { SecondaryStatus } from './follower-records.ts';

/** The content of a heartbeat in addition to the status. */
export interface HeartbeatFacts
  extends Pick<Heartbeat, 'apiAddress' | 'clusterAddress' | 'localClusterId'> {
  readonly sentAtMs: number;
  /** Delay of the newest canary; undefined if it cannot be read. */
  readonly canaryAgeMs: number | undefined;
}

export const toHeartbeat = (status: SecondaryStatus, facts: HeartbeatFacts): Heartbeat => {
  const { sentAtMs, canaryAgeMs, ...addresses } = facts;
  const { heartbeat: before, resync } = status;
  return {
    ...addresses,
    sentAtMs: BigInt(sentAtMs),
    lastRemoteWal: BigInt(status.lastRemoteWal),
    ...(canaryAgeMs !== undefined && { canaryAgeMs: BigInt(Math.round(canaryAgeMs)) }),
    clockSkewMs: BigInt(before?.clockSkewMs ?? 0),
    roundTripMs: BigInt(before?.roundTripMs ?? 0),
    bytesReceived: BigInt(status.bytesReceived),
    resyncRecords: BigInt(resync.records),
    resyncBytes: BigInt(resync.bytes),
  };
};

/** The part of the status that an answer changes. */
export const afterAnswer = (
  { lastRemoteWal }: SecondaryStatus,
  answer: HeartbeatAnswer,
  { sentAtMs, receivedAtMs }: { readonly sentAtMs: number; readonly receivedAtMs: number },
): Pick<SecondaryStatus, 'lastKnownWal' | 'heartbeat'> => {
  const { primaryClusterAddresses, primaryApiAddress } = answer;
  const lastWal = Number(answer.lastWal);
  const times = { sentAtMs, receivedAtMs, primaryNowMs: Number(answer.nowMs) };
  return {
    lastKnownWal: Math.max(lastWal, lastRemoteWal),
    heartbeat: {
      atMs: receivedAtMs,
      clockSkewMs: clockSkewMs(times),
      roundTripMs: roundTripMs(times),
      primaryClusterAddresses,
      primaryApiAddress,
      lagEntryCount: lagEntryCount(lastWal, lastRemoteWal),
    },
  };
};
