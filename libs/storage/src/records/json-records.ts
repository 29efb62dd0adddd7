/** Typed records as JSON below a prefix. */
import type { ListOptions, Reads, StoredRecord, Transaction } from '../store.ts';

export interface RecordCollection<T> {
  readonly prefix: string;
  path(key: string): string;
  /** A value as it is stored, frozen. */
  decode(value: Uint8Array): Readonly<T>;
  find(reads: Reads, key: string): Promise<Readonly<T> | undefined>;
  write(tx: Transaction, key: string, value: T): void;
  delete(tx: Transaction, key: string): void;
  /** Names directly below the prefix; see `Reads.list`. */
  keys(reads: Reads, options?: ListOptions): Promise<readonly string[]>;
  /** Keys and values in order of the keys, nested ones included. `after` is a key. */
  entries(
    reads: Reads,
    options?: ListOptions,
  ): Promise<readonly (readonly [string, Readonly<T>])[]>;
}

/**
 * Decoded values, for as long as the store keeps the record they were decoded from: it hands out the
 * same object while the record has not changed.
 */
const decoded = new WeakMap<StoredRecord, unknown>();

const parse = (value: Uint8Array): unknown =>
  deepFreeze(JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString()));

const decodeOnce = (record: StoredRecord): unknown => {
  if (!decoded.has(record)) decoded.set(record, parse(record.value));
  return decoded.get(record);
};

const deepFreeze = (value: unknown): unknown => {
  if (typeof value !== 'object' || value === null) return value;
  for (const part of Object.values(value)) deepFreeze(part);
  return Object.freeze(value);
};

/**
 * Records below `prefix` (ends with a slash) whose values are the JSON of `T`. Values read are frozen
 * and shared between readers; a property whose value is undefined is not stored.
 */
export const jsonRecords = <T>(prefix: string): RecordCollection<T> => {
  const path = (key: string): string => prefix + key;
  return {
    prefix,
    path,
    decode: (value) => parse(value) as Readonly<T>,
    find: async (reads, key) => {
      const record = await reads.read(path(key));
      return record && (decodeOnce(record) as Readonly<T>);
    },
    write: (tx, key, value) => tx.write(path(key), Buffer.from(JSON.stringify(value))),
    delete: (tx, key) => tx.delete(path(key)),
    keys: (reads, options) => reads.list(prefix, options),
    entries: async (reads, { after, ...options } = {}) => {
      const records = await reads.scan(prefix, {
        ...options,
        ...(after !== undefined && { after: path(after) }),
      });
      return records.map((record) => [
        record.path.slice(prefix.length),
        decodeOnce(record) as Readonly<T>,
      ]);
    },
  };
};
