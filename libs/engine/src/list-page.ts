/** Pages of lists, in the order of their keys (reference §0.5). */
import { field } from '@keelson/secrets-api';

export const PAGE_FIELDS = {
  after: field.string({ default: '', description: 'Only entries after this key.' }),
  limit: field.integer({ default: 0, description: 'Maximum number of entries; 0 or less: all.' }),
};

export interface PageChoice {
  readonly after: string;
  readonly limit: number;
}

/** The chosen part of a list that is in memory as a whole, in ascending order of its keys. */
export const pageOf = <T>(
  list: readonly T[],
  keyOf: (item: T) => string,
  { after, limit }: PageChoice,
): readonly T[] => {
  const following = after === '' ? list : list.filter((item) => keyOf(item) > after);
  return limit > 0 ? following.slice(0, limit) : following;
};
