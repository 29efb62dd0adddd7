import { KeelsonError } from '@keelson/errors';
import type { QueryParameters } from './query.ts';

interface Sort<Field extends string> {
  readonly by: Field;
  readonly isDescending: boolean;
}

/**
 * The `sort` parameter; undefined where it is absent or empty.
 * @throws KeelsonError `jsonapi.invalid_sort` for another field than these, or several at once
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
