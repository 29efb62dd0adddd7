import { KeelsonError } from '@keelson/errors';
import type { QueryParameters } from './query.ts';

interface Sort<Field extends string> {
  readonly by: Field;
  readonly isDescending: boolean;
}

/**
 * The `sort` parameter; undefined if absent or empty.
 * @throws KeelsonError `jsonapi.invalid_sort` for any other field, or for several
 */
export const parseSort = <Field extends string>(
  query: QueryParameters,
  fields: readonly Field[],
): Sort<Field> | undefined => {
  const text = query.one('sort');
  if (!text) return undefined;
  const isDescending = text.startsWith('-');
  const by = fields.find((field) => field === (isDescending ? text.slice(1) : text));
  if (by !== undefined) return { by, isDescending };
  throw new KeelsonError('jsonapi.invalid_sort', { parameter: 'sort', allowed: fields.join(', ') });
};
