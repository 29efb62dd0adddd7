/**
 * Ends the leases of mounts that are not where they were although nobody here removed or moved them: a
 * paths filter keeps them back now, or the primary removed or moved them.
 */
import type { Store, TransactOptions } from '@keelson/storage';
import type { MountRecord } from '../mounts/domain/mount.ts';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { listLeasedMounts, type MountPlace, orderEndingOfMount } from './lease-records.ts';

export interface DepartedMountParts {
  readonly store: Store;
  /** The same object while no mount changed. */
  readonly mounts: () => Promise<MountIndex>;
  /** Called when leases were ended. */
  readonly onEnd: () => void;
}

const isAt = (mount: MountRecord | undefined, { namespaceId, path }: MountPlace): boolean =>
  mount !== undefined && mount.namespaceId === namespaceId && mount.path === path;

/** @returns one look, which costs nothing while the mounts are those of the look before */
export const createDepartedMounts = ({
  store,
  mounts,
  onEnd,
}: DepartedMountParts): ((options: TransactOptions) => Promise<void>) => {
  let seen: MountIndex | undefined;
  return async (options) => {
    const index = await mounts();
    if (index === seen) return;
    for (const [uuid, place] of await listLeasedMounts(store)) {
      if (isAt(index.findByUuid(uuid), place)) continue;
      await store.transact((tx) => orderEndingOfMount(tx, uuid, place), options);
      onEnd();
    }
    seen = index;
  };
};
