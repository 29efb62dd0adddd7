/**
 * Indexes of collections. A row of an index is a record below `<scope>/<name>~<index>/`, whose path continues with
 * a value and, unless the index is unique, the key of the indexed record. It is written and deleted in the
 * transaction that writes and deletes that record, and replicated, copied and restored like any other record. An
 * index is therefore valid at every commit of every store that has all records of its collection.
 *
 * An index that is added later has rows of exactly the records that are stored in its version or a newer one. A
 * mark says that no older ones are left. It is a record too, so that it arrives where the rows arrive.
 */
import { isDamage, KeelsonError } from '@keelson/errors';
import { listNames } from '../records/listing.ts';
import { comparePaths } from '../records/record-path.ts';
import type { ListOptions, Reads, Store, Transaction } from '../store.ts';
import { versionOf } from './codec.ts';
import { type IndexFacts, type IndexValue, markCodec, markOf } from './index-declaration.ts';
import { formerPath, readPlaces } from './moves.ts';
import { pathsBelow } from './paths-below.ts';
import { isName, type RecordCollection, type RecordKey } from './record-collection.ts';

/** The records with a value, in order of their keys. */
export interface RecordIndex<T> {
  /** The rows are below it. */
  readonly prefix: string;
  /**
   * The keys, or their first segments as `RecordCollection.keys` returns them; the ends of the rows where the index
   * declares other ends.
   */
  keys(reads: Reads, value: IndexValue, options?: ListOptions): Promise<readonly string[]>;
  /** @throws KeelsonError the same as `RecordCollection.find` */
  records(reads: Reads, value: IndexValue): Promise<readonly T[]>;
  /**
   * Writes the rows that a record has, or gets in the same transaction, again, so that transactions which have listed
   * its values conflict. For what those conclude from the records themselves without reading them.
   */
  touch(tx: Transaction, key: string, record: T): void;
  /**
   * The parts of the paths of rows after these first segments of a value, in order: the rest of the value, and the end.
   * `after` is such a part. More than `limit` if there are rows that cannot be read.
   */
  rests(reads: Reads, below: RecordKey, options?: ListOptions): Promise<readonly string[]>;
  /** Deletes the row with a value if the record does not have it: such rows were left by releases without the index. */
  prune(tx: Transaction, value: IndexValue, key: string): Promise<void>;
}

/** The only record with a value. */
export interface UniqueIndex<T> {
  /** @throws KeelsonError the same as `RecordCollection.find` */
  find(reads: Reads, value: IndexValue): Promise<T | undefined>;
  findKey(reads: Reads, value: IndexValue): Promise<string | undefined>;
  /** The values directly below these segments, as `RecordCollection.keys` returns names. */
  values(reads: Reads, below?: RecordKey, options?: ListOptions): Promise<readonly string[]>;
}

/** Records of one page of a walk over a collection. */
const PAGE = 200;

const segmentsOf = (value: IndexValue): RecordKey => (typeof value === 'string' ? [value] : value);

const isReachable = (value: IndexValue): boolean => segmentsOf(value).every(isName);

/** A row, and the key of its record. */
type Row<T> = readonly [path: string, key: string, index: IndexFacts<T>];

/** The rows of all indexes of a collection at one place. */
export class IndexRows<T> {
  readonly #records: RecordCollection<T>;
  readonly #indexes: readonly IndexFacts<T>[];
  /** The indexes that were added later, the newest first. */
  readonly #later: readonly IndexFacts<T>[];
  /** Ends with a slash. */
  readonly #scope: string;

  constructor(records: RecordCollection<T>, indexes: readonly IndexFacts<T>[]) {
    this.#records = records;
    this.#indexes = indexes;
    this.#later = indexes
      .filter(({ since }) => since > 1)
      .toSorted((one, other) => other.since - one.since);
    this.#scope = records.prefix.slice(0, records.prefix.indexOf('/') + 1);
  }

  /**
   * Replaces the rows of a stored record, before it is written or deleted.
   * @param record undefined if the record is deleted
   * @throws KeelsonError `storage.not_unique`
   */
  async replace(tx: Transaction, key: string, record: T | undefined): Promise<void> {
    const before = await this.#stored(tx, key);
    const version = tx.writableVersion(this.#records.codec.kind);
    const after = record === undefined ? [] : this.#rowsOf(key, record, version);
    const kept = new Set(after.map(([path]) => path));
    for (const path of before ?? []) if (!kept.has(path)) tx.delete(path);
    if (record !== undefined) await this.#requireUnique(tx, key, record, before);
    for (const row of after)
      if (record !== undefined && !before?.has(row[0])) this.#write(tx, row, record);
    if (before === undefined && record !== undefined) await this.#beginComplete(tx, version);
  }

  #write(tx: Transaction, [path, key, { codec, content }]: Row<T>, record: T): void {
    tx.writeAs(path, codec, content.of(record, key));
  }

  #find(reads: Reads, key: string): Promise<T | undefined> {
    const { codec } = this.#records;
    return readPlaces(this.#records.path(key), (path) => reads.readAs(path, codec));
  }

  /** Rows in the indexes of a version. */
  #rowsOf(key: string, record: T, version: number): readonly Row<T>[] {
    return this.#indexes
      .filter(({ since }) => since <= version)
      .flatMap((index) => this.#rowsIn(index, key, record));
  }

  #rowsIn(index: IndexFacts<T>, key: string, record: T): readonly Row<T>[] {
    return index.values(record, key).map((value) => [this.#rowAt(index, value, key), key, index]);
  }

  #rowAt(index: IndexFacts<T>, value: IndexValue, key: string): string {
    const end = index.isUnique ? '' : `/${index.end?.of(key) ?? key}`;
    return this.#pathOf(index, value) + end;
  }

  /** Path of a value, without a final slash. */
  #pathOf({ place }: IndexFacts<T>, value: IndexValue): string {
    return [this.#scope + place, ...segmentsOf(value)].join('/');
  }

  /**
   * Paths of the rows in the store; undefined if there is no record. All rows are searched for those of a record
   * that cannot be read.
   */
  async #stored(tx: Transaction, key: string): Promise<ReadonlySet<string> | undefined> {
    try {
      const stored = await readPlaces(this.#records.path(key), (path) => tx.read(path));
      const record = stored && (await tx.readAs(stored.path, this.#records.codec));
      if (stored === undefined || record === undefined) return undefined;
      const { version } = versionOf(stored.value);
      return new Set(this.#rowsOf(key, record, version).map(([row]) => row));
    } catch (error) {
      if (!isDamage(error)) throw error;
    }
    const rows = await Promise.all(this.#indexes.map((index) => this.#search(tx, index, key)));
    return new Set(rows.flat());
  }

  async #search(
    reads: Reads,
    { place, isUnique, end, codec, content }: IndexFacts<T>,
    key: string,
  ): Promise<readonly string[]> {
    const prefix = `${this.#scope}${place}/`;
    const damaged: string[] = [];
    const rows = await reads.scanAs(prefix, codec, { onDamaged: (path) => damaged.push(path) });
    if (isUnique) return rows.filter(([, row]) => content.toKey(row) === key).map(([path]) => path);
    const isOfKey = (path: string): boolean => {
      if (end === undefined) return path.endsWith(`/${key}`);
      const value = path.slice(prefix.length).split('/');
      return end.toKey(value.pop() ?? '', value) === key;
    };
    return [...rows.map(([path]) => path), ...damaged].filter(isOfKey);
  }

  async #requireUnique(
    tx: Transaction,
    key: string,
    record: T,
    before: ReadonlySet<string> | undefined,
  ): Promise<void> {
    for (const index of this.#indexes.filter(({ isUnique }) => isUnique))
      for (const value of index.values(record, key)) {
        if (before?.has(this.#pathOf(index, value))) continue;
        const owner = await this.#findKey(tx, index, value);
        if (owner === undefined || owner === key) continue;
        const { name } = index;
        throw new KeelsonError('storage.not_unique', { kind: this.#records.codec.kind, name });
      }
  }

  async #isComplete(reads: Reads, index: IndexFacts<T>): Promise<boolean> {
    if (index.since === 1) return true;
    return (await reads.readAs(this.#scope + markOf(index), markCodec)) !== undefined;
  }

  #mark(tx: Transaction, index: IndexFacts<T>): void {
    tx.writeAs(this.#scope + markOf(index), markCodec, {});
  }

  /**
   * Marks later indexes when the first record of a collection is written. Those of older versions are complete where
   * the newest one is.
   */
  async #beginComplete(tx: Transaction, version: number): Promise<void> {
    const later = this.#later.filter(({ since }) => since <= version);
    const [newest] = later;
    if (newest === undefined || (await this.#isComplete(tx, newest))) return;
    if (await this.#isEmpty(tx)) for (const index of later) this.#mark(tx, index);
  }

  async #isEmpty(reads: Reads): Promise<boolean> {
    return (await this.#records.keys(reads, [], { limit: 1 })).length === 0;
  }

  /** Places of the later indexes that are not complete; the first record completes those of an empty collection. */
  async unfinished(reads: Reads): Promise<readonly string[]> {
    const places: string[] = [];
    for (const index of this.#indexes)
      if (!(await this.#isComplete(reads, index)) && !(await this.#isEmpty(reads)))
        places.push(this.#scope + index.place);
    return places;
  }

  /**
   * Marks later indexes as complete if all records are stored in their versions. Nobody writes older versions once
   * the newer ones are writable.
   */
  async finish(store: Store): Promise<void> {
    const unmarked: IndexFacts<T>[] = [];
    for (const index of this.#indexes)
      if (!(await this.#isComplete(store, index))) unmarked.push(index);
    if (unmarked.length === 0) return;
    const { prefix, codec } = this.#records;
    const former = formerPath(prefix);
    const writable = await store.transact((tx) => tx.writableVersion(codec.kind));
    const oldest = Math.min(
      writable,
      await this.#oldestVersion(store, prefix),
      former === undefined ? writable : await this.#oldestVersion(store, former),
    );
    await store.transact((tx) => {
      for (const index of unmarked) if (index.since <= oldest) this.#mark(tx, index);
    });
  }

  /** 0 if a record cannot be read, because an older version of it may be restored. */
  async #oldestVersion(store: Store, prefix: string): Promise<number> {
    let oldest = Number.POSITIVE_INFINITY;
    const onDamaged = (): void => {
      oldest = 0;
    };
    for (let after: string | undefined; ; ) {
      const options = { limit: PAGE, onDamaged, ...(after !== undefined && { after }) };
      const page = await store.scan(prefix, options);
      for (const { value } of page) oldest = Math.min(oldest, versionOf(value).version);
      if (page.length === 0) return oldest;
      after = page.at(-1)?.path;
    }
  }

  /** The rows that all records should have, in order; without those of records that cannot be read. */
  async #computed(reads: Reads, index: IndexFacts<T>): Promise<readonly Row<T>[]> {
    const { entries } = await this.#records.readableEntries(reads);
    return entries
      .flatMap(([key, record]) => this.#rowsIn(index, key, record))
      .sort(([a], [b]) => comparePaths(a, b));
  }

  async #list(
    reads: Reads,
    index: IndexFacts<T>,
    prefix: string,
    options?: ListOptions,
  ): Promise<readonly string[]> {
    if (await this.#isComplete(reads, index)) return reads.list(prefix, options);
    const rows = await this.#computed(reads, index);
    return listNames(
      async ({ from, to }, limit) =>
        rows
          .map(([path]) => path)
          .filter((path) => comparePaths(path, from) >= 0 && comparePaths(path, to) < 0)
          .slice(0, limit),
      prefix,
      options,
    );
  }

  async #rests(
    reads: Reads,
    index: IndexFacts<T>,
    below: RecordKey,
    { after, limit }: ListOptions,
  ): Promise<readonly string[]> {
    const prefix = `${this.#pathOf(index, below)}/`;
    const first = after === undefined ? undefined : prefix + after;
    const paths: string[] = [];
    if (await this.#isComplete(reads, index)) {
      const rows = await reads.scanAs(prefix, index.codec, {
        onDamaged: (path) => paths.push(path),
        ...(first !== undefined && { after: first }),
        ...(limit !== undefined && { limit }),
      });
      paths.push(...rows.map(([path]) => path));
      paths.sort(comparePaths);
    } else {
      const rows = (await this.#computed(reads, index)).map(([path]) => path);
      const isWanted = (path: string): boolean =>
        path.startsWith(prefix) && (first === undefined || comparePaths(path, first) > 0);
      paths.push(...rows.filter(isWanted).slice(0, limit));
    }
    return paths.map((path) => path.slice(prefix.length));
  }

  async #prune(
    tx: Transaction,
    index: IndexFacts<T>,
    value: IndexValue,
    key: string,
  ): Promise<void> {
    const row = this.#rowAt(index, value, key);
    const stored = await this.#stored(tx, key);
    if (!stored?.has(row)) tx.delete(row);
  }

  async #findKey(
    reads: Reads,
    index: IndexFacts<T>,
    value: IndexValue,
  ): Promise<string | undefined> {
    const wanted = this.#pathOf(index, value);
    if (await this.#isComplete(reads, index)) {
      const row = await reads.readAs(wanted, index.codec);
      return row === undefined ? undefined : index.content.toKey(row);
    }
    return (await this.#computed(reads, index)).find(([path]) => path === wanted)?.[1];
  }

  /** The first segments of the values of an index, as `Reads.list` returns names. */
  firstValues(reads: Reads, name: string): Promise<readonly string[]> {
    const index = this.#require(name);
    return this.#list(reads, index, `${this.#scope}${index.place}/`);
  }

  /** Keys of at most `limit` records with a value. */
  async allKeys(
    reads: Reads,
    name: string,
    value: IndexValue,
    limit = Number.POSITIVE_INFINITY,
  ): Promise<readonly string[]> {
    const index = this.#require(name);
    const prefix = `${this.#pathOf(index, value)}/`;
    const rows = (await this.#isComplete(reads, index))
      ? await pathsBelow(reads, prefix, limit)
      : (await this.#computed(reads, index))
          .map(([path]) => path)
          .filter((path) => path.startsWith(prefix))
          .slice(0, limit);
    const ends = rows.map((row) => row.slice(prefix.length));
    const { end } = index;
    return end === undefined ? ends : ends.map((one) => end.toKey(one, segmentsOf(value)));
  }

  #require(name: string): IndexFacts<T> {
    const index = this.#indexes.find((one) => one.name === name);
    if (index === undefined) throw new Error(`${this.#records.prefix} has no index ${name}`);
    return index;
  }

  index(name: string): RecordIndex<T> {
    const index = this.#require(name);
    return {
      prefix: `${this.#scope}${index.place}/`,
      rests: async (reads, below, options = {}) =>
        isReachable(below) ? this.#rests(reads, index, below, options) : [],
      prune: (tx, value, key) => this.#prune(tx, index, value, key),
      keys: async (reads, value, options) =>
        isReachable(value)
          ? this.#list(reads, index, `${this.#pathOf(index, value)}/`, options)
          : [],
      records: async (reads, value) => {
        if (!isReachable(value)) return [];
        const keys = await this.allKeys(reads, name, value);
        const found = await Promise.all(keys.map((key) => this.#find(reads, key)));
        return found.filter((record) => record !== undefined);
      },
      touch: (tx, key, record) => {
        if (index.since > tx.writableVersion(this.#records.codec.kind)) return;
        for (const row of this.#rowsIn(index, key, record)) this.#write(tx, row, record);
      },
    };
  }

  unique(name: string): UniqueIndex<T> {
    const index = this.#require(name);
    const findKey = async (reads: Reads, value: IndexValue): Promise<string | undefined> =>
      isReachable(value) ? this.#findKey(reads, index, value) : undefined;
    return {
      findKey,
      find: async (reads, value) => {
        const key = await findKey(reads, value);
        return key === undefined ? undefined : this.#find(reads, key);
      },
      values: async (reads, below = [], options) =>
        isReachable(below)
          ? this.#list(reads, index, `${[this.#scope + index.place, ...below].join('/')}/`, options)
          : [],
    };
  }
}
