import { invalidParameter, parseSort, type QueryParameters } from '@keelson/jsonapi';
import { SORT_FIELDS, type TagFilter, type WorkspaceQuery } from './workspace-listing.ts';

/** What a list request selects, before it is known what the caller may see. */
export type GivenWorkspaceQuery = Omit<WorkspaceQuery, 'organizationId' | 'visible' | 'page'>;

const MAX_FILTERS = 20;

/** Each is a condition of its own: one that is left out would select what was not asked for. */
const limited = (parameter: string, given: readonly string[]): readonly string[] => {
  if (given.length <= MAX_FILTERS) return given;
  throw invalidParameter(parameter, `at most ${MAX_FILTERS} are taken at once`);
};

const isOn = (query: QueryParameters, name: string): boolean =>
  query.one('filter', name) === 'true';

/** One of the conditions on bindings is enough. */
export const isTagUnion = (query: QueryParameters): boolean => isOn(query, 'tag-union');

/**
 * Conditions on bindings. Public clients send the value of each, empty where none is asked for: any
 * value is meant then, unless `filter[tag-value-default-null]` asks for bindings without one.
 * @throws KeelsonError `jsonapi.invalid_attribute` for more than are taken
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
 * Parameters of the listing. Malformed filters select nothing in particular.
 * @throws KeelsonError `jsonapi.invalid_attribute` for more filters of a kind than are taken,
 *   `jsonapi.invalid_sort`
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
