/** Deletion of everything that a deleted owner owned, according to the declarations. */
import { unlessDamaged } from '../records/readable-records.ts';
import type { Reads, RecordScope, Store, Transaction } from '../store.ts';
import { pathsBelow } from './paths-below.ts';
import { type Declaration, declarationsOwnedBy, FIRST_SEGMENT } from './table.ts';

/** An owner: a record of a collection that declares this kind. */
export interface OwnerRef {
  readonly kind: string;
  readonly id: string;
}

export interface DeletionOptions {
  /** Maximum number of records. */
  readonly limit?: number;
  readonly scopes?: readonly RecordScope[];
}

const SCOPES: readonly RecordScope[] = ['shared', 'local', 'node'];

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
  { limit, scopes }: Required<DeletionOptions>,
): Promise<readonly string[]> => {
  const found = await Promise.all(
    declaration.owners
      .filter((owner) => owner.kind === kind)
      .flatMap(({ by }) =>
        declaration.scopes
          .filter((scope) => scopes.includes(scope))
          .map(async (scope) => {
            const place = `${scope}/${declaration.name}`;
            if (by === FIRST_SEGMENT) return pathsNaming(reads, place, declaration, id, limit);
            const keys = await declaration.indexes?.allKeys(reads, by, id, limit);
            return (keys ?? []).map((key) => `${place}/${key}`);
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
  { limit = Number.POSITIVE_INFINITY, scopes = SCOPES }: DeletionOptions = {},
): Promise<number> => {
  let deleted = 0;
  for (const declaration of declarationsOwnedBy(owner.kind)) {
    if (deleted >= limit) break;
    for (const path of await pathsOwned(tx, declaration, owner, {
      limit: limit - deleted,
      scopes,
    })) {
      const { kind } = declaration;
      if (kind !== undefined)
        deleted += await deleteOwned(
          tx,
          { kind, id: lastSegment(path) },
          { limit: limit - deleted, scopes },
        );
      if (deleted >= limit) break;
      await declaration.deleteAt(tx, path);
      deleted += 1;
    }
  }
  return deleted;
};

const REMOVAL_BATCH = 500;

/** Deletes what an owner owns in transactions of bounded size; can be repeated after an interruption. */
export const removeOwned = async (
  store: Store,
  owner: OwnerRef,
  scopes: readonly RecordScope[] = SCOPES,
): Promise<void> => {
  const batch = { limit: REMOVAL_BATCH, scopes };
  while ((await store.transact((tx) => deleteOwned(tx, owner, batch))) === REMOVAL_BATCH);
};

/** Prefixes after which the ids of owners of this kind follow as the next segment. */
const ownerPrefixes = (kind: string, scopes: readonly RecordScope[]): ReadonlySet<string> =>
  new Set(
    declarationsOwnedBy(kind)
      .filter(({ owners }) => owners.some((one) => one.kind === kind && one.by === FIRST_SEGMENT))
      .flatMap(({ name, scopes: stored }) => {
        const [before = ''] = `${name}/`.split('*', 1);
        return stored
          .filter((scope) => scopes.includes(scope))
          .map((scope) => `${scope}/${before}`);
      }),
  );

/** Owners of this kind that an index names. */
const indexedOwners = async (
  reads: Reads,
  kind: string,
  scopes: readonly RecordScope[],
): Promise<readonly string[]> => {
  const names = await Promise.all(
    declarationsOwnedBy(kind)
      .filter((declaration) => declaration.scopes.some((scope) => scopes.includes(scope)))
      .flatMap(({ owners, indexes }) =>
        owners
          .filter((owner) => owner.kind === kind && owner.by !== FIRST_SEGMENT)
          .map(async ({ by }) => (await indexes?.firstValues(reads, by)) ?? []),
      ),
  );
  return names.flat();
};

/** Ids of the owners of a kind that own records in these scopes, whether or not they exist themselves. */
export const listOwners = async (
  reads: Reads,
  kind: string,
  scopes: readonly RecordScope[] = SCOPES,
): Promise<ReadonlySet<string>> => {
  const prefixes = [...ownerPrefixes(kind, scopes)];
  const names = await Promise.all([
    ...prefixes.map((prefix) => reads.list(prefix)),
    indexedOwners(reads, kind, scopes),
  ]);
  return new Set(names.flat().map((name) => name.replace(/\/$/, '')));
};
