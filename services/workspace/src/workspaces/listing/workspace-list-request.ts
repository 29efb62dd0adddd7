import { invalidParameter, parseSort, type QueryParameters } from '@keelson/jsonapi';
import { SORT_FIELDS, type TagFilter, type WorkspaceQuery } from './workspace-listing.ts';

/** The selection of a list request, before it is limited to what the caller may see. */
export type GivenWorkspaceQuery = Omit<WorkspaceQuery, 'organizationId' | 'visible' | 'page'>;

const MAX_FILTERS = 20;

/**
 * Each filter is a condition; ignoring the surplus ones would select workspaces that the request excludes.
 */
const limited = (parameter: string, given: readonly string[]): readonly string[] => {
  if (given.length <= MAX_FILTERS) return given;
  throw invalidParameter(parameter, `at most ${MAX_FILTERS} are allowed at once`);
};

const isOn = (query: QueryParameters, name: string): boolean =>
  query.one('filter', name) === 'true';

/** Whether one of the bindings is enough. */
export const isTagUnion = (query: QueryParameters): boolean => isOn(query, 'tag-union');

/**
 * Conditions on bindings. Public clients send a value with each, empty if none is wanted: it then matches any
 * value, unless `filter[tag-value-default-null]` requires bindings without a value.
 * @throws KeelsonError `jsonapi.invalid_attribute` for more conditions than the limit
 */
export const parseTagFilters = (query: QueryParameters): readonly TagFilter[] => {
  const absent = isOn(query, 'tag-value-default-null') ? '' : undefined;
  return limited('filter[tagged]', query.children('filter', 'tagged')).flatMap((index) => {
    const key = query.one('filter', 'tagged', index, 'key');
    if (!key) return [];
    const value = query.one('filter', 'tagged', index, 'value') || absent;
    return [value === undefined ? { key } : { key, value }];
  });
};

/**
 * The parameters of the list. Malformed filters are ignored.
 * @throws KeelsonError `jsonapi.invalid_attribute` for more filters of a kind than the limit,
 * `jsonapi.invalid_sort`
 */
export const parseWorkspaceQuery = (query: QueryParameters): GivenWorkspaceQuery => ({
  nameContains: query.one('search', 'name') || undefined,
  nameWildcard: query.one('search', 'wildcard-name') || undefined,
  tags: limited('search[tags]', query.list('search', 'tags')),
  excludeTags: limited('search[exclude-tags]', query.list('search', 'exclude-tags')),
  tagged: parseTagFilters(query),
  isTagUnion: isTagUnion(query),
  projectId: query.one('filter', 'project', 'id') || undefined,
  runStatuses: limited(
    'filter[current-run][status]',
    query.list('filter', 'current-run', 'status'),
  ),
  sort: parseSort(query, SORT_FIELDS),
});
