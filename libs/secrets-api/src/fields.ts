/**
 * Declared parameters of an endpoint. One declaration defines how requests are parsed, the types that
 * handlers see, and the OpenAPI schema. TypeBox, which declares the bodies of /api/v2, is not used here: /v1
 * coerces values (the text "1h" to seconds, "a,b" to a list) and has its own error text for each field.
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
  toObjectList,
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
}

export interface Field<out T> {
  readonly description: string;
  readonly schema: JsonObject;
  readonly required: boolean;
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
      const complaint = options.check?.(value);
      if (complaint !== undefined) throw refused(complaint);
      return value;
    };
    return {
      description: options.description,
      schema:
        options.default === undefined ? schema : { ...schema, default: options.default as unknown },
      required: options.required !== undefined,
      read,
    } as FieldOf<T, O>;
  };

/** The kinds of parameters; each takes options and returns a typed `Field`. */
export const field = {
  string: kind<string>({ type: 'string' }, toText),
  bool: kind<boolean>({ type: 'boolean' }, toBoolean),
  integer: kind<number>({ type: 'integer' }, toInteger),
  /** Whole seconds. */
  durationSeconds: kind<number>(
    { type: ['integer', 'string'], format: 'duration' },
    toDurationSeconds,
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
