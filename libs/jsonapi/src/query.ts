/**
 * Query strings with brackets: `filter[tagged][0][key]=env`. Malformed and unknown names are
 * ignored, because clients also send private ones; unknown filters, searches and sorts are refused
 * (`requireKnown`). So are, before anything is read, values that no resource has (U+0000, which PostgreSQL
 * cannot compare), a second value for a parameter that is not a list, and a malformed `page`: with another
 * one, the list would contain more than was asked for.
 */
import { JSON_API_LIMITS } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import { type TSchema, Type } from 'typebox';
import { choice } from './resource-schema.ts';
import { parseTimestampMs } from './timestamp.ts';

const NAME = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;
const SEPARATOR = '\u0000';

/** A query parameter of an endpoint, for its OpenAPI document. */
export interface QueryParameter {
  readonly description: string;
  /** A text when omitted. Lists are separated by commas. */
  readonly schema?: TSchema;
  readonly isRequired?: true;
}

/**
 * The parameters that an endpoint reads, by name, in addition to those that follow from its answer (`page`,
 * `include`, `fields`). `0` stands for any index.
 */
export type QuerySchema = Readonly<Record<string, QueryParameter>>;

/** A list of texts. */
export const TEXTS = Type.Array(Type.String());

/** `true` or `false`. */
export const FLAG = Type.Boolean();

/** The `sort` parameter, for `parseSort` with the same fields. */
export const sortedBy = (fields: readonly string[]): QueryParameter => ({
  description: 'The order; `-` reverses it.',
  schema: choice(fields.flatMap((field) => [field, `-${field}`])),
});

export interface QueryParameters {
  /** The value of `a[b][c]`. */
  one(...path: readonly string[]): string | undefined;
  /** All comma-separated parts of all values, trimmed, without empty ones. */
  list(...path: readonly string[]): readonly string[];
  /**
   * Names directly below `path` that the endpoint has: `children('filter', 'tagged')` gives the indexes that
   * are numbers.
   */
  children(...path: readonly string[]): readonly string[];
  /**
   * @throws KeelsonError `jsonapi.unknown_parameter` naming a `filter`, `search` or `sort` that was given a
   *   value and that the endpoint does not have: without it the list would contain more than was asked for
   */
  requireKnown(): void;
}

const CHOOSING: ReadonlySet<string> = new Set(['filter', 'search', 'sort']);
/** Read for every endpoint; the names in brackets of `fields` are types, which have hyphens. */
const COMMON: ReadonlySet<string> = new Set(['page', 'include', 'fields']);

/** Underscores and hyphens in names are the same, because clients send both. */
const toKey = (path: readonly string[]): string =>
  path[0] === 'fields' ? path.join(SEPARATOR) : path.join(SEPARATOR).replaceAll('-', '_');

const isList = ({ schema }: QueryParameter): boolean =>
  (schema as { type?: string } | undefined)?.type === 'array';

/** The parts of a list that is separated by commas, trimmed, without empty ones. */
const partsOf = (values: readonly string[]): readonly string[] =>
  values
    .flatMap((value) => value.split(','))
    .map((part) => part.trim())
    .filter((part) => part !== '');

interface ValueSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly format?: string;
  readonly items?: ValueSchema;
  readonly maxItems?: number;
}

/** Why a parameter cannot have this value; undefined where it can. */
const faultOf = (schema: ValueSchema, value: string): string | undefined => {
  const allowed = schema.type === 'boolean' ? ['true', 'false'] : schema.enum;
  if (allowed !== undefined && !allowed.includes(value))
    return `must be one of ${allowed.join(', ')}`;
  if (schema.format === 'date-time' && parseTimestampMs(value) === undefined)
    return 'must be an RFC 3339 time with a time zone, such as 2026-01-31T12:00:00Z';
  return undefined;
};

/** Why a parameter cannot have these values, each of which may be a list; undefined where it can. */
const refusalOf = (parameter: QueryParameter, given: readonly string[]): string | undefined => {
  const schema = (parameter.schema ?? {}) as ValueSchema;
  const values = isList(parameter) ? partsOf(given) : given.filter((value) => value !== '');
  const { items = schema, maxItems = values.length } = schema;
  if (values.length > maxItems) return `has at most ${maxItems} values`;
  return values.map((value) => faultOf(items, value)).find((fault) => fault !== undefined);
};

const headOf = (key: string): string => key.split(SEPARATOR, 1)[0] ?? '';

const PAGE_NAMES: readonly string[] = ['number', 'size'].map((name) => toKey(['page', name]));

const isPositiveInteger = (text: string): boolean => /^\d+$/.test(text) && Number(text) > 0;

/** @throws KeelsonError unless this is a page that a list can have; an empty value counts as absent */
const requirePage = (key: string, name: string, values: readonly string[]): void => {
  const given = values.filter((value) => value !== '');
  if (given.length === 0) return;
  if (!PAGE_NAMES.includes(key))
    throw new KeelsonError('jsonapi.unknown_parameter', {
      parameter: name,
      known: 'page[number], page[size]',
    });
  if (!given.every(isPositiveInteger)) throw refuseParameter(name, 'must be a whole number from 1');
};

/** Undefined for a malformed name. */
const toPath = (name: string): readonly string[] | undefined => {
  const [, head, brackets] = NAME.exec(name) ?? [];
  if (head === undefined || brackets === undefined) return undefined;
  return [head, ...[...brackets.matchAll(/\[([^[\]]*)\]/g)].map(([, inner = '']) => inner)];
};

const withoutIndexes = (key: string): string =>
  key
    .split(SEPARATOR)
    .map((part) => (/^\d+$/.test(part) ? '0' : part))
    .join(SEPARATOR);

const refuseParameter = (parameter: string, text: string): KeelsonError =>
  new KeelsonError('jsonapi.invalid_parameter', { parameter, text });

const readValues = (
  parameters: URLSearchParams,
): ReadonlyMap<string, { readonly name: string; readonly values: string[] }> => {
  if (parameters.size > JSON_API_LIMITS.parameters) {
    throw new KeelsonError('request.invalid', { text: 'too many query parameters' });
  }
  const given = new Map<string, { readonly name: string; readonly values: string[] }>();
  for (const [name, value] of parameters) {
    if (`${name}${value}`.includes('\u0000'))
      throw refuseParameter(name, 'must not contain the character U+0000');
    const path = toPath(name);
    if (path === undefined) continue;
    const key = toKey(path);
    const known = given.get(key);
    if (known === undefined) given.set(key, { name, values: [value] });
    else known.values.push(value);
  }
  return given;
};

/**
 * A reader of the query strings of one endpoint, which has these parameters.
 * @returns reads a query string; @throws KeelsonError `request.invalid` when there are too many parameters,
 *   `jsonapi.invalid_parameter` for U+0000, for several values of a parameter that is not a list, for more values
 *   than a list may have, and for a value, alone or in a list, that a parameter cannot have;
 *   `jsonapi.unknown_parameter` for a `page` without or with another name
 */
export const queryReader = (schema: QuerySchema = {}) => {
  const names = Object.keys(schema);
  const declared = new Map(
    Object.entries(schema).map(([name, parameter]) => [
      withoutIndexes(toKey(toPath(name) ?? [])),
      parameter,
    ]),
  );
  const isDeclared = (key: string): boolean => declared.has(withoutIndexes(key));
  const hasOneValue = (key: string): boolean => {
    if (headOf(key) === 'page') return true;
    const parameter = declared.get(withoutIndexes(key));
    return parameter !== undefined && !isList(parameter);
  };
  return (parameters: URLSearchParams): QueryParameters => {
    const given = readValues(parameters);
    for (const [key, { name, values }] of given) {
      if (headOf(key) === 'page') requirePage(key, name, values);
      if (values.length > 1 && hasOneValue(key))
        throw refuseParameter(name, 'has one value, and was given several times');
      // `parseSort` names the fields by which a list can be sorted.
      const parameter = headOf(key) === 'sort' ? undefined : declared.get(withoutIndexes(key));
      const refusal = parameter && refusalOf(parameter, values);
      if (refusal !== undefined) throw refuseParameter(name, refusal);
    }
    const at = (path: readonly string[]): readonly string[] => {
      const key = toKey(path);
      // The OpenAPI document would lack it.
      if (!COMMON.has(headOf(key)) && !isDeclared(key))
        throw new Error(`the endpoint does not declare the parameter ${path.join(' ')}`);
      return given.get(key)?.values ?? [];
    };
    return {
      one: (...path) => at(path).at(-1),
      list: (...path) => partsOf(at(path)),
      children: (...path) => {
        const prefix = toKey(path) + SEPARATOR;
        const below = [...given.keys()]
          .filter((key) => key.startsWith(prefix) && (COMMON.has(headOf(key)) || isDeclared(key)))
          .map((key) => key.slice(prefix.length).split(SEPARATOR, 1)[0] ?? '');
        return [...new Set(below)];
      },
      requireKnown: () => {
        for (const [key, { name, values }] of given) {
          if (
            !CHOOSING.has(headOf(key)) ||
            isDeclared(key) ||
            values.every((value) => value === '')
          )
            continue;
          const known = names.filter((other) => CHOOSING.has(toPath(other)?.[0] ?? ''));
          throw new KeelsonError('jsonapi.unknown_parameter', {
            parameter: name,
            known: known.length === 0 ? 'none' : known.join(', '),
          });
        }
      },
    };
  };
};
