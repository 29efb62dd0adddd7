/** Follows the state of the cluster: opens the store when sys provides the key, and drops the key on seal. */

import { hasCode } from '@keelson/errors';
import type { Logger } from '@keelson/logging';
import type { Mount } from '@keelson/proto/edge/v1/edge';
import type { ClusterDefinition, ClusterState, JoinRequest } from '@keelson/proto/sys/v1/cluster';
import type { RpcService } from '@keelson/rpc';
import {
  type Barrier,
  countEncryptions,
  loadStoreId,
  openBarrierFor,
  rotateBarrier,
  type Store,
} from '@keelson/storage';
import type { ReplicationMember } from './replication-member.ts';

export { WORKSPACE_GROUP } from '@keelson/replication';
export { awaitIndex } from './consistency.ts';
export { forwardingRoutes, retryableAtRoleChange, type WarningLocation } from './forwarding.ts';
export { type NatsTransport, NO_TRANSPORT, openNatsTransport } from './nats-transport.ts';
export { answeringSecondaries, askPrimary } from './primary-requests.ts';
export { parseKind, remoteMembership, replicationSets } from './remote-membership.ts';
export { ReplicationMember, type ReplicationMemberOptions } from './replication-member.ts';
export { replicationMemberRpc } from './replication-report.ts';
export type { ReplicationTransport } from './replication-runs.ts';
export {
  composeServiceReplication,
  type ReplicationParts,
  type ServiceReplication,
} from './service-replication.ts';
export { loadUpkeep } from './upkeep-records.ts';

export interface ClusterMember {
  readonly store: Store;
  readonly barrier: Barrier;
  readonly cluster: RpcService<typeof ClusterDefinition>;
  readonly logger: Logger;
  readonly request: Omit<JoinRequest, 'storeId'>;
  readonly replication: ReplicationMember;
  /** Called with each state before it is applied. */
  onState?(state: ClusterState): void;
  /** Called each time the store becomes usable. */
  onUnsealed?(): Promise<void>;
  /**
   * Called with the mounts of each unsealed state.
   * @param unreadable uuids of additional mounts that cannot be served and whose data is kept
   */
  onMounts?(mounts: readonly Mount[], unreadable: readonly string[]): Promise<void>;
  /** Called for each sealed state, to remove secrets from memory. */
  onSealed?(): void;
  /** Called after each state, whether or not it could be applied. */
  onFollowed?(): void;
}

const seal = async ({ store, barrier, logger, replication }: ClusterMember): Promise<void> => {
  if (barrier.isSealed) return;
  await replication.stop();
  await countEncryptions(store, barrier);
  barrier.seal();
  logger.info('sealed');
};

/**
 * The keyring and the id of a store are its own in every role, and are written past the gate: a store that a
 * restoration has emptied has no turn either, to which a commit through the gate could belong.
 *
 * Before an activation, the store is sealed under the key that the cluster had at that time.
 */
const openBarrier = async (
  { barrier, replication }: ClusterMember,
  { serviceKey, formerServiceKeys }: ClusterState,
  previousServiceKey?: Uint8Array,
): Promise<void> => {
  const { store } = replication.parts;
  try {
    await openBarrierFor(store, barrier, serviceKey, formerServiceKeys);
  } catch (error) {
    if (previousServiceKey === undefined || !hasCode(error, 'barrier.wrong_root_key')) throw error;
    await openBarrierFor(store, barrier, previousServiceKey);
  }
};

const applyState = async (member: ClusterMember, state: ClusterState): Promise<void> => {
  const { store, barrier, logger, replication } = member;
  if (state.sealed || state.serviceKey.byteLength === 0) {
    await seal(member);
    member.onSealed?.();
    return;
  }
  const wasSealed = barrier.isSealed;
  const pending = await replication.findPending(state.replicationRoles);
  if (wasSealed) await openBarrier(member, state, pending?.previousServiceKey);
  if (pending !== undefined) {
    member.onSealed?.();
    await replication.activate(pending);
    logger.info({ kind: pending.kind }, 'the store was emptied to follow the primary');
  }
  if ((!wasSealed || pending !== undefined) && !replication.isOpenWith(state.serviceKey)) {
    // The root key was replaced, or another replica adopted the keyring of a primary after this one opened its own.
    member.onSealed?.();
    await openBarrier(member, state);
  }
  await replication.follow(state.replicationRoles, state.serviceKey);
  if (wasSealed) {
    logger.info('unsealed');
    await member.onUnsealed?.();
  }
  if (state.keyringTerm > barrier.term) await rotateBarrier(store, barrier, state.keyringTerm);
  await member.onMounts?.(state.mounts, state.unreadableMountUuids);
};

/** Runs until `signal` aborts. Throws when the stream breaks; the caller restarts it. */
export const followCluster = async (member: ClusterMember, signal: AbortSignal): Promise<void> => {
  try {
    const storeId = await loadStoreId(member.replication.parts.store);
    for await (const state of member.cluster.join({ ...member.request, storeId }, { signal })) {
      member.onState?.(state);
      await applyState(member, state);
      member.onFollowed?.();
    }
  } finally {
    member.onFollowed?.();
  }
  if (!signal.aborted) throw new Error('the cluster state stream ended');
};
