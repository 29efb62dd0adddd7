/** Removes the aliases at mounts that are gone or moved away: a new mount at the same path knows nobody. */
import type { Reads, Store, Transaction, TransactOptions } from '@keelson/storage';
import type { MountIndex } from '../mounts/domain/mount-index.ts';
import { deleteAliasRecord, entityAliasMounts } from './entity-records.ts';
import { deleteGroupAliasRecord, groupAliasMounts } from './group-records.ts';

const PORTION = 200;

export interface RemovedAliasContext {
  readonly store: Store;
  /** Returns the same object until a mount changes. */
  readonly mounts: () => Promise<MountIndex>;
  /** False on a secondary, where the removal arrives from the primary. */
  readonly writesShared: () => boolean;
}

/** A mount that has aliases, whether or not it exists. */
interface AliasMount {
  readonly namespaceId: string;
  readonly uuid: string;
}

/** Aliases of one kind. */
interface Aliases {
  readonly byMount: Pick<typeof entityAliasMounts, 'rests'>;
  readonly remove: (
    tx: Transaction,
    alias: { readonly namespaceId: string; readonly id: string },
  ) => Promise<void>;
}

const KINDS: readonly Aliases[] = [
  { byMount: entityAliasMounts, remove: deleteAliasRecord },
  { byMount: groupAliasMounts, remove: deleteGroupAliasRecord },
];

const listMounts = async ({ byMount }: Aliases, reads: Reads): Promise<readonly AliasMount[]> => {
  const mounts: AliasMount[] = [];
  for (let after: string | undefined; ; ) {
    const [row] = await byMount.rests(reads, [], {
      limit: 1,
      ...(after !== undefined && { after }),
    });
    const [namespaceId, uuid] = row?.split('/') ?? [];
    if (namespaceId === undefined || uuid === undefined) return mounts;
    mounts.push({ namespaceId, uuid });
    // The first path that is behind all rows of this mount.
    after = `${namespaceId}/${uuid}0`;
  }
};

/** @returns how many were removed, at most `PORTION` */
const removePortion = async (
  { byMount, remove }: Aliases,
  tx: Transaction,
  { namespaceId, uuid }: AliasMount,
): Promise<number> => {
  const keys = await byMount.rests(tx, [namespaceId, uuid], { limit: PORTION });
  for (const key of keys) await remove(tx, { namespaceId, id: key.split('/')[1] ?? '' });
  return keys.length;
};

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
    for (const kind of KINDS)
      for (const mount of await listMounts(kind, store)) {
        const { namespaceId } = index.findByUuid(mount.uuid) ?? mount;
        // A damaged mount still exists, and one that was moved to another namespace has no aliases in this one.
        if (index.has(mount.uuid) && namespaceId === mount.namespaceId) continue;
        let removed: number;
        do {
          removed = await store.transact((tx) => removePortion(kind, tx, mount), options);
        } while (removed === PORTION);
      }
    seen = index;
  };
};
