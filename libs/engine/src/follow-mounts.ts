/**
 * Follows the state of the cluster: passes on its mounts, and deletes the records of mounts that were
 * removed.
 */
import { type ClusterMember, followCluster } from '@keelson/cluster-member';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { ClusterState, EngineDescription } from '@keelson/proto/sys/v1/cluster';
import type { MountCleaning } from './mount-cleaning.ts';

/** The cluster that a service belongs to. */
export interface ThisCluster {
  readonly id: string;
  /** Whether another cluster is the primary, which writes replicated records. */
  readonly isSecondary: boolean;
}

export interface MountFollower
  extends Pick<ClusterMember, 'store' | 'barrier' | 'cluster' | 'logger' | 'replication'> {
  /** Name of the service, and the engines that it serves. */
  readonly service: string;
  readonly engines: readonly EngineDescription[];
  readonly cleaning: MountCleaning;
  readonly instanceId: string;
  readonly version: string;
  /** Called when secrets must leave memory. */
  onSealed(): void;
  /** Called with the cluster's role before any work in that role. */
  onCluster(cluster: ThisCluster): void;
  /** Called with the mounts of each state; there are none while sealed. */
  onMounts(mounts: readonly Mount[]): void;
  /** Called once the mounts of a state are served, when it seals, and when it cannot be applied. */
  onFollowed(): void;
}

const toThisCluster = ({ clusterId: id, replicationRoles }: ClusterState): ThisCluster => ({
  id,
  isSecondary: replicationRoles.some(({ role }) => role === 'secondary'),
});

/** Runs until `signal` aborts; throws when the stream breaks, to be started again. */
export const followMounts = (follower: MountFollower, signal: AbortSignal): Promise<void> => {
  const { store, barrier, cluster, logger, replication, cleaning } = follower;
  const { service, engines, instanceId, version } = follower;
  const member: ClusterMember = {
    store,
    barrier,
    cluster,
    logger,
    replication,
    request: { service, instanceId, version, engines: [...engines] },
    onState: (state) => {
      if (state.clusterId !== '') follower.onCluster(toThisCluster(state));
    },
    onMounts: async (mounts, unreadable) => {
      // A DR secondary only follows: no work, and nothing to clean that its primary would not.
      if (!replication.isServing) return follower.onMounts([]);
      follower.onMounts(mounts);
      // Already now, because the clean-up of a large mount takes long.
      follower.onFollowed();
      const removed = await cleaning.reconcile(
        [...mounts.map(({ uuid }) => uuid), ...unreadable],
        replication.gate.closed === 'none' ? undefined : ['local', 'node'],
      );
      if (removed.length > 0)
        logger.info({ mounts: removed }, 'removed the records of unmounted engines');
    },
    onSealed: () => {
      follower.onMounts([]);
      follower.onSealed();
    },
    onFollowed: () => follower.onFollowed(),
  };
  return followCluster(member, signal);
};
