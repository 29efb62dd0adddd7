/** Collections of a kind that has moved: reads find its records at both places. */
import { comparePaths } from '../records/record-path.ts';
import type { ListOptions, Reads } from '../store.ts';
import type { Move } from './moves.ts';
import type { ReadableEntries, RecordCollection } from './record-collection.ts';

/** One page of what is at both places, in order; of two with the same key, the one at the newer place. */
const merge = <T>(
  former: readonly T[],
  newer: readonly T[],
  keyOf: (one: T) => string,
  limit = Number.POSITIVE_INFINITY,
): readonly T[] =>
  [...new Map([...former, ...newer].map((one) => [keyOf(one), one])).values()]
    .sort((a, b) => comparePaths(keyOf(a), keyOf(b)))
    .slice(0, limit);

const keyOfEntry = ([key]: readonly [string, unknown]): string => key;

/**
 * Both places are read one after the other, the former one first: a record that moves in between is found at both.
 * @param records at the new place
 * @param former at the former one
 */
export const movedRecords = <T>(
  records: RecordCollection<T>,
  former: RecordCollection<T>,
  move: Move,
): RecordCollection<T> => ({
  prefix: records.prefix,
  codec: records.codec,
  path: (...key) => records.path(...key),
  find: async (reads, ...key) =>
    (await records.find(reads, ...key)) ??
    (await former.find(reads, ...key)) ??
    records.find(reads, ...key),
  write: (tx, key, value) => {
    if (tx.writableVersion(records.codec.kind) < move.in) return former.write(tx, key, value);
    former.delete(tx, ...[key].flat());
    records.write(tx, key, value);
  },
  delete: (tx, ...key) => {
    former.delete(tx, ...key);
    if (tx.writableVersion(records.codec.kind) >= move.in) records.delete(tx, ...key);
  },
  keys: async (reads, below, options) =>
    merge(
      await former.keys(reads, below, options),
      await records.keys(reads, below, options),
      (name) => name,
      options?.limit,
    ),
  entries: async (reads, options) =>
    merge(
      await former.entries(reads, options),
      await records.entries(reads, options),
      keyOfEntry,
      options?.limit,
    ),
  readableEntries: (reads, options) => readableAtBoth(records, former, reads, options),
  below: (...segments) => movedRecords(records.below(...segments), former.below(...segments), move),
});

const readableAtBoth = async <T>(
  records: RecordCollection<T>,
  former: RecordCollection<T>,
  reads: Pick<Reads, 'scanAs'>,
  options?: ListOptions,
): Promise<ReadableEntries<T>> => {
  const older = await former.readableEntries(reads, options);
  const newer = await records.readableEntries(reads, options);
  const entries = merge(older.entries, newer.entries, keyOfEntry, options?.limit);
  const last = entries.length === options?.limit ? entries.at(-1)?.[0] : undefined;
  const readable = new Set(entries.map(keyOfEntry));
  const damaged = merge(older.damaged, newer.damaged, (key) => key).filter(
    (key) => !readable.has(key) && (last === undefined || comparePaths(key, last) < 0),
  );
  return { entries, damaged };
};
