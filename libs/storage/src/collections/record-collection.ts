/** Typed records below a prefix, and single ones at a path. */
import type { ListOptions, Reads, ScanOptions, Transaction } from '../store.ts';
import type { RecordCodec } from './codec.ts';

/**
 * One or more segments of a path. A segment from a request that could never have been written (empty, or with
 * a slash or control character) finds nothing, so that a request cannot reach another record.
 */
export type RecordKey = readonly string[];

/**
 * Contents of the segments of keys: names have none of the characters that separate or hide segments; a path
 * is any text that a record path may contain, slashes included, which the caller has checked.
 */
export type KeySegments = 'names' | 'paths';

const NAME = /^[\w.@+ -]{1,200}$/;

export const isName = (segment: string): boolean => NAME.test(segment);

export interface RecordCollection<T> {
  readonly prefix: string;
  readonly codec: RecordCodec<T>;
  path(...key: RecordKey): string;
  find(reads: Pick<Reads, 'readAs'>, ...key: RecordKey): Promise<T | undefined>;
  /**
   * @throws Error when the value does not have the shape of the collection
   * @throws KeelsonError `storage.upgrade_unfinished`
   */
  write(tx: Transaction, key: string | RecordKey, value: T): void;
  delete(tx: Transaction, ...key: RecordKey): void;
  /** Names directly below these segments, in byte order; see `Reads.list`. */
  keys(reads: Reads, below?: RecordKey, options?: ListOptions): Promise<readonly string[]>;
  /** Keys and values in order of the keys, nested ones included. `after` is a key. */
  entries(reads: Reads, options?: ListOptions): Promise<readonly (readonly [string, T])[]>;
  /** The entries that can be read, and the keys of those that cannot. */
  readableEntries(reads: Pick<Reads, 'scanAs'>, options?: ListOptions): Promise<ReadableEntries<T>>;
  /** The records below these segments, whose keys follow them. */
  below(...segments: RecordKey): RecordCollection<T>;
}

export interface ReadableEntries<T> {
  readonly entries: readonly (readonly [string, T])[];
  readonly damaged: readonly string[];
}

/** A record at one path. */
export interface SingleRecord<T> {
  readonly path: string;
  readonly codec: RecordCodec<T>;
  find(reads: Pick<Reads, 'readAs'>): Promise<T | undefined>;
  /**
   * @throws Error when the value does not have the shape of the record
   * @throws KeelsonError `storage.upgrade_unfinished`
   */
  write(tx: Transaction, value: T): void;
  delete(tx: Transaction): void;
}

/** @param prefix ends with a slash */
export const recordsBelow = <T>(
  prefix: string,
  codec: RecordCodec<T>,
  segments: KeySegments,
): RecordCollection<T> => {
  const isKey = (key: RecordKey) => segments === 'paths' || key.every(isName);
  const path = (...key: RecordKey): string => prefix + key.join('/');
  const scan = async (
    reads: Pick<Reads, 'scanAs'>,
    { after, ...options }: ScanOptions = {},
  ): Promise<readonly (readonly [string, T])[]> => {
    const found = await reads.scanAs(prefix, codec, {
      ...options,
      ...(after !== undefined && { after: path(after) }),
    });
    return found.map(([recordPath, value]) => [recordPath.slice(prefix.length), value]);
  };
  return {
    prefix,
    codec,
    path,
    find: async (reads, ...key) => (isKey(key) ? reads.readAs(path(...key), codec) : undefined),
    write: (tx, key, value) => {
      const at = typeof key === 'string' ? path(key) : path(...key);
      tx.writeAs(at, codec, value);
    },
    delete: (tx, ...key) => tx.delete(path(...key)),
    keys: async (reads, below = [], options) =>
      isKey(below) ? reads.list(prefix + below.map((one) => `${one}/`).join(''), options) : [],
    entries: scan,
    readableEntries: async (reads, options) => {
      const damaged: string[] = [];
      const entries = await scan(reads, {
        ...options,
        onDamaged: (damagedPath) => damaged.push(damagedPath.slice(prefix.length)),
      });
      return { entries, damaged };
    },
    below: (...below) => recordsBelow(`${path(...below)}/`, codec, segments),
  };
};

export const recordAt = <T>(path: string, codec: RecordCodec<T>): SingleRecord<T> => ({
  path,
  codec,
  find: (reads) => reads.readAs(path, codec),
  write: (tx, value) => tx.writeAs(path, codec, value),
  delete: (tx) => tx.delete(path),
});
