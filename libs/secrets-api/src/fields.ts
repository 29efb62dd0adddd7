/**
 * Declared parameters of an endpoint. One declaration defines how requests are parsed, the types that
 * handlers see, and the OpenAPI schema. TypeBox, which declares the bodies of /api/v2, is not used here, because
 * /v1 converts values and has its own error text for each field (docs/decisions/0010).
 */
import { KeelsonError } from '@keelson/errors';
import {
  type Coercion,
  type JsonObject,
  type Timestamp,
  toBoolean,
  toCommaList,
  toDurationSeconds,
  toInteger,
  toMap,
  toNumber,
  toObjectList,
  toSignedDurationSeconds,
  toStringMap,
  toText,
  toTimestamp,
} from './coercions.ts';

export interface FieldOptions<T> {
  readonly description: string;
  /** The value if the parameter is absent. */
  readonly default?: NoInfer<T>;
  /** Whether an absent parameter is refused; a string is the text of the error. */
  readonly required?: true | string;
  /** Error text for a value of the wrong type, for endpoints with their own text. */
  readonly invalidText?: (reason: string) => string;
  /** A rule for the value; returns the text of the error if it is broken. */
  readonly check?: (value: T) => string | undefined;
  /** Limit in characters: of a text, of all elements of a list, or of an object as JSON. */
  readonly maxLength?: number;
}

export interface Field<out T> {
  readonly description: string;
  readonly schema: JsonObject;
  readonly required: boolean;
  /** The declared members of an object. */
  readonly members?: Fields;
  /**
   * Parses the parameter `name`; undefined if it was not sent.
   * @throws KeelsonError `request.invalid`
   */
  read(name: string, raw: unknown): T;
}

export type Fields = Readonly<Record<string, Field<unknown>>>;
export type FieldValues<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T : never;
};
/** Field values of a PATCH: absent and null are both undefined; `given` distinguishes them. */
export type PartialFieldValues<F extends Fields> = {
  readonly [K in keyof F]: FieldValues<F>[K] | undefined;
};

type FieldOf<T, O> = O extends { readonly default: unknown } | { readonly required: true | string }
  ? Field<T>
  : Field<T | undefined>;

const refused = (text: string): KeelsonError => new KeelsonError('request.invalid', { text });

const lengthOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  return Array.isArray(value)
    ? value.reduce((sum: number, element) => sum + lengthOf(element), 0)
    : JSON.stringify(value).length;
};

/** JSON Schema limits the length of a text, but not that of a whole list or object. */
const lengthLimit = (schema: JsonObject, maxLength: number | undefined): JsonObject =>
  maxLength === undefined
    ? {}
    : { [schema['type'] === 'string' ? 'maxLength' : 'x-max-length']: maxLength };

const kind =
  <T>(schema: JsonObject, coerce: Coercion<T>) =>
  <const O extends FieldOptions<T>>(options: O): FieldOf<T, O> => {
    const read = (name: string, raw: unknown): T | undefined => {
      if (raw === undefined || raw === null) {
        if (options.required !== undefined)
          throw refused(
            options.required === true ? `missing ${name} parameter value` : options.required,
          );
        return options.default;
      }
      const value = coerce(raw, (reason) => {
        throw refused(
          options.invalidText?.(reason) ??
            `Field validation failed: error converting input for field "${name}": ${reason}`,
        );
      });
      if (options.maxLength !== undefined && lengthOf(value) > options.maxLength) {
        const limit = `at most ${options.maxLength} characters`;
        throw refused(options.invalidText?.(`expected ${limit}`) ?? `${name} has ${limit}`);
      }
      const complaint = options.check?.(value);
      if (complaint !== undefined) throw refused(complaint);
      return value;
    };
    return {
      description: options.description,
      schema: {
        ...schema,
        ...lengthLimit(schema, options.maxLength),
        ...(options.default !== undefined && { default: options.default as unknown }),
      },
      required: options.required !== undefined,
      read,
    } as FieldOf<T, O>;
  };

/** JSON Schema of the members of an object. */
export const propertiesOf = (fields: Fields): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, { schema, description }]) => [
      name,
      { ...schema, description },
    ]),
  );

/** An object whose members are declared; absent, it is one without any of them. */
const objectOf = <const F extends Fields>(options: {
  readonly description: string;
  readonly members: F;
}): Field<FieldValues<F>> => ({
  ...options,
  schema: { type: 'object', properties: propertiesOf(options.members) },
  required: false,
  read: (name, raw) => readFields(options.members, mapField.read(name, raw)),
});

const mapField = kind<JsonObject>({ type: 'object' }, toMap)({ description: '', default: {} });

/** The kinds of parameters; each takes options and returns a typed `Field`. */
export const field = {
  string: kind<string>({ type: 'string' }, toText),
  bool: kind<boolean>({ type: 'boolean' }, toBoolean),
  integer: kind<number>({ type: 'integer' }, toInteger),
  number: kind<number>({ type: 'number' }, toNumber),
  /** Whole seconds. */
  durationSeconds: kind<number>(
    { type: ['integer', 'string'], format: 'duration' },
    toDurationSeconds,
  ),
  /** Whole seconds, which may be negative. */
  signedDurationSeconds: kind<number>(
    { type: ['integer', 'string'], format: 'duration' },
    toSignedDurationSeconds,
  ),
  commaList: kind<readonly string[]>({ type: 'array', items: { type: 'string' } }, toCommaList),
  /** Texts; an object is represented by its JSON text. */
  objectList: kind<readonly string[]>(
    { type: 'array', items: { type: ['string', 'object'] } },
    toObjectList,
  ),
  stringMap: kind<Readonly<Record<string, string>>>(
    { type: 'object', additionalProperties: { type: 'string' } },
    toStringMap,
  ),
  map: kind<JsonObject>({ type: 'object' }, toMap),
  objectOf,
  time: kind<Timestamp>({ type: 'string', format: 'date-time' }, toTimestamp),
} as const;

/** Parses all declared fields in the order of their declaration. */
export const readFields = <F extends Fields>(fields: F, data: JsonObject): FieldValues<F> => {
  const values: Record<string, unknown> = {};
  for (const name in fields)
    values[name] = fields[name]?.read(name, Object.hasOwn(data, name) ? data[name] : undefined);
  return values as FieldValues<F>;
};

/**
 * Parses only the fields that a merge patch sets. null (remove) and absent are undefined, and defaults are
 * not applied.
 */
export const readPatchFields = <F extends Fields>(
  fields: F,
  data: JsonObject,
): PartialFieldValues<F> => {
  const values: Record<string, unknown> = {};
  for (const name in fields) {
    const raw = Object.hasOwn(data, name) ? data[name] : undefined;
    if (raw !== undefined && raw !== null) values[name] = fields[name]?.read(name, raw);
  }
  return values as PartialFieldValues<F>;
};
