/** Typed records below a prefix, and single ones at a path. */
import { KeelsonError } from '@keelson/errors';
import type {
  ListOptions,
  Reads,
  RecordEncoder,
  ScanOptions,
  StoredRecord,
  Transaction,
} from '../store.ts';
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

/** A record at one path whose value is encrypted with a key that its readers have. */
export interface SealedRecord<T> {
  readonly path: string;
  /** @throws KeelsonError `barrier.damaged_value` also for another key than that of the writer */
  find(reads: Pick<Reads, 'readAs'>, key: Uint8Array): Promise<T | undefined>;
  /** @throws Error when the value does not have the shape of the record */
  write(tx: Transaction, key: Uint8Array, value: T): void;
  delete(tx: Transaction): void;
}

/** Encryption of single values, bound to a text such as the path. */
export interface ValueCipher {
  seal(key: Uint8Array, purpose: string, value: Uint8Array): Uint8Array;
  /** @throws KeelsonError when the value cannot be decrypted */
  open(key: Uint8Array, purpose: string, sealed: Uint8Array): Uint8Array;
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

export const sealedRecordAt = <T>(
  path: string,
  codec: RecordCodec<T>,
  cipher: ValueCipher,
): SealedRecord<T> => {
  const open = (key: Uint8Array, sealed: Uint8Array): Uint8Array => {
    try {
      return cipher.open(key, path, sealed);
    } catch (cause) {
      throw new KeelsonError('barrier.damaged_value', { path }, { cause });
    }
  };
  /** undefined if it was encrypted with another key. */
  const openReplaced = (key: Uint8Array, replaced: StoredRecord): StoredRecord | undefined => {
    try {
      return { ...replaced, value: open(key, replaced.value) };
    } catch {
      return undefined;
    }
  };
  return {
    path,
    find: (reads, key) =>
      reads.readAs(path, { decode: (_, sealed) => codec.decode(path, open(key, sealed)) }),
    write: (tx, key, value) => {
      const sealing: RecordEncoder<T> = {
        kind: codec.kind,
        encode: (_, unsealed, { writable, replaced }) => {
          const form = { writable, replaced: replaced && openReplaced(key, replaced) };
          return cipher.seal(key, path, codec.encode(path, unsealed, form));
        },
      };
      tx.writeAs(path, sealing, value);
    },
    delete: (tx) => tx.delete(path),
  };
};
