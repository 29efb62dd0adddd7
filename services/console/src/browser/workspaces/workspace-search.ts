/** Filters of the workspace list, as kept in the address bar and sent to the API. */

export const SORTS = [
  'name',
  '-name',
  'latest-change-at',
  '-latest-change-at',
  'current-run.created-at',
  '-current-run.created-at',
] as const;

export type Sort = (typeof SORTS)[number];

export interface WorkspaceSearch {
  readonly name?: string;
  readonly tags?: string;
  readonly project?: string;
  /** Status of the current run. */
  readonly status?: string;
  readonly sort?: Sort;
  readonly page?: number;
}

const textIn = (value: unknown): string | undefined =>
  (typeof value === 'string' || typeof value === 'number') && value !== ''
    ? String(value)
    : undefined;

/** Keeps only filters that differ from the default, so that addresses stay short. */
export const parseWorkspaceSearch = (
  search: Readonly<Record<string, unknown>>,
): WorkspaceSearch => {
  const [name, tags, project, status] = ['name', 'tags', 'project', 'status'].map((key) =>
    textIn(search[key]),
  );
  const sort = SORTS.find((one) => one === search['sort']);
  const page = Number(search['page']);
  return {
    ...(name !== undefined && { name }),
    ...(tags !== undefined && { tags }),
    ...(project !== undefined && { project }),
    ...(status !== undefined && { status }),
    ...(sort !== undefined && sort !== 'name' && { sort }),
    ...(Number.isInteger(page) && page > 1 && { page }),
  };
};

const PAGE_SIZE = 50;

/** The filters alone, without the order and the page. */
export const filterOf = (search: WorkspaceSearch): WorkspaceSearch => {
  const { sort: _, page: _page, ...filter } = search;
  return filter;
};

/** The API query for a set of filters. */
export const toApiQuery = (search: WorkspaceSearch, pageSize = PAGE_SIZE): string => {
  const pairs: readonly (readonly [string, string | undefined])[] = [
    ['include', 'current_run,project'],
    ['page[size]', String(pageSize)],
    ['page[number]', String(search.page ?? 1)],
    ['sort', search.sort ?? 'name'],
    ['search[name]', search.name],
    ['search[tags]', search.tags],
    ['filter[project][id]', search.project],
    ['filter[current-run][status]', search.status],
  ];
  return pairs
    .flatMap(([key, value]) => (value === undefined ? [] : [`${key}=${encodeURIComponent(value)}`]))
    .join('&');
};
