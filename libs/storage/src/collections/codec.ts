/**
 * Stored values of one kind of records. A value of version 1 is its JSON; in a later version n, "v<n> " precedes
 * it, with which no JSON begins. Reading upgrades a value to the current version and checks its shape; writing
 * always writes the current version.
 */
import { KeelsonError } from '@keelson/errors';
import type { TSchema } from 'typebox';
import { parseJson } from '../records/parsed-record.ts';
import { ShapeCheck, type Shaped } from '../shapes/shape.ts';
import type { RecordDecoder } from '../store.ts';
import { type Upgrades, upgradeFrom } from './upgrades.ts';

/** Conversion of values to the bytes that are stored, and back. */
export interface RecordCodec<T> extends RecordDecoder<T> {
  /** Version of the records that it writes. */
  readonly version: number;
  /** @throws Error when the value does not have the shape, which is a mistake of the caller */
  encode(path: string, value: unknown): Uint8Array;
}

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
const versionOf = (value: Uint8Array): { readonly version: number; readonly bytes: number } => {
  if (value[0] !== MARK) return { version: 1, bytes: 0 };
  const [mark = '', version = 0] =
    LATER.exec(Buffer.from(value.subarray(0, MAX_MARK_BYTES)).toString('latin1')) ?? [];
  return { version: Number(version), bytes: mark.length };
};

export const recordCodec = <Shape extends TSchema>({
  version,
  shape,
  upgrades = {},
}: RecordFormat<Shape>): RecordCodec<Shaped<Shape>> => {
  const check = new ShapeCheck(shape);
  const mark = version === 1 ? '' : `v${version} `;
  return {
    version,
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
        value = upgradeFrom(found.version, parseJson(stored.subarray(found.bytes)), upgrades);
      } catch (cause) {
        const fault = `version ${found.version} of it cannot be read`;
        throw new KeelsonError('storage.damaged_record', { path, fault }, { cause });
      }
      const fault = check.findFault(value);
      if (fault !== undefined) throw new KeelsonError('storage.damaged_record', { path, fault });
      return value as Shaped<Shape>;
    },
    encode: (path, value) => {
      const fault = check.findFault(value);
      if (fault !== undefined)
        throw new Error(`what is written to ${path} has another shape: ${fault}`);
      return Buffer.from(mark + JSON.stringify(value));
    },
  };
};
