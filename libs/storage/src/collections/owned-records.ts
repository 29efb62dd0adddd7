/** Deletion of everything that a deleted owner owned, according to the declarations. */
import { unlessDamaged } from '../records/readable-records.ts';
import type { Reads, Transaction } from '../store.ts';
import { pathsBelow } from './paths-below.ts';
import { type Declaration, declarationsOwnedBy, FIRST_SEGMENT } from './table.ts';

/** An owner: a record of a collection that declares this kind. */
export interface OwnerRef {
  readonly kind: string;
  readonly id: string;
}

const isStored = async (reads: Reads, path: string): Promise<boolean> =>
  (await unlessDamaged(reads.read(path).then((record) => record !== undefined))) ?? true;

/** Paths in which the owner's id stands for "*" in the name or is the first segment of the key. */
const pathsNaming = async (
  reads: Reads,
  place: string,
  { isSingle }: Declaration,
  id: string,
  limit: number,
): Promise<readonly string[]> => {
  const isInName = place.includes('*');
  const path = isInName ? place.replace('*', id) : `${place}/${id}`;
  const below = isSingle ? [] : await pathsBelow(reads, `${path}/`, limit);
  const isOneRecord = isSingle || !isInName;
  return isOneRecord && (await isStored(reads, path)) ? [...below, path] : below;
};

const pathsOwned = async (
  reads: Reads,
  declaration: Declaration,
  { kind, id }: OwnerRef,
  limit: number,
): Promise<readonly string[]> => {
  const found = await Promise.all(
    declaration.owners
      .filter((owner) => owner.kind === kind)
      .flatMap(({ by }) =>
        declaration.scopes.map(async (scope) => {
          const place = `${scope}/${declaration.name}`;
          if (by === FIRST_SEGMENT) return pathsNaming(reads, place, declaration, id, limit);
          const index = `${place}~${by}/${id}/`;
          const rows = await pathsBelow(reads, index, limit);
          return rows.map((row) => `${place}/${row.slice(index.length)}`);
        }),
      ),
  );
  return [...new Set(found.flat())];
};

const lastSegment = (path: string): string => path.slice(path.lastIndexOf('/') + 1);

/**
 * Deletes what an owner owns, and first what the owned records own in turn, also records that cannot be read. An
 * owner of many is deleted after as many transactions as it takes until this returns less than `limit`; an
 * interrupted deletion is resumed by calling it again.
 * @returns the number of deleted records, at most `limit`; rows of indexes are not counted
 */
export const deleteOwned = async (
  tx: Transaction,
  owner: OwnerRef,
  limit = Number.POSITIVE_INFINITY,
): Promise<number> => {
  let deleted = 0;
  for (const declaration of declarationsOwnedBy(owner.kind)) {
    if (deleted >= limit) break;
    for (const path of await pathsOwned(tx, declaration, owner, limit - deleted)) {
      const { kind } = declaration;
      if (kind !== undefined)
        deleted += await deleteOwned(tx, { kind, id: lastSegment(path) }, limit - deleted);
      if (deleted >= limit) break;
      await declaration.deleteAt(tx, path);
      deleted += 1;
    }
  }
  return deleted;
};
