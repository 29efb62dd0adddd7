import { KeelsonError } from '@keelson/errors';
import type { QueryParameters } from './query.ts';

/**
 * The `include` parameter in its underscore form; hyphens are accepted, as clients send both. What
 * leads to a name is in it as well: `a` with `a.b`.
 * @throws KeelsonError `jsonapi.invalid_include` for a name that is not in `allowed`
 */
export const parseInclude = (
  query: QueryParameters,
  allowed: ReadonlySet<string>,
): ReadonlySet<string> => {
  const names = query.list('include').map((name) => name.replaceAll('-', '_'));
  for (const name of names) {
    if (!allowed.has(name))
      throw new KeelsonError('jsonapi.invalid_include', { name, parameter: 'include' });
  }
  // What leads to a resource is included with it (JSON:API 1.0, "Inclusion of Related Resources").
  const paths = names.flatMap((name) => {
    const parts = name.split('.');
    return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
  });
  return new Set(paths);
};
