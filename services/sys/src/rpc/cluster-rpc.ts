/**
 * Cluster.Join: a service announces itself and follows the state of the cluster. A message goes out
 * whenever the seal, the keyring's term or the mounts change, in whichever replica they changed.
 */
import { KeelsonError } from '@keelson/errors';
import type { ClusterDefinition, ClusterState, JoinRequest } from '@keelson/proto/sys/v1/cluster';
import type { ReplicationRole } from '@keelson/proto/sys/v1/replication';
import type { RpcService } from '@keelson/rpc';
import type { Store } from '@keelson/storage';
import type { LeaseTtls } from '../mounts/domain/lease-ttl.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { findEngineMounts } from '../mounts/engine-mount.ts';
import { registerEngineTypes } from '../mounts/engine-type-records.ts';
import { MOUNT_PREFIXES } from '../mounts/mount-records.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import { namespaceRecords } from '../namespaces/namespace-records.ts';
import { ROLE_PATHS } from '../replication/replication-records.ts';
import type { RotationOperations } from '../seal/rotation-operations.ts';
import type { Seal } from '../seal/seal.ts';
import { KEYRING_TERM_KEY, keyringTermRecords } from '../seal/seal-records.ts';

export interface ClusterDependencies {
  readonly store: Store;
  readonly seal: Seal;
  readonly rotation: RotationOperations;
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
  readonly systemTtls: LeaseTtls;
  /** Of the cluster, with the keys of the service; waits for a change under way. */
  readonly replicationRoles: (service: string) => Promise<ReplicationRole[]>;
  /** Whether records of this cluster alone may be written: not on a DR secondary. */
  readonly writesLocally: () => boolean;
}

const FOLLOWED = [
  ...MOUNT_PREFIXES,
  namespaceRecords.prefix,
  keyringTermRecords.path(KEYRING_TERM_KEY),
  ...ROLE_PATHS,
];

/** Tells waiters that something changed since they last asked; changes in between are one. */
class ChangeSignal {
  #changed = Promise.withResolvers<void>();

  raise(): void {
    this.#changed.resolve();
  }

  /** Resolves at the next change, at once when there was one since the last call returned. */
  async next(): Promise<void> {
    await this.#changed.promise;
    this.#changed = Promise.withResolvers<void>();
  }
}

export const createCluster = (
  dependencies: ClusterDependencies,
): RpcService<typeof ClusterDefinition> => {
  const { store, seal, rotation } = dependencies;

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
      };
    }
    const types = new Set(engines.map(({ type }) => type));
    return {
      initialized,
      sealed,
      serviceKey: Buffer.from(serviceKey),
      // A secondary's keyrings are those of its primary.
      keyringTerm: replicationRoles.some(({ role }) => role === 'secondary')
        ? 0
        : await rotation.currentTerm(),
      clusterId: cluster?.id ?? '',
      clusterName: cluster?.name ?? '',
      mounts: [
        ...findEngineMounts(
          await dependencies.mounts(),
          await dependencies.namespaces(),
          dependencies.systemTtls,
          types,
        ),
      ],
      replicationRoles,
    };
  };

  const watch = async (changes: ChangeSignal, signal: AbortSignal): Promise<void> => {
    const head = await store.wal.headSequence();
    for await (const { operations } of store.wal.follow(head, signal)) {
      const touches = operations.some(({ path }) => FOLLOWED.some((one) => path.startsWith(one)));
      if (touches) changes.raise();
    }
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
          // Each time: a cluster that became a secondary has forgotten them.
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
