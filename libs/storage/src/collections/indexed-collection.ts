/** Collections with indexes: their writes and deletions first read the record that they replace. */
import type { Transaction } from '../store.ts';
import { type IndexName, type IndexOf, IndexRows, type RecordIndex } from './index-rows.ts';
import type { RecordCollection, RecordKey } from './record-collection.ts';

export interface IndexedCollection<T, Name extends string>
  extends Omit<RecordCollection<T>, 'write' | 'delete' | 'below'> {
  /** Writes the record and its rows in the indexes. @throws Error when the value does not have the shape */
  write(tx: Transaction, key: string | RecordKey, value: T): Promise<void>;
  /** Deletes the record and its rows in the indexes, also if the record cannot be read. */
  delete(tx: Transaction, ...key: RecordKey): Promise<void>;
  readonly by: { readonly [Index in Name]: RecordIndex<T> };
}

export const indexedRecords = <T, const Index extends IndexOf<T>>(
  records: RecordCollection<T>,
  indexes: readonly Index[],
): IndexedCollection<T, IndexName<Index>> => {
  const rows = new IndexRows(records, indexes);
  return {
    ...records,
    write: async (tx, key, value) => {
      const name = typeof key === 'string' ? key : key.join('/');
      await rows.replace(tx, name, rows.of(name, value));
      records.write(tx, key, value);
    },
    delete: async (tx, ...key) => {
      await rows.replace(tx, key.join('/'));
      records.delete(tx, ...key);
    },
    by: Object.fromEntries(
      indexes.map((index) => {
        const name = typeof index === 'string' ? index : index.name;
        return [name, rows.index(name)];
      }),
    ) as { readonly [Name in IndexName<Index>]: RecordIndex<T> },
  };
};
