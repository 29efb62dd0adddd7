/**
 * Stored values of one kind of records. A value of version 1 is its JSON; in a later version n, "v<n> " precedes
 * it, with which no JSON begins. Reading upgrades a value to the current version and checks its shape; writing
 * writes the current version, or an older one while processes that know no other may read it.
 */
import { isDeepStrictEqual } from 'node:util';
import { KeelsonError } from '@keelson/errors';
import type { TSchema } from 'typebox';
import { parseJson } from '../records/parsed-record.ts';
import { ShapeCheck, type Shaped } from '../shapes/shape.ts';
import type { RecordDecoder, RecordEncoder, StoredRecord } from '../store.ts';
import { downgradeTo, type Upgrades, upgradeTo } from './upgrades.ts';

/** A kind of records and its newest version. */
export interface RecordKind {
  /** Its scopes and name. */
  readonly kind: string;
  readonly version: number;
}

/** Conversion of values to the bytes that are stored, and back. */
export interface RecordCodec<T> extends RecordKind, RecordDecoder<T>, RecordEncoder<T> {}

export interface RecordFormat<Shape extends TSchema> {
  /** From 1; raised with every change of the shape. */
  readonly version: number;
  readonly shape: Shape;
  readonly upgrades?: Upgrades;
}

const LATER = /^v([1-9]\d{0,8}) /;
/** "v" as a byte. */
const MARK = 0x76;
const MAX_MARK_BYTES = 11;

/** The version of a stored value, and the number of bytes in front of its JSON. */
export const versionOf = (
  value: Uint8Array,
): { readonly version: number; readonly bytes: number } => {
  if (value[0] !== MARK) return { version: 1, bytes: 0 };
  const [mark = '', version = 0] =
    LATER.exec(Buffer.from(value.subarray(0, MAX_MARK_BYTES)).toString('latin1')) ?? [];
  return { version: Number(version), bytes: mark.length };
};

const parse = (stored: Uint8Array): { readonly version: number; readonly value: unknown } => {
  const { version, bytes } = versionOf(stored);
  return { version, value: parseJson(stored.subarray(bytes)) };
};

/** The record that is overwritten; undefined if there is none, or it cannot be read. */
const parseReplaced = (
  replaced: StoredRecord | undefined,
): ReturnType<typeof parse> | undefined => {
  try {
    return replaced && parse(replaced.value);
  } catch {
    return undefined;
  }
};

const store = (version: number, json: string): Uint8Array =>
  Buffer.from(version === 1 ? json : `v${version} ${json}`);

/** @param kind name of the kind of records */
export const recordCodec = <Shape extends TSchema>(
  kind: string,
  { version, shape, upgrades = {} }: RecordFormat<Shape>,
): RecordCodec<Shaped<Shape>> => {
  const check = new ShapeCheck(shape);
  return {
    version,
    kind,
    decode: (path, stored) => {
      const found = versionOf(stored);
      if (found.version > version)
        throw new KeelsonError('storage.newer_record', {
          path,
          found: found.version,
          known: version,
        });
      let value: unknown;
      try {
        value = upgradeTo(version, parse(stored), upgrades);
      } catch (cause) {
        const fault = `version ${found.version} of it cannot be read`;
        throw new KeelsonError('storage.damaged_record', { path, fault }, { cause });
      }
      const fault = check.findFault(value);
      if (fault !== undefined) throw new KeelsonError('storage.damaged_record', { path, fault });
      return value as Shaped<Shape>;
    },
    encode: (path, value, { writable, replaced }) => {
      const fault = check.findFault(value);
      if (fault !== undefined)
        throw new Error(`what is written to ${path} has another shape: ${fault}`);
      const json = JSON.stringify(value);
      if (writable >= version) return store(version, json);
      const newer = { version, value };
      const older = downgradeTo(writable, newer, parseReplaced(replaced), upgrades);
      const olderJson = JSON.stringify(older);
      const restored = upgradeTo(
        version,
        { version: writable, value: JSON.parse(olderJson) },
        upgrades,
      );
      if (!isDeepStrictEqual(JSON.parse(JSON.stringify(restored)), JSON.parse(json)))
        throw new KeelsonError('storage.upgrade_unfinished', { kind });
      return store(writable, olderJson);
    },
  };
};
