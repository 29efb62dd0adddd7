import { KeelsonError } from '@keelson/errors';
import type { QueryParameters } from './query.ts';

/**
 * The `include` parameter in its underscore form; hyphens are accepted, as clients send both.
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
  return new Set(names);
};
