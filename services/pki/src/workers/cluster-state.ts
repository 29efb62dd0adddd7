/** What this service does as the state of the cluster changes: knows its mounts, cleans after those that went. */
import { type ClusterMember, followCluster as followAsMember } from '@keelson/cluster-member';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { MountCleaning } from '../mounts/mount-cleaning.ts';
import { PKI_ENGINE } from '../special-paths.ts';

export interface ClusterFollower
  extends Pick<ClusterMember, 'store' | 'barrier' | 'cluster' | 'logger'> {
  readonly cleaning: MountCleaning;
  readonly instanceId: string;
  readonly version: string;
  /** Called when private keys must leave memory. */
  onSealed(): void;
  /** Called with the mounts of each state; there are none while sealed. */
  onMounts(mounts: readonly Mount[]): void;
}

/** Runs until `signal` aborts; throws when the stream breaks, to be started again. */
export const followCluster = (follower: ClusterFollower, signal: AbortSignal): Promise<void> => {
  const { store, barrier, cluster, logger, cleaning, instanceId, version } = follower;
  const member: ClusterMember = {
    store,
    barrier,
    cluster,
    logger,
    request: { service: 'pki', instanceId, version, engines: [PKI_ENGINE] },
    onMounts: async (mounts) => {
      follower.onMounts(mounts);
      const removed = await cleaning.reconcile(mounts.map(({ uuid }) => uuid));
      if (removed.length > 0)
        logger.info({ mounts: removed }, 'removed what unmounted engines kept');
    },
    onSealed: () => {
      follower.onMounts([]);
      follower.onSealed();
    },
  };
  return followAsMember(member, signal);
};
