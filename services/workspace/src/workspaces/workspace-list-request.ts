import type { QueryParameters } from '@keelson/jsonapi';
import { SORT_FIELDS, type TagFilter, type WorkspaceQuery } from './workspace-listing.ts';

/** What a list request selects, before it is known what the caller may see. */
export type GivenWorkspaceQuery = Omit<WorkspaceQuery, 'organizationId' | 'visible' | 'page'>;

const MAX_FILTERS = 20;

const isOn = (query: QueryParameters, name: string): boolean =>
  query.one('filter', name) === 'true';

const parseTagFilters = (query: QueryParameters): readonly TagFilter[] => {
  // Without a value and with an empty one a binding is the same.
  const absent = isOn(query, 'tag-value-default-null') ? '' : undefined;
  return query
    .children('filter', 'tagged')
    .slice(0, MAX_FILTERS)
    .flatMap((index) => {
      const key = query.one('filter', 'tagged', index, 'key');
      if (!key) return [];
      const value = query.one('filter', 'tagged', index, 'value') ?? absent;
      return [value === undefined ? { key } : { key, value }];
    });
};

const parseSort = (text: string | undefined): WorkspaceQuery['sort'] => {
  const isDescending = text?.startsWith('-') === true;
  const name = isDescending ? text.slice(1) : text;
  const by = SORT_FIELDS.find((field) => field === name);
  return by === undefined ? undefined : { by, isDescending };
};

/** Parameters of the listing. Unknown sorts and malformed filters select nothing in particular. */
export const parseWorkspaceQuery = (query: QueryParameters): GivenWorkspaceQuery => ({
  nameContains: query.one('search', 'name') || undefined,
  nameWildcard: query.one('search', 'wildcard-name') || undefined,
  tags: query.list('search', 'tags').slice(0, MAX_FILTERS),
  excludeTags: query.list('search', 'exclude-tags').slice(0, MAX_FILTERS),
  tagged: parseTagFilters(query),
  isTagUnion: isOn(query, 'tag-union'),
  projectId: query.one('filter', 'project', 'id') || undefined,
  runStatuses: query.list('filter', 'current-run', 'status').slice(0, MAX_FILTERS),
  sort: parseSort(query.one('sort')),
});
