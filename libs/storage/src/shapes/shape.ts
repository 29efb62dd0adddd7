/**
 * Shapes of records: schemas of typebox, from which both the TypeScript type and the check of stored values
 * follow. An object has the fields that its shape names and no others, because a field that nobody declared
 * would be a change of the shape without a version.
 */
import { createHash } from 'node:crypto';
import { type Static, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

/**
 * A deeply read-only version of a type. An optional field may also be undefined: neither is stored.
 */
export type Immutable<T> = T extends readonly unknown[]
  ? { readonly [Index in keyof T]: Immutable<T[Index]> }
  : T extends object
    ? {
        readonly [Key in keyof T]: IsOptional<T, Key> extends true
          ? Immutable<T[Key]> | undefined
          : Immutable<T[Key]>;
      }
    : T;

/** A field of a fixed name that may be missing; a map of any names is not optional. */
type IsOptional<T, Key extends keyof T> = string extends Key
  ? false
  : Record<never, never> extends Pick<T, Key>
    ? true
    : false;

/** The type of the values that have this shape. */
export type Shaped<Shape extends TSchema> = Immutable<Static<Shape>>;

/** `shape` or null. */
export const nullable = <Shape extends TSchema>(shape: Shape) => Type.Union([shape, Type.Null()]);

/** Keywords that only describe. */
const DESCRIPTIONS: readonly string[] = ['title', 'description', 'examples', '$comment'];
/** Keywords whose values are not schemas; the order of names and values has no meaning. */
const VALUES: readonly string[] = ['const', 'enum', 'required'];
/** The only pattern of `Type.Record(Type.String(), …)`, which does not match names with a line break. */
const ANY_NAME = '^.*$';

type Json = Readonly<Record<string, unknown>>;

const inOrder = (value: unknown): unknown =>
  Array.isArray(value) ? value.toSorted((a, b) => (String(a) < String(b) ? -1 : 1)) : value;

const mapValues = (object: Json, change: (value: unknown, name: string) => unknown): Json =>
  Object.fromEntries(Object.entries(object).map(([name, value]) => [name, change(value, name)]));

/** The shape as JSON Schema, without descriptions, in which every object refuses fields that it does not name. */
const toExactSchema = (schema: unknown): unknown => {
  if (Array.isArray(schema)) return schema.map(toExactSchema);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { patternProperties, properties, ...keywords } = schema as {
    readonly patternProperties?: Json;
    readonly properties?: Json;
  } & Json;
  const exact = mapValues(
    Object.fromEntries(Object.entries(keywords).filter(([name]) => !DESCRIPTIONS.includes(name))),
    (value, name) => (VALUES.includes(name) ? inOrder(value) : toExactSchema(value)),
  );
  if (patternProperties !== undefined)
    return { ...exact, additionalProperties: toExactSchema(patternProperties[ANY_NAME]) };
  return exact['type'] === 'object'
    ? {
        ...exact,
        properties: mapValues(properties ?? {}, toExactSchema),
        additionalProperties: false,
      }
    : exact;
};

/** JSON with the fields of every object in the order of their names. */
const toCanonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).sort(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );

/** 16 hexadecimal characters that differ when the shape does, whatever its comments and the order of its fields. */
export const shapeDigest = (shape: TSchema): string =>
  createHash('sha256')
    .update(toCanonicalJson(toExactSchema(shape)))
    .digest('hex')
    .slice(0, 16);

/** The check of one shape, which is compiled when it is first used. */
export class ShapeCheck {
  readonly #shape: TSchema;
  #compiled: Validator | undefined;

  constructor(shape: TSchema) {
    this.#shape = shape;
  }

  /**
   * Why a value does not have the shape: the place and what is expected there. Values are not named, because
   * they may be secret. undefined if the value has the shape.
   */
  findFault(value: unknown): string | undefined {
    this.#compiled ??= Compile(toExactSchema(this.#shape) as TSchema);
    if (this.#compiled.Check(value)) return undefined;
    return describeFault(this.#compiled.Errors(value));
  }
}

type Faults = ReturnType<Validator['Errors']>;

/** The fault that is deepest in the value. Where no value is allowed, the checker reports a schema that is false. */
const describeFault = (faults: Faults): string => {
  const [deepest] = faults
    .filter(({ keyword }) => keyword !== 'boolean')
    .sort((a, b) => b.instancePath.length - a.instancePath.length);
  if (deepest === undefined) return `${faults[0]?.instancePath || 'it'} is not allowed`;
  const { keyword, instancePath, message, params } = deepest;
  const unnamed =
    keyword === 'additionalProperties'
      ? (params as { readonly additionalProperties?: readonly string[] }).additionalProperties
      : undefined;
  return [
    instancePath || 'it',
    message,
    ...(unnamed === undefined ? [] : [unnamed.join(', ')]),
  ].join(' ');
};
