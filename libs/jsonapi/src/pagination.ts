import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import {
  type IncludedResources,
  type JsonApiDocument,
  type Resource,
  withWarnings,
} from './document.ts';
import { API_PREFIX } from './endpoint.ts';
import type { QueryParameters } from './query.ts';

export interface Page {
  /** Starts at 1. */
  readonly number: number;
  readonly size: number;
}

const DEFAULT_SIZE = 20;
const MAX_SIZE = 100;
// Limit that keeps offsets exact integers in every database.
const MAX_NUMBER = 1_000_000_000;

/** The requested page: number from 1, size 20 by default and at most 100. `queryReader` refused other texts. */
export const parsePage = (query: QueryParameters): Page => ({
  number: Math.min(Number(query.one('page', 'number') || 1), MAX_NUMBER),
  size: Math.min(Number(query.one('page', 'size') || DEFAULT_SIZE), MAX_SIZE),
});

/** The items on the page, in the order of `all`. */
export const itemsOn = <T>({ number, size }: Page, all: readonly T[]): readonly T[] =>
  all.slice((number - 1) * size, number * size);

export interface PaginatedListing<R extends Resource = Resource> {
  readonly data: readonly R[];
  readonly page: Page;
  readonly totalCount: number;
  readonly included?: IncludedResources;
  /** Additional members of `meta`. */
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** Items counted in the total but missing from this page, because their records are damaged or were just deleted. */
const countMissing = ({ data, page, totalCount }: PaginatedListing): number => {
  const left = Math.max(totalCount - (page.number - 1) * page.size, 0);
  return Math.max(Math.min(left, page.size) - data.length, 0);
};

/** A warning if the total counts more than the page shows; without them, the pages would shift. */
const toWarnings = (listing: PaginatedListing): readonly string[] => {
  const missing = countMissing(listing);
  return missing === 0
    ? []
    : [`${missing} of the items that total-count includes cannot be read and are not on this page`];
};

/** A list with `links` (absolute; null at the ends) and `meta.pagination`. */
export const toPaginatedDocument = <R extends Resource>(
  head: RequestHead,
  listing: PaginatedListing<R>,
): JsonApiDocument<readonly R[]> => {
  const { data, page, totalCount, included, meta } = listing;
  const totalPages = Math.ceil(totalCount / page.size);
  const previous = page.number > 1 ? page.number - 1 : null;
  const next = page.number < totalPages ? page.number + 1 : null;
  const link = (number: number | null): string | null => {
    if (number === null) return null;
    const query = new URLSearchParams(head.query);
    query.set('page[number]', String(number));
    query.set('page[size]', String(page.size));
    return `${head.baseUrl}${API_PREFIX}${head.path}?${query.toString()}`;
  };
  return {
    data,
    ...(included === undefined || included.length === 0 ? {} : { included }),
    links: {
      self: link(page.number),
      first: link(1),
      prev: link(previous),
      next: link(next),
      last: link(Math.max(totalPages, 1)),
    },
    meta: {
      ...meta,
      ...withWarnings(toWarnings(listing)).meta,
      pagination: {
        'current-page': page.number,
        'page-size': page.size,
        'prev-page': previous,
        'next-page': next,
        'total-pages': totalPages,
        'total-count': totalCount,
      },
    },
  };
};
