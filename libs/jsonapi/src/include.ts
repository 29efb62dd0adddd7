import { KeelsonError } from '@keelson/errors';
import type { Includes } from './answer-schema.ts';
import type { QueryParameters } from './query.ts';

/**
 * The `include` parameter with underscores; hyphens are accepted, because clients send both. Contains the
 * intermediate names too: `a` for `a.b`.
 * @throws KeelsonError `jsonapi.invalid_include` for a name that is not in `allowed` (JSON:API 1.0, "Inclusion of
 *   Related Resources": also at an address that includes nothing)
 */
export const parseInclude = (query: QueryParameters, allowed: Includes): ReadonlySet<string> => {
  const names = query.list('include').map((name) => name.replaceAll('-', '_'));
  for (const name of names) {
    if (!Object.hasOwn(allowed, name))
      throw new KeelsonError('jsonapi.invalid_include', {
        name,
        known: Object.keys(allowed).join(', ') || 'none',
        parameter: 'include',
      });
  }
  // Intermediate resources of a path are included too (JSON:API 1.0, "Inclusion of Related Resources").
  const paths = names.flatMap((name) => {
    const parts = name.split('.');
    return parts.map((_, index) => parts.slice(0, index + 1).join('.'));
  });
  return new Set(paths);
};
