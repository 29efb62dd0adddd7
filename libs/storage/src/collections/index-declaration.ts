/** Declarations of indexes, and where their rows are. */
import { type TSchema, Type } from 'typebox';
import type { RecordScope } from '../store.ts';
import { type RecordCodec, recordCodec } from './codec.ts';
import type { RecordKey } from './record-collection.ts';
import { register } from './table.ts';

/** A value of an index, of one or more segments. */
export type IndexValue = string | RecordKey;

/** An index whose values are computed from a record, which may have any number of them. */
export interface DerivedIndex<T, Name extends string = string> {
  readonly name: Name;
  readonly values: (record: T) => readonly IndexValue[];
  /** A value belongs to one record at most: to write a second one is refused. */
  readonly unique?: true;
  /** Where the rows are below the scope, in place of `<collection>~<name>`. */
  readonly rows?: string;
  /**
   * The version of the collection with which the index was added; absent if the first version has it. Records of
   * older versions have no rows, and until the last of them is rewritten all records are searched instead.
   */
  readonly since?: number;
}

/**
 * The name of a field, or a derived index. A field contains text, or a list of texts; a record in which it is null
 * or absent is not in the index. Upgrades of the collection do not change the values.
 */
export type IndexOf<T> = (keyof T & string) | DerivedIndex<T>;

export type IndexName<Index> = Index extends { readonly name: infer Name extends string }
  ? Name
  : Extract<Index, string>;

/** An index with everything that its declaration leaves out. */
export interface IndexFacts<T> {
  readonly name: string;
  readonly values: (record: T) => readonly IndexValue[];
  readonly isUnique: boolean;
  /** Below the scope. */
  readonly place: string;
  readonly since: number;
}

const fieldValues =
  <T>(field: keyof T) =>
  (record: T): readonly IndexValue[] => {
    const found: unknown = record[field];
    return found === null || found === undefined ? [] : ([found].flat() as string[]);
  };

/** @param collection name of the collection */
export const factsOf = <T>(collection: string, index: IndexOf<T>): IndexFacts<T> => {
  const declared: DerivedIndex<T> =
    typeof index === 'object' ? index : { name: index, values: fieldValues(index) };
  const { name, values, unique = false, rows, since = 1 } = declared;
  return { name, values, isUnique: unique, place: rows ?? `${collection}~${name}`, since };
};

const emptyShape = Type.Object({});
const uniqueShape = Type.Object({
  /** Key of the only record with the value. */
  id: Type.String(),
});

/** A row of an index, whose path ends with the key of the record; also the mark of a complete index. */
export const rowCodec = recordCodec('index', { version: 1, shape: emptyShape });
export const uniqueRowCodec = recordCodec('unique index', { version: 1, shape: uniqueShape });

/** Path below the scope of the mark that every record has its rows in an index that was added later. */
export const markOf = ({ place }: Pick<IndexFacts<never>, 'place'>): string => `${place}~complete`;

/** Declares the rows of indexes, and their marks, as records of their own kinds. */
export const registerIndexes = (
  collection: string,
  scopes: readonly RecordScope[],
  indexes: readonly IndexFacts<never>[],
): void => {
  const declare = (
    name: string,
    isSingle: boolean,
    shape: TSchema,
    codec: RecordCodec<unknown>,
  ): void => {
    register({
      name,
      scopes,
      isSingle,
      version: 1,
      shape,
      codec,
      owners: [],
      indexOf: collection,
      deleteAt: (tx, path) => tx.delete(path),
    });
  };
  for (const index of indexes) {
    if (index.isUnique) declare(index.place, false, uniqueShape, uniqueRowCodec);
    else declare(index.place, false, emptyShape, rowCodec);
    if (index.since > 1) declare(markOf(index), true, emptyShape, rowCodec);
  }
};
