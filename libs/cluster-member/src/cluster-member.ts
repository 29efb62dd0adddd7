/** Follows the state of the cluster: takes the key when sys hands it out, and gives it up on seal. */
import type { Logger } from '@keelson/logging';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { ClusterDefinition, ClusterState, JoinRequest } from '@keelson/proto/sys/v1/cluster';
import type { RpcService } from '@keelson/rpc';
import {
  type Barrier,
  countEncryptions,
  openBarrierFor,
  rotateBarrier,
  type Store,
} from '@keelson/storage';

export interface ClusterMember {
  readonly store: Store;
  readonly barrier: Barrier;
  readonly cluster: RpcService<typeof ClusterDefinition>;
  readonly logger: Logger;
  readonly request: JoinRequest;
  /** Called each time the store has become usable. */
  onUnsealed?(): Promise<void>;
  /** Called with the mounts of each unsealed state. */
  onMounts?(mounts: readonly Mount[]): Promise<void>;
  /** Called with each sealed state: what is secret leaves memory. */
  onSealed?(): void;
}

const seal = async ({ store, barrier, logger }: ClusterMember): Promise<void> => {
  if (barrier.isSealed) return;
  await countEncryptions(store, barrier);
  barrier.seal();
  logger.info('sealed');
};

const applyState = async (member: ClusterMember, state: ClusterState): Promise<void> => {
  const { store, barrier, logger } = member;
  if (state.sealed || state.serviceKey.byteLength === 0) {
    await seal(member);
    member.onSealed?.();
    return;
  }
  if (barrier.isSealed) {
    await openBarrierFor(store, barrier, state.serviceKey);
    logger.info('unsealed');
    await member.onUnsealed?.();
  }
  if (state.keyringTerm > barrier.term) await rotateBarrier(store, barrier, state.keyringTerm);
  await member.onMounts?.(state.mounts);
};

/** Runs until `signal` aborts; throws when the stream breaks, to be started again. */
export const followCluster = async (member: ClusterMember, signal: AbortSignal): Promise<void> => {
  for await (const state of member.cluster.join(member.request, { signal }))
    await applyState(member, state);
  if (!signal.aborted) throw new Error('the cluster state stream ended');
};
