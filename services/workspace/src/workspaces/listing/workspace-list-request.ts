import { KeelsonError } from '@keelson/errors';
import {
  FLAG,
  invalidParameter,
  parseSort,
  type QueryParameters,
  type QuerySchema,
  sortedBy,
  TEXTS,
} from '@keelson/jsonapi';
import { RUN_STATUS_FILTER } from '../../base/run-status-filter.ts';
import { SORT_FIELDS, type TagFilter, type WorkspaceQuery } from './workspace-listing.ts';

/** The selection of a list request, before it is limited to what the caller may see. */
export type WorkspaceQueryInput = Omit<WorkspaceQuery, 'organizationId' | 'visible' | 'page'>;

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

/** Parameters that `parseTagFilters` and `isTagUnion` read. */
export const TAG_FILTERS: QuerySchema = {
  'filter[tagged][0][key]': {
    description: 'Key of a tag binding. Further ones have further indexes.',
  },
  'filter[tagged][0][value]': { description: 'Value of the binding; any value if it is empty.' },
  'filter[tag-value-default-null]': {
    description: 'Whether an empty value selects bindings without a value.',
    schema: FLAG,
  },
  'filter[tag-union]': { description: 'Whether one of the bindings is enough.', schema: FLAG },
};

/** Parameters that `parseWorkspaceQuery` reads. */
export const WORKSPACE_FILTERS: QuerySchema = {
  'search[name]': { description: 'Part of the name.' },
  'search[wildcard-name]': { description: 'The name, where * is any text.' },
  'search[tags]': { description: 'Flat tags that the workspace has.', schema: TEXTS },
  'search[exclude-tags]': { description: 'Flat tags that it does not have.', schema: TEXTS },
  ...TAG_FILTERS,
  'filter[project][id]': { description: 'Its project.' },
  'filter[current-run][status]': {
    description: 'Statuses of its current run.',
    schema: RUN_STATUS_FILTER,
  },
  sort: sortedBy(SORT_FIELDS),
};

/** Whether one of the bindings is enough. */
export const isTagUnion = (query: QueryParameters): boolean => isOn(query, 'tag-union');

/**
 * Conditions on bindings. Public clients send a value with each, empty if none is wanted: it then matches any
 * value, unless `filter[tag-value-default-null]` requires bindings without a value.
 * @throws KeelsonError `jsonapi.invalid_attribute` for more conditions than the limit,
 * `jsonapi.invalid_parameter` for a value without its key
 */
export const parseTagFilters = (query: QueryParameters): readonly TagFilter[] => {
  const absent = isOn(query, 'tag-value-default-null') ? '' : undefined;
  return limited('filter[tagged]', query.children('filter', 'tagged')).flatMap((index) => {
    const key = query.one('filter', 'tagged', index, 'key');
    if (!key) {
      if (!query.one('filter', 'tagged', index, 'value')) return [];
      throw new KeelsonError('jsonapi.invalid_parameter', {
        parameter: `filter[tagged][${index}][value]`,
        text: `needs filter[tagged][${index}][key]`,
      });
    }
    const value = query.one('filter', 'tagged', index, 'value') || absent;
    return [value === undefined ? { key } : { key, value }];
  });
};

/**
 * The parameters of the list.
 * @throws KeelsonError `jsonapi.invalid_attribute` for more filters of a kind than the limit,
 * `jsonapi.invalid_parameter`, `jsonapi.invalid_sort`
 */
export const parseWorkspaceQuery = (query: QueryParameters): WorkspaceQueryInput => ({
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
