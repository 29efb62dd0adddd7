/**
 * Query strings with brackets: `filter[tagged][0][key]=env`. Malformed and unknown names are
 * ignored, because clients also send private ones; unknown filters, searches and sorts are refused
 * (`requireAllRead`).
 */
import { JSON_API_LIMITS } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';

const NAME = /^([^[\]]+)((?:\[[^[\]]*\])*)$/;
const SEPARATOR = '\u0000';

export interface QueryParameters {
  /** The last value of `a[b][c]`. */
  one(...path: readonly string[]): string | undefined;
  /** All comma-separated parts of all values, trimmed, without empty ones. */
  list(...path: readonly string[]): readonly string[];
  /** Names directly below `path`: `children('filter', 'tagged')` gives the indexes. */
  children(...path: readonly string[]): readonly string[];
  /**
   * Call it after all supported parameters have been read.
   * @throws KeelsonError `jsonapi.unknown_parameter` naming a `filter`, `search` or `sort` that was given a
   *   value and never read: without it the list would contain more than was asked for
   */
  requireAllRead(): void;
}

const CHOOSING: ReadonlySet<string> = new Set(['filter', 'search', 'sort']);
const headOf = (key: string): string => key.split(SEPARATOR, 1)[0] ?? '';

const toName = (key: string): string => {
  const [head, ...inner] = key.split(SEPARATOR);
  return [head, ...inner.map((name) => `[${name}]`)].join('');
};

/** @throws KeelsonError `request.invalid` when there are too many parameters */
export const parseQuery = (parameters: URLSearchParams): QueryParameters => {
  if (parameters.size > JSON_API_LIMITS.parameters) {
    throw new KeelsonError('request.invalid', { text: 'too many query parameters' });
  }
  const values = new Map<string, string[]>();
  for (const [name, value] of parameters) {
    const [, head, brackets] = NAME.exec(name) ?? [];
    if (head === undefined || brackets === undefined) continue;
    const path = [head, ...[...brackets.matchAll(/\[([^[\]]*)\]/g)].map(([, inner = '']) => inner)];
    const key = path.join(SEPARATOR);
    const known = values.get(key);
    if (known === undefined) values.set(key, [value]);
    else known.push(value);
  }
  const read = new Set<string>();
  const at = (path: readonly string[]) => {
    const key = path.join(SEPARATOR);
    read.add(key);
    return values.get(key) ?? [];
  };
  return {
    one: (...path) => at(path).at(-1),
    list: (...path) =>
      at(path)
        .flatMap((value) => value.split(','))
        .map((part) => part.trim())
        .filter((part) => part !== ''),
    children: (...path) => {
      const prefix = path.join(SEPARATOR) + SEPARATOR;
      const names = [...values.keys()]
        .filter((key) => key.startsWith(prefix))
        .map((key) => key.slice(prefix.length).split(SEPARATOR, 1)[0] ?? '');
      return [...new Set(names)];
    },
    requireAllRead: () => {
      for (const [key, given] of values) {
        if (!CHOOSING.has(headOf(key)) || read.has(key) || given.every((value) => value === ''))
          continue;
        const known = [...read].filter((other) => CHOOSING.has(headOf(other))).map(toName);
        throw new KeelsonError('jsonapi.unknown_parameter', {
          parameter: toName(key),
          known: known.length === 0 ? 'none' : known.join(', '),
        });
      }
    },
  };
};
