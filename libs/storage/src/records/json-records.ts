/** Typed records as JSON below a prefix. */
import { hasCode } from '@keelson/errors';
import type { ListOptions, Reads, Transaction } from '../store.ts';
import { parseJson } from './stored-record.ts';

/** Nothing in it can be changed. */
export type ReadonlyDeep<T> = T extends object
  ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
  : T;

export interface RecordCollection<T> {
  readonly prefix: string;
  path(key: string): string;
  /** A value as it is stored. */
  decode(value: Uint8Array): ReadonlyDeep<T>;
  find(reads: Reads, key: string): Promise<ReadonlyDeep<T> | undefined>;
  write(tx: Transaction, key: string, value: T): void;
  delete(tx: Transaction, key: string): void;
  /** Names directly below the prefix; see `Reads.list`. */
  keys(reads: Reads, options?: ListOptions): Promise<readonly string[]>;
  /** Keys and values in order of the keys, nested ones included. `after` is a key. */
  entries(
    reads: Reads,
    options?: ListOptions,
  ): Promise<readonly (readonly [string, ReadonlyDeep<T>])[]>;
  /** All entries that can be decrypted, and the keys of those that cannot, which are damaged. */
  readableEntries(reads: Reads): Promise<ReadableEntries<T>>;
}

export interface ReadableEntries<T> {
  readonly entries: readonly (readonly [string, ReadonlyDeep<T>])[];
  readonly damaged: readonly string[];
}

const isDamage = (error: unknown): boolean =>
  hasCode(error, 'barrier.damaged_value') || hasCode(error, 'barrier.unknown_term');

/** All paths below a prefix, without a look at their values. */
const pathsBelow = async (reads: Reads, prefix: string): Promise<readonly string[]> => {
  const paths: string[] = [];
  for (const name of await reads.list(prefix)) {
    const path = prefix + name;
    if (name.endsWith('/')) paths.push(...(await pathsBelow(reads, path)));
    else paths.push(path);
  }
  return paths;
};

/**
 * Records below `prefix` (ends with a slash) whose values are the JSON of `T`. Values read are shared
 * between readers; a property whose value is undefined is not stored.
 */
export const jsonRecords = <T>(prefix: string): RecordCollection<T> => {
  const path = (key: string): string => prefix + key;
  const records: RecordCollection<T> = {
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
    entries: async (reads, { after, ...options } = {}) => {
      const found = await reads.scan(prefix, {
        ...options,
        ...(after !== undefined && { after: path(after) }),
      });
      return found.map((record) => [
        record.path.slice(prefix.length),
        record.json as ReadonlyDeep<T>,
      ]);
    },
    readableEntries: async (reads) => {
      try {
        return { entries: await records.entries(reads), damaged: [] };
      } catch (error) {
        if (!isDamage(error)) throw error;
      }
      // A scan ends at the first damaged record, so each is read for itself.
      const entries: (readonly [string, ReadonlyDeep<T>])[] = [];
      const damaged: string[] = [];
      for (const one of await pathsBelow(reads, prefix)) {
        const key = one.slice(prefix.length);
        try {
          const value = await records.find(reads, key);
          if (value !== undefined) entries.push([key, value]);
        } catch (error) {
          if (!isDamage(error)) throw error;
          damaged.push(key);
        }
      }
      return { entries, damaged };
    },
  };
  return records;
};
