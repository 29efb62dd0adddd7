/** Typed records as JSON below a prefix. */
import type { ListOptions, Reads, ScanOptions, Transaction } from '../store.ts';
import { parseJson } from './parsed-record.ts';

/** A deeply read-only version of a type. */
export type ReadonlyDeep<T> = T extends object
  ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
  : T;

export interface RecordCollection<T> {
  readonly prefix: string;
  path(key: string): string;
  /** Decodes a stored value. */
  decode(value: Uint8Array): ReadonlyDeep<T>;
  find(reads: Pick<Reads, 'read'>, key: string): Promise<ReadonlyDeep<T> | undefined>;
  write(tx: Transaction, key: string, value: T): void;
  delete(tx: Transaction, key: string): void;
  /** Names directly below the prefix; see `Reads.list`. */
  keys(reads: Reads, options?: ListOptions): Promise<readonly string[]>;
  /** Keys and values in order of the keys, nested ones included. `after` is a key. */
  entries(
    reads: Reads,
    options?: ListOptions,
  ): Promise<readonly (readonly [string, ReadonlyDeep<T>])[]>;
  /** The entries that can be decrypted, and the keys of those that cannot. */
  readableEntries(reads: Pick<Reads, 'scan'>, options?: ListOptions): Promise<ReadableEntries<T>>;
}

export interface ReadableEntries<T> {
  readonly entries: readonly (readonly [string, ReadonlyDeep<T>])[];
  readonly damaged: readonly string[];
}

/**
 * Records below `prefix` (ends with a slash) whose values are the JSON of `T`. Values read are shared
 * between readers; a property whose value is undefined is not stored.
 */
export const jsonRecords = <T>(prefix: string): RecordCollection<T> => {
  const path = (key: string): string => prefix + key;
  const scan = async (
    reads: Pick<Reads, 'scan'>,
    { after, ...options }: ScanOptions = {},
  ): Promise<readonly (readonly [string, ReadonlyDeep<T>])[]> => {
    const found = await reads.scan(prefix, {
      ...options,
      ...(after !== undefined && { after: path(after) }),
    });
    return found.map((record) => [
      record.path.slice(prefix.length),
      record.json as ReadonlyDeep<T>,
    ]);
  };
  return {
    prefix,
    path,
    decode: (value) => parseJson(value) as ReadonlyDeep<T>,
    find: async (reads, key) => {
      const record = await reads.read(path(key));
      return record && (record.json as ReadonlyDeep<T>);
    },
    write: (tx, key, value) => tx.write(path(key), Buffer.from(JSON.stringify(value))),
    delete: (tx, key) => tx.delete(path(key)),
    keys: (reads, options) => reads.list(prefix, options),
    entries: scan,
    readableEntries: async (reads, options) => {
      const damaged: string[] = [];
      const entries = await scan(reads, {
        ...options,
        onDamaged: (damagedPath) => damaged.push(damagedPath.slice(prefix.length)),
      });
      return { entries, damaged };
    },
  };
};
