/** Membership of this service in its cluster. */
import { type ClusterMember, followCluster as followAsMember } from '@keelson/cluster-member';

export interface ClusterFollower
  extends Pick<ClusterMember, 'store' | 'barrier' | 'cluster' | 'logger' | 'replication'> {
  readonly instanceId: string;
  readonly version: string;
  /** Called each time the store has become usable. */
  onUnsealed(): Promise<void>;
  /** What was read of the store leaves memory. */
  onSealed(): void;
}

/** Runs until `signal` aborts; throws when the stream breaks, to be started again. */
export const followCluster = (
  { instanceId, version, ...follower }: ClusterFollower,
  signal: AbortSignal,
): Promise<void> =>
  followAsMember(
    { ...follower, request: { service: 'workspace', instanceId, version, engines: [] } },
    signal,
  );
