/** Collections with indexes: their writes and deletions first read the record that they replace. */
import type { Transaction } from '../store.ts';
import type { IndexFacts, IndexName } from './index-declaration.ts';
import { IndexRows, type RecordIndex, type UniqueIndex } from './index-rows.ts';
import type { RecordCollection, RecordKey } from './record-collection.ts';

export interface IndexedCollection<T, Index>
  extends Omit<RecordCollection<T>, 'write' | 'delete' | 'below'> {
  /**
   * Writes the record and its rows in the indexes.
   * @throws Error when the value does not have the shape
   * @throws KeelsonError `storage.not_unique` when another record has a value of a unique index
   */
  write(tx: Transaction, key: string | RecordKey, value: T): Promise<void>;
  /** Deletes the record and its rows in the indexes, also if the record cannot be read. */
  delete(tx: Transaction, ...key: RecordKey): Promise<void>;
  /** The records below these segments, whose keys follow them, to be read. */
  below(...segments: RecordKey): Omit<RecordCollection<T>, 'write' | 'delete' | 'below'>;
  readonly by: {
    readonly [One in Index as IndexName<One>]: One extends { readonly unique: true }
      ? UniqueIndex<T>
      : RecordIndex<T>;
  };
}

/** The collection, and the rows of its indexes. */
export const indexedRecords = <T, Index>(
  records: RecordCollection<T>,
  indexes: readonly IndexFacts<T>[],
): { readonly indexed: IndexedCollection<T, Index>; readonly rows: IndexRows<T> } => {
  const rows = new IndexRows(records, indexes);
  const by = Object.fromEntries(
    indexes.map(({ name, isUnique }) => [name, isUnique ? rows.unique(name) : rows.index(name)]),
  );
  const indexed = {
    ...records,
    write: async (tx: Transaction, key: string | RecordKey, value: T) => {
      await rows.replace(tx, typeof key === 'string' ? key : key.join('/'), value);
      records.write(tx, key, value);
    },
    delete: async (tx: Transaction, ...key: RecordKey) => {
      await rows.replace(tx, key.join('/'), undefined);
      records.delete(tx, ...key);
    },
    by: by as IndexedCollection<T, Index>['by'],
  };
  return { indexed, rows };
};
