/**
 * Query strings with brackets: `filter[tagged][0][key]=env`. Names that are not well formed and names
 * nobody asks for are ignored, because clients leak private ones.
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
}

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
  const at = (path: readonly string[]) => values.get(path.join(SEPARATOR)) ?? [];
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
  };
};
