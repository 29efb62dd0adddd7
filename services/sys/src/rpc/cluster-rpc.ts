/**
 * Cluster.Join: a service announces itself and follows the state of the cluster. A message is sent whenever
 * the seal, the keyring's term or the mounts change, in any replica.
 */
import { KeelsonError } from '@keelson/errors';
import type { ClusterDefinition, ClusterState, JoinRequest } from '@keelson/proto/sys/v1/cluster';
import type { ReplicationRole } from '@keelson/proto/sys/v1/replication';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import { requireKnownStore } from '../member-stores/member-stores.ts';
import type { LeaseTtls } from '../mounts/domain/lease-ttl.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { findEngineMounts, findUnreadableMounts } from '../mounts/engine-mount.ts';
import { registerEngineTypes } from '../mounts/engine-type-records.ts';
import { MOUNT_PREFIXES } from '../mounts/mount-records.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import { namespaceRecords } from '../namespaces/namespace-records.ts';
import { ROLE_PATHS } from '../replication/replication-records.ts';
import { currentKeyringTerm, type RotationContext } from '../seal/rotation-operations.ts';
import type { Seal } from '../seal/seal.ts';
import { keyringTermRecords } from '../seal/seal-records.ts';
import { pendingRestorations } from '../snapshots/snapshot-records.ts';

export interface ClusterDependencies {
  readonly store: Store;
  readonly seal: Seal;
  readonly rotation: RotationContext;
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly systemTtls: LeaseTtls;
  /** See `requireKnownStore`. */
  readonly newStores: readonly string[];
  /** Replication roles of the cluster, with the keys of the service; waits for a change in progress. */
  readonly replicationRoles: (service: string) => Promise<ReplicationRole[]>;
  /** Whether local records of this cluster may be written, which a DR secondary must not do. */
  readonly writesLocally: () => boolean;
}

const FOLLOWED = [
  ...MOUNT_PREFIXES,
  namespaceRecords.prefix,
  keyringTermRecords.path,
  ...ROLE_PATHS,
];

/** Wakes waiters when something has changed since they last asked; changes in between are merged. */
class ChangeSignal {
  #changed = Promise.withResolvers<void>();

  raise(): void {
    this.#changed.resolve();
  }

  /** Resolves at the next change, or at once if something changed since the last call returned. */
  async next(): Promise<void> {
    await this.#changed.promise;
    this.#changed = Promise.withResolvers<void>();
  }
}

export const createCluster = (
  dependencies: ClusterDependencies,
): RpcService<typeof ClusterDefinition> => {
  const { store, seal, rotation } = dependencies;

  /**
   * None while a snapshot is being restored: its keyrings may be wrapped with former keys, which will be the present
   * ones once its records of sys have replaced the others.
   */
  const formerServiceKeys = async (service: string): Promise<Buffer[]> =>
    (await pendingRestorations.find(store)) === undefined
      ? (await seal.formerServiceKeys(service)).map((key) => Buffer.from(key))
      : [];

  const stateFor = async ({ service, engines }: JoinRequest): Promise<ClusterState> => {
    const replicationRoles = seal.isSealed ? [] : await dependencies.replicationRoles(service);
    const { initialized, sealed, cluster } = await seal.status();
    const serviceKey = seal.serviceKey(service);
    if (sealed || serviceKey === undefined) {
      return {
        initialized,
        sealed: true,
        serviceKey: Buffer.alloc(0),
        keyringTerm: 0,
        clusterId: '',
        clusterName: '',
        mounts: [],
        replicationRoles: [],
        unreadableMountUuids: [],
        formerServiceKeys: [],
      };
    }
    const types = new Set(engines.map(({ type }) => type));
    const mounts = await dependencies.mounts();
    const namespaces = await dependencies.namespaces();
    return {
      initialized,
      sealed,
      serviceKey: Buffer.from(serviceKey),
      // The keyrings of a secondary are those of its primary.
      keyringTerm: replicationRoles.some(({ role }) => role === 'secondary')
        ? 0
        : await currentKeyringTerm(rotation),
      clusterId: cluster?.id ?? '',
      clusterName: cluster?.name ?? '',
      mounts: findEngineMounts(mounts, namespaces, dependencies.systemTtls, types),
      replicationRoles,
      unreadableMountUuids: findUnreadableMounts(mounts, namespaces),
      formerServiceKeys: await formerServiceKeys(service),
    };
  };

  const watch = async (changes: ChangeSignal, signal: AbortSignal): Promise<void> => {
    const head = await store.wal.headSequence();
    for await (const _ of store.wal.changes(FOLLOWED, head, signal)) changes.raise();
  };

  return {
    join: async function* (request, { signal: given } = {}) {
      const changes = new ChangeSignal();
      const stop = new AbortController();
      const signal = given === undefined ? stop.signal : AbortSignal.any([given, stop.signal]);
      const unsubscribe = seal.onChange(() => changes.raise());
      const raise = (): void => changes.raise();
      signal.addEventListener('abort', raise);
      let failure: Error | undefined;
      const watching = watch(changes, signal).catch((error: unknown) => {
        failure = KeelsonError.from(error);
        changes.raise();
      });
      try {
        while (!signal.aborted) {
          if (failure !== undefined) throw failure;
          if (!seal.isSealed) await requireKnownStore(store, request, dependencies.newStores);
          // Repeated with every message, because a cluster that became a secondary has lost these records.
          if (!seal.isSealed && dependencies.writesLocally())
            await registerEngineTypes(store, request.service, request.engines);
          yield await stateFor(request);
          await changes.next();
        }
      } finally {
        stop.abort();
        signal.removeEventListener('abort', raise);
        unsubscribe();
        await watching;
      }
    },
  };
};
