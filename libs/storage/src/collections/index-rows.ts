/**
 * Indexes of collections. A row of an index is a record below `<scope>/<name>~<index>/`, whose path continues with
 * a value and the key of the indexed record. It is written and deleted in the transaction that writes and deletes
 * that record, and replicated, copied and restored like any other record. An index is therefore valid at every
 * commit of every store that has all records of its collection.
 */
import { Type } from 'typebox';
import { unlessDamaged } from '../records/readable-records.ts';
import type { ListOptions, Reads, RecordScope, Transaction } from '../store.ts';
import { recordCodec } from './codec.ts';
import { pathsBelow } from './paths-below.ts';
import { isName, type RecordCollection, type RecordKey } from './record-collection.ts';
import { register } from './table.ts';

/** A value of an index, of one or more segments. */
export type IndexValue = string | RecordKey;

/** An index whose values are computed from a record, which may have any number of them. */
export interface DerivedIndex<T, Name extends string = string> {
  readonly name: Name;
  readonly values: (record: T) => readonly IndexValue[];
}

/**
 * The name of a field, or a derived index. A field contains text, or a list of texts; a record in which it is null
 * or absent is not in the index. Upgrades of the collection do not change the values.
 */
export type IndexOf<T> = (keyof T & string) | DerivedIndex<T>;

export type IndexName<Index> = Index extends { readonly name: infer Name extends string }
  ? Name
  : Extract<Index, string>;

/** The records with a value, in order of their keys. */
export interface RecordIndex<T> {
  /** The keys, or their first segments as `RecordCollection.keys` returns them. */
  keys(reads: Reads, value: IndexValue, options?: ListOptions): Promise<readonly string[]>;
  /** @throws KeelsonError the same as `RecordCollection.find` */
  records(reads: Reads, value: IndexValue): Promise<readonly T[]>;
}

const rowShape = Type.Object({});
const rowCodec = recordCodec('index', { version: 1, shape: rowShape });

const valuesOf = <T>(index: IndexOf<T>, record: T): readonly IndexValue[] => {
  if (typeof index === 'object') return index.values(record);
  const found: unknown = record[index];
  return found === null || found === undefined ? [] : ([found].flat() as string[]);
};

const nameOf = (index: IndexOf<never>): string => (typeof index === 'object' ? index.name : index);

const segmentsOf = (value: IndexValue): RecordKey => (typeof value === 'string' ? [value] : value);

/** Declares the rows of the indexes as records of their own kinds. */
export const registerIndexes = (
  name: string,
  scopes: readonly RecordScope[],
  indexes: readonly IndexOf<never>[],
): void => {
  for (const index of indexes)
    register({
      name: `${name}~${nameOf(index)}`,
      scopes,
      isSingle: false,
      version: 1,
      shape: rowShape,
      codec: rowCodec,
      owners: [],
      indexOf: name,
      deleteAt: (tx, path) => tx.delete(path),
    });
};

/** The rows of all indexes of a collection at one place. */
export class IndexRows<T> {
  readonly #records: RecordCollection<T>;
  readonly #indexes: readonly IndexOf<T>[];
  /** Path of the collection without the final slash. */
  readonly #path: string;

  constructor(records: RecordCollection<T>, indexes: readonly IndexOf<T>[]) {
    this.#records = records;
    this.#indexes = indexes;
    this.#path = records.prefix.slice(0, -1);
  }

  prefixOf(index: string, value: IndexValue): string {
    return `${this.#path}~${index}/${segmentsOf(value).join('/')}/`;
  }

  /** Paths of the rows of a record. */
  of(key: string, record: T): ReadonlySet<string> {
    return new Set(
      this.#indexes.flatMap((index) =>
        valuesOf(index, record).map((value) => this.prefixOf(nameOf(index), value) + key),
      ),
    );
  }

  /** Replaces the rows of a stored record. @param after absent if the record is deleted */
  async replace(tx: Transaction, key: string, after: ReadonlySet<string> = new Set()) {
    const before = await this.#stored(tx, key);
    for (const row of before.difference(after)) tx.delete(row);
    for (const row of after.difference(before)) tx.writeAs(row, rowCodec, {});
  }

  /** Paths of the rows in the store. All rows are searched for those of a record that cannot be read. */
  async #stored(tx: Transaction, key: string): Promise<ReadonlySet<string>> {
    const path = this.#records.path(key);
    const found = await unlessDamaged(
      tx.readAs(path, this.#records.codec).then((record) => ({ record })),
    );
    if (found !== undefined)
      return found.record === undefined ? new Set() : this.of(key, found.record);
    const rows = await Promise.all(
      this.#indexes.map((index) => pathsBelow(tx, `${this.#path}~${nameOf(index)}/`)),
    );
    return new Set(rows.flat().filter((row) => row.endsWith(`/${key}`)));
  }

  index(name: string): RecordIndex<T> {
    const isReachable = (value: IndexValue) => segmentsOf(value).every(isName);
    return {
      keys: async (reads, value, options) =>
        isReachable(value) ? reads.list(this.prefixOf(name, value), options) : [],
      records: async (reads, value) => {
        if (!isReachable(value)) return [];
        const prefix = this.prefixOf(name, value);
        const rows = await pathsBelow(reads, prefix);
        const found = await Promise.all(
          rows.map((row) =>
            reads.readAs(this.#records.path(row.slice(prefix.length)), this.#records.codec),
          ),
        );
        return found.filter((record) => record !== undefined);
      },
    };
  }
}
