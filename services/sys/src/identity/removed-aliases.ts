/** Removes the aliases at mounts that are gone or moved away: a new mount at the same path knows nobody. */
import type { Store, TransactOptions } from '@keelson/storage';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { deleteAliasesOfMount, listAliasMounts } from './entity-records.ts';

const PORTION = 200;

export interface RemovedAliasContext {
  readonly store: Store;
  /** Returns the same object until a mount changes. */
  readonly mounts: () => Promise<MountIndex>;
  /** False on a secondary, where the removal arrives from the primary. */
  readonly writesShared: () => boolean;
}

/** @returns one check, which costs nothing while the mounts are unchanged since the previous check */
export const createRemovedAliasCheck = ({
  store,
  mounts,
  writesShared,
}: RemovedAliasContext): ((options: TransactOptions) => Promise<void>) => {
  let seen: MountIndex | undefined;
  return async (options) => {
    const index = await mounts();
    if (index === seen || !writesShared()) return;
    for (const mount of await listAliasMounts(store)) {
      const { namespaceId } = index.findByUuid(mount.uuid) ?? mount;
      // A damaged mount still exists, and one that was moved to another namespace has no aliases in this one.
      if (index.has(mount.uuid) && namespaceId === mount.namespaceId) continue;
      let removed: number;
      do {
        removed = await store.transact((tx) => deleteAliasesOfMount(tx, mount, PORTION), options);
      } while (removed === PORTION);
    }
    seen = index;
  };
};
