/**
 * Ends the leases of mounts that disappeared or moved without an operation on this cluster: a paths
 * filter now withholds them, or the primary removed or moved them.
 */
import type { Store, TransactOptions } from '@keelson/storage';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { listLeasedMounts, type MountLocation, orderEndingOfMount } from './lease-records.ts';

export interface RemovedMountParts {
  readonly store: Store;
  /** Returns the same object until a mount changes. */
  readonly mounts: () => Promise<MountIndex>;
  /** Called after leases were ended. */
  readonly onEnd: () => void;
}

const isAt = (mount: MountRecord, { namespaceId, path }: MountLocation): boolean =>
  mount.namespaceId === namespaceId && mount.path === path;

/** @returns one check, which costs nothing while the mounts are unchanged since the previous check */
export const createRemovedMountCheck = ({
  store,
  mounts,
  onEnd,
}: RemovedMountParts): ((options: TransactOptions) => Promise<void>) => {
  let seen: MountIndex | undefined;
  return async (options) => {
    const index = await mounts();
    if (index === seen) return;
    for (const [uuid, place] of await listLeasedMounts(store)) {
      const mount = index.findByUuid(uuid);
      // A damaged mount still exists.
      if (mount === undefined ? index.has(uuid) : isAt(mount, place)) continue;
      await store.transact((tx) => orderEndingOfMount(tx, uuid, place), options);
      onEnd();
    }
    seen = index;
  };
};
