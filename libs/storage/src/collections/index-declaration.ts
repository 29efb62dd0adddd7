/** Declarations of indexes, and where their rows are. */
import { type TSchema, Type } from 'typebox';
import type { Shaped } from '../shapes/shape.ts';
import type { RecordScope } from '../store.ts';
import { type RecordCodec, recordCodec } from './codec.ts';
import type { RecordKey } from './record-collection.ts';
import { register } from './table.ts';

/**
 * A value of an index, of any number of segments. An index whose only value has no segments lists the records that
 * have it.
 */
export type IndexValue = string | RecordKey;

/** Rows that are elsewhere than others, or look different, such as those that stores had before the index. */
export interface RowForm<T> {
  /** Place below the scope, instead of `<collection>~<name>`. */
  readonly at: string;
  /** The last segment of a row's path, if it is not the key of the record. Not for unique indexes. */
  readonly end?: RowEnd;
  /** Content of a row, if it is neither empty nor, in a unique index, the key of the record as `id`. */
  readonly content?: RowContent<T>;
}

/** The last segment of a row's path, from which and from the value before it the key of the record follows. */
export interface RowEnd {
  readonly of: (key: string) => string;
  readonly toKey: (end: string, value: RecordKey) => string;
}

/** Content of a row, which stays the same for as long as the record has the value. */
export interface RowContent<T> {
  readonly shape: TSchema;
  readonly of: (record: T, key: string) => unknown;
  /** Only unique indexes read the key from the content. */
  readonly toKey: (content: unknown) => string;
}

/** Declares the content of rows. @param toKey needed for unique indexes only */
export const rowContent = <T, Shape extends TSchema>(
  shape: Shape,
  of: (record: T, key: string) => Shaped<Shape>,
  toKey: (content: Shaped<Shape>) => string = () => '',
): RowContent<T> => ({ shape, of, toKey: (content) => toKey(content as Shaped<Shape>) });

/** An index whose values are computed from a record, which may have any number of them. */
export interface DerivedIndex<T, Name extends string = string> {
  readonly name: Name;
  readonly values: (record: T, key: string) => readonly IndexValue[];
  /** A value belongs to one record at most: to write a second one is refused. */
  readonly unique?: true;
  /**
   * Each value is preceded by the first segment of the key, so that the path of a row names the owner of the record.
   * A paths filter can then withhold the rows with the records.
   */
  readonly ofOwner?: true;
  /** Where the rows are below the scope, instead of `<collection>~<name>`, or also their form. */
  readonly rows?: string | RowForm<T>;
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
export interface IndexFacts<T> extends Omit<RowForm<T>, 'at'> {
  readonly name: string;
  readonly values: (record: T, key: string) => readonly IndexValue[];
  readonly isUnique: boolean;
  readonly ofOwner: boolean;
  /** Below the scope. */
  readonly place: string;
  readonly since: number;
  readonly content: RowContent<T>;
  readonly codec: RecordCodec<unknown>;
}

const fieldValues =
  <T>(field: keyof T) =>
  (record: T): readonly IndexValue[] => {
    const found: unknown = record[field];
    return found === null || found === undefined ? [] : ([found].flat() as string[]);
  };

const NO_CONTENT = rowContent(Type.Object({}), () => ({}));
const KEY_CONTENT = rowContent(
  Type.Object({
    /** Key of the only record with the value. */
    id: Type.String(),
  }),
  (_, id) => ({ id }),
  ({ id }) => id,
);

/** @param collection name of the collection */
export const factsOf = <T>(collection: string, index: IndexOf<T>): IndexFacts<T> => {
  const declared: DerivedIndex<T> =
    typeof index === 'object' ? index : { name: index, values: fieldValues(index) };
  const { name, unique: isUnique = false, ofOwner = false, rows, since = 1 } = declared;
  const values: IndexFacts<T>['values'] = ofOwner
    ? (record, key) =>
        declared
          .values(record, key)
          .map((value) => [key.split('/', 1)[0] ?? '', value].flat() as RecordKey)
    : declared.values;
  const form: RowForm<T> =
    typeof rows === 'object' ? rows : { at: rows ?? `${collection}~${name}` };
  const { at: place, content = isUnique ? KEY_CONTENT : NO_CONTENT, ...others } = form;
  const codec = recordCodec(isUnique ? 'unique index' : 'index', {
    version: 1,
    shape: content.shape,
  });
  return { name, values, isUnique, ofOwner, place, since, content, codec, ...others };
};

/** The mark of a complete index. */
export const markCodec = recordCodec('index', { version: 1, shape: NO_CONTENT.shape });

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
    namesOwner = false,
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
      namesOwner,
      deleteAt: (tx, path) => tx.delete(path),
    });
  };
  for (const index of indexes) {
    declare(index.place, false, index.content.shape, index.codec, index.ofOwner);
    if (index.since > 1) declare(markOf(index), true, NO_CONTENT.shape, markCodec);
  }
};
