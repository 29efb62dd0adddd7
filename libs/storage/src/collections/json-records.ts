/** Records whose shape is not declared yet: their JSON is taken for the type. */
import { parseJson } from '../records/parsed-record.ts';
import type { RecordCodec } from './codec.ts';
import { type KeySegments, type RecordCollection, recordsBelow } from './record-collection.ts';

/** A deeply read-only version of a type. */
export type ReadonlyDeep<T> = T extends object
  ? { readonly [Key in keyof T]: ReadonlyDeep<T[Key]> }
  : T;

const json: RecordCodec<unknown> = {
  version: 1,
  kind: '',
  decode: (_, value) => parseJson(value),
  encode: (_, value) => Buffer.from(JSON.stringify(value)),
};

/**
 * Records below `prefix` (ends with a slash) whose values are the JSON of `T`. Values read are shared
 * between readers; a property whose value is undefined is not stored.
 */
export const jsonRecords = <T>(
  prefix: string,
  keys: KeySegments = 'paths',
): RecordCollection<ReadonlyDeep<T>> =>
  recordsBelow(prefix, json as RecordCodec<ReadonlyDeep<T>>, keys);
