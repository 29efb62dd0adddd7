/**
 * Declarations of the kinds of records: the one place where the scope, version, shape and upgrades of a kind are
 * written down. What is stored under a name is explained in `codec.ts`.
 */
import type { TSchema } from 'typebox';
import type { Shaped } from '../shapes/shape.ts';
import type { RecordScope } from '../store.ts';
import { type RecordFormat, recordCodec } from './codec.ts';
import {
  type KeySegments,
  type RecordCollection,
  recordAt,
  recordsBelow,
  type SingleRecord,
} from './record-collection.ts';
import { type Declaration, register } from './table.ts';
import { requireEachStep } from './upgrades.ts';

export interface Declared {
  readonly declaration: Declaration;
}

export interface CollectionOptions<Shape extends TSchema> extends RecordFormat<Shape> {
  readonly scope: RecordScope;
  /** "names" unless keys contain slashes or other characters that names do not have. */
  readonly keys?: KeySegments;
}

export type SingleOptions<Shape extends TSchema> = Omit<CollectionOptions<Shape>, 'keys'>;

/** Options of records that lie at several places, which `at` chooses between. */
export interface PlacedOptions<Shape extends TSchema> extends RecordFormat<Shape> {
  readonly scopes: readonly RecordScope[];
  readonly keys?: KeySegments;
}

/** Records of one kind at several places. */
export interface Placed<Records> extends Declared {
  /** @param names the segments for which "*" stands in the name, in order */
  readonly at: (scope: RecordScope, ...names: readonly string[]) => Records;
}

/**
 * Records below `<scope>/<name>/`.
 * @throws Error when an upgrade is missing
 */
export const collection = <Shape extends TSchema>(
  name: string,
  { scope, keys = 'names', ...format }: CollectionOptions<Shape>,
): RecordCollection<Shaped<Shape>> & Declared => {
  const codec = codecOf(name, format);
  return {
    ...recordsBelow(`${scope}/${name}/`, codec, keys),
    declaration: register({ name, scopes: [scope], isSingle: false, codec, ...format }),
  };
};

/** The record at `<scope>/<name>`. @throws Error when an upgrade is missing */
export const singleRecord = <Shape extends TSchema>(
  name: string,
  { scope, ...format }: SingleOptions<Shape>,
): SingleRecord<Shaped<Shape>> & Declared => {
  const codec = codecOf(name, format);
  return {
    ...recordAt(`${scope}/${name}`, codec),
    declaration: register({ name, scopes: [scope], isSingle: true, codec, ...format }),
  };
};

/** Records like those of `collection`, at each of several places. @throws Error when an upgrade is missing */
export const collections = <Shape extends TSchema>(
  name: string,
  { scopes, keys = 'names', ...format }: PlacedOptions<Shape>,
): Placed<RecordCollection<Shaped<Shape>>> => {
  const codec = codecOf(name, format);
  return {
    at: (scope, ...names) => recordsBelow(`${scope}/${fillIn(name, names)}/`, codec, keys),
    declaration: register({ name, scopes, isSingle: false, codec, ...format }),
  };
};

/** A record like that of `singleRecord`, at each of several places. @throws Error when an upgrade is missing */
export const singleRecords = <Shape extends TSchema>(
  name: string,
  { scopes, ...format }: Omit<PlacedOptions<Shape>, 'keys'>,
): Placed<SingleRecord<Shaped<Shape>>> => {
  const codec = codecOf(name, format);
  return {
    at: (scope, ...names) => recordAt(`${scope}/${fillIn(name, names)}`, codec),
    declaration: register({ name, scopes, isSingle: true, codec, ...format }),
  };
};

const codecOf = <Shape extends TSchema>(name: string, format: RecordFormat<Shape>) => {
  requireEachStep(name, format.version, format.upgrades ?? {});
  return recordCodec(format);
};

const fillIn = (name: string, names: readonly string[]): string => {
  let used = 0;
  return name.replaceAll('*', () => names[used++] ?? '');
};
