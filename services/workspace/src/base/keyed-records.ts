/**
 * Record collections whose keys come from requests. A key is a list of segments. A segment that
 * could never have been written (empty, or with a slash or control character) finds nothing, so
 * that a request cannot reach another record.
 */
import {
  jsonRecords,
  type ListOptions,
  type ReadonlyDeep,
  type Reads,
  type RecordCollection,
  type Transaction,
} from '@keelson/storage';

const SEGMENT = /^[\w.@+ -]{1,200}$/;

export interface KeyedRecords<T> {
  /** The underlying collection, for projections. */
  readonly collection: RecordCollection<T>;
  find(reads: Reads, ...key: readonly string[]): Promise<ReadonlyDeep<T> | undefined>;
  write(tx: Transaction, key: readonly string[], value: T): void;
  delete(tx: Transaction, ...key: readonly string[]): void;
  /** Names directly below these segments, in byte order. */
  keys(reads: Reads, below: readonly string[], options?: ListOptions): Promise<readonly string[]>;
}

export const keyedRecords = <T>(prefix: string): KeyedRecords<T> => {
  const records = jsonRecords<T>(prefix);
  const isKey = (key: readonly string[]) => key.every((segment) => SEGMENT.test(segment));
  return {
    collection: records,
    find: async (reads, ...key) => (isKey(key) ? records.find(reads, key.join('/')) : undefined),
    write: (tx, key, value) => records.write(tx, key.join('/'), value),
    delete: (tx, ...key) => records.delete(tx, key.join('/')),
    keys: (reads, below, options) =>
      isKey(below)
        ? reads.list(prefix + below.map((segment) => `${segment}/`).join(''), options)
        : Promise.resolve([]),
  };
};
