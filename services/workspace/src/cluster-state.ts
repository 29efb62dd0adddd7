/** Membership of this service in its cluster. */
import { type ClusterMember, followCluster as followAsMember } from '@keelson/cluster-member';

export interface ClusterFollower
  extends Pick<ClusterMember, 'store' | 'barrier' | 'cluster' | 'logger' | 'replication'> {
  readonly instanceId: string;
  readonly version: string;
  /** Called each time the store becomes usable. */
  onUnsealed(): Promise<void>;
  /** Clears everything in memory that was read from the store. */
  onSealed(): void;
}

/** Runs until `signal` aborts. Throws when the stream breaks; the caller restarts it. */
export const followCluster = (
  { instanceId, version, ...follower }: ClusterFollower,
  signal: AbortSignal,
): Promise<void> =>
  followAsMember(
    { ...follower, request: { service: 'workspace', instanceId, version, engines: [] } },
    signal,
  );
