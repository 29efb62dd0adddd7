/**
 * Declarations of the kinds of records: the one place where the scope, version, shape and upgrades of a kind are
 * written down. What is stored under a name is explained in `codec.ts`.
 */
import type { TSchema } from 'typebox';
import type { Shaped } from '../shapes/shape.ts';
import type { RecordScope } from '../store.ts';
import { type RecordFormat, recordCodec } from './codec.ts';
import { factsOf, type IndexName, type IndexOf, registerIndexes } from './index-declaration.ts';
import { type IndexedCollection, indexedRecords } from './indexed-collection.ts';
import { movedRecords } from './moved-records.ts';
import { currentPath, type Move, registerMove } from './moves.ts';
import {
  type KeySegments,
  type RecordCollection,
  recordAt,
  recordsBelow,
  type SealedRecord,
  type SingleRecord,
  sealedRecordAt,
  type ValueCipher,
} from './record-collection.ts';
import { type Declaration, type FIRST_SEGMENT, type Owner, register } from './table.ts';
import { requireEachStep } from './upgrades.ts';

export interface Declared {
  readonly declaration: Declaration;
}

/** Facts about who owns records: one owner, or any of several. */
export interface Ownership<By extends string> {
  readonly owner?: Owner<NoInfer<By>> | readonly Owner<NoInfer<By>>[];
  /** The kind as which records of this collection are owners; the last segment of their key is the owner's id. */
  readonly kind?: string;
}

export interface CollectionOptions<Shape extends TSchema>
  extends RecordFormat<Shape>,
    Ownership<typeof FIRST_SEGMENT> {
  readonly scope: RecordScope;
  /** "names" unless keys contain slashes or other characters that names do not have. */
  readonly keys?: KeySegments;
  /** Where the records were before; a kind moves once. */
  readonly moved?: Move;
  readonly index?: undefined;
}

export interface IndexedOptions<Shape extends TSchema, Index extends IndexOf<Shaped<Shape>>>
  extends RecordFormat<Shape>,
    Ownership<typeof FIRST_SEGMENT | IndexName<Index>> {
  readonly scope: RecordScope;
  readonly keys?: KeySegments;
  readonly moved?: Move;
  /**
   * Fields by which records are found; see `index-declaration.ts`. Rows contain keys and no paths, so they stay where
   * they are when the records move.
   */
  readonly index: readonly Index[];
}

export type SingleOptions<Shape extends TSchema> = Omit<
  CollectionOptions<Shape>,
  'keys' | 'moved' | 'index' | keyof Ownership<never>
>;

export interface SealedOptions<Shape extends TSchema> extends SingleOptions<Shape> {
  readonly cipher: ValueCipher;
}

/** Options of records that lie at several places, which `at` chooses between. */
export interface PlacedOptions<Shape extends TSchema>
  extends RecordFormat<Shape>,
    Ownership<typeof FIRST_SEGMENT> {
  readonly scopes: readonly RecordScope[];
  readonly keys?: KeySegments;
  readonly moved?: Move;
}

/** Records of one kind at several places. */
export interface Placed<Records> extends Declared {
  /** @param names the segments for which "*" stands in the name, in order */
  readonly at: (scope: RecordScope, ...names: readonly string[]) => Records;
}

/**
 * Records below `<scope>/<name>/`, with an index or without.
 * @throws Error when an upgrade is missing
 */
export function collection<Shape extends TSchema, const Index extends IndexOf<Shaped<Shape>>>(
  name: string,
  options: IndexedOptions<Shape, Index>,
): IndexedCollection<Shaped<Shape>, Index> & Declared;
export function collection<Shape extends TSchema>(
  name: string,
  options: CollectionOptions<Shape>,
): RecordCollection<Shaped<Shape>> & Declared;
export function collection<Shape extends TSchema, Index extends IndexOf<Shaped<Shape>>>(
  name: string,
  { scope, index, ...options }: CollectionOptions<Shape> | IndexedOptions<Shape, Index>,
) {
  const { at, facts } = placesOf(name, { scopes: [scope], ...options });
  const records = at(scope);
  if (index === undefined) return { ...records, declaration: registerOwned(facts) };
  const indexes = index.map((one) => factsOf(options.moved?.from ?? name, one));
  for (const { since } of indexes)
    if (since > options.version) throw new Error(`an index of ${name} is newer than its version`);
  const { indexed, rows } = indexedRecords<Shaped<Shape>, Index>(records, indexes);
  registerIndexes(name, [scope], indexes);
  const keyOf = (path: string): string => currentPath(path).slice(records.prefix.length);
  const declaration = registerOwned({
    ...facts,
    indexes: rows,
    deleteAt: (tx, path) => indexed.delete(tx, keyOf(path)),
    writeAt: (tx, path, value) => indexed.write(tx, keyOf(path), value as Shaped<Shape>),
  });
  return { ...indexed, declaration };
}

/** The record at `<scope>/<name>`. @throws Error when an upgrade is missing */
export const singleRecord = <Shape extends TSchema>(
  name: string,
  { scope, ...format }: SingleOptions<Shape>,
): SingleRecord<Shaped<Shape>> & Declared => {
  const codec = codecOf(name, [scope], format);
  return {
    ...recordAt(`${scope}/${name}`, codec),
    declaration: registerOwned({ name, scopes: [scope], isSingle: true, codec, ...format }),
  };
};

/**
 * The record at `<scope>/<name>`, encrypted with a key that its readers have: for records of the node, which the
 * barrier does not encrypt. @throws Error when an upgrade is missing
 */
export const sealedRecord = <Shape extends TSchema>(
  name: string,
  { scope, cipher, ...format }: SealedOptions<Shape>,
): SealedRecord<Shaped<Shape>> & Declared => {
  const codec = codecOf(name, [scope], format);
  return {
    ...sealedRecordAt(`${scope}/${name}`, codec, cipher),
    declaration: registerOwned({
      name,
      scopes: [scope],
      isSingle: true,
      isSealed: true,
      codec,
      ...format,
    }),
  };
};

/** Records like those of `collection`, at each of several places. @throws Error when an upgrade is missing */
export const collections = <Shape extends TSchema>(
  name: string,
  options: PlacedOptions<Shape>,
): Placed<RecordCollection<Shaped<Shape>>> => {
  const { at, facts } = placesOf(name, options);
  return { at, declaration: registerOwned(facts) };
};

/** A record like that of `singleRecord`, at each of several places. @throws Error when an upgrade is missing */
export const singleRecords = <Shape extends TSchema>(
  name: string,
  { scopes, ...format }: Omit<PlacedOptions<Shape>, 'keys'>,
): Placed<SingleRecord<Shaped<Shape>>> => {
  const codec = codecOf(name, scopes, format);
  return {
    at: (scope, ...names) => recordAt(`${scope}/${fillIn(name, names)}`, codec),
    declaration: registerOwned({ name, scopes, isSingle: true, codec, ...format }),
  };
};

const codecOf = <Shape extends TSchema>(
  name: string,
  scopes: readonly RecordScope[],
  format: RecordFormat<Shape>,
) => {
  requireEachStep(name, format.version, format.upgrades ?? {});
  return recordCodec(`${scopes.join()}/${name}`, format);
};

/** A declaration before it is registered; `deleteAt` is absent if the records have neither indexes nor former places. */
type DeclarationFacts = Omit<Declaration, 'owners' | 'deleteAt'> &
  Partial<Pick<Declaration, 'deleteAt'>> &
  Ownership<string> & { readonly moved?: Move };

/** The records at each place, and the facts of their declaration. A kind that has moved keeps the name of its codec. */
const placesOf = <Shape extends TSchema>(
  name: string,
  {
    keys = 'names',
    ...format
  }: Omit<PlacedOptions<Shape>, keyof Ownership<never>> & Ownership<string>,
) => {
  const { scopes, moved } = format;
  const codec = codecOf(moved?.from ?? name, scopes, format);
  const below = (place: string, scope: RecordScope, names: readonly string[]) =>
    recordsBelow(`${scope}/${fillIn(place, names)}/`, codec, keys);
  const at = (scope: RecordScope, ...names: readonly string[]): RecordCollection<Shaped<Shape>> =>
    moved === undefined
      ? below(name, scope, names)
      : movedRecords(below(name, scope, names), below(moved.from, scope, names), moved);
  const facts: DeclarationFacts = { name, isSingle: false, codec, ...format };
  if (moved === undefined) return { at, facts };
  const place = name.split('/');
  const find = (path: string) => {
    const [scope, ...segments] = currentPath(path).split('/');
    const names = segments.filter((_, index) => place[index] === '*');
    return { records: at(scope as RecordScope, ...names), key: segments.slice(place.length) };
  };
  const writing: Pick<DeclarationFacts, 'deleteAt' | 'writeAt'> = {
    deleteAt: (tx, path) => {
      const { records, key } = find(path);
      records.delete(tx, ...key);
    },
    writeAt: async (tx, path, value) => {
      const { records, key } = find(path);
      records.write(tx, key, value as Shaped<Shape>);
    },
  };
  return { at, facts: { ...facts, ...writing } };
};

/** Declares the records, and those at a former place as records of their own. */
const registerOwned = ({ owner = [], moved, ...facts }: DeclarationFacts): Declaration => {
  const declared: Declaration = {
    deleteAt: (tx, path) => tx.delete(path),
    ...facts,
    owners: [owner].flat(),
  };
  if (moved !== undefined) {
    const { indexes: _, ...others } = declared;
    register({ ...others, name: moved.from, movedTo: facts.name });
    registerMove(facts.name, facts.scopes, moved);
  }
  return register(declared);
};

const fillIn = (name: string, names: readonly string[]): string => {
  let used = 0;
  return name.replaceAll('*', () => names[used++] ?? '');
};
