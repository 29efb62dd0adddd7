/**
 * Lists of workspaces, read from the projections. Conditions become SQL; the only decision is where a query
 * starts. If a condition matches at most `FEW` workspaces, the query reads all of these and sorts them.
 * Otherwise it reads the index in list order until the page is full, and counts the total separately.
 */
import type { Store } from '@keelson/storage';
import { RUN_STATUSES } from '../../base/run-status.ts';
import { containing, type NamePattern, parseWildcard } from './domain/name-pattern.ts';
import { findProjectsBinding } from './project-listing.ts';
import { createTagListing } from './projected-tag-listing.ts';
import {
  boundVisible,
  countByRunStatus,
  countCarriers,
  countInOrganization,
  countInProjects,
  countWithStatuses,
} from './workspace-counts.ts';
import type {
  RunStatusCounts,
  TagFilter,
  WorkspaceListing,
  WorkspaceMatches,
  WorkspaceQuery,
} from './workspace-listing.ts';
import { inProjectKey } from './workspace-projections.ts';
import {
  inOrder,
  type ResolvedQuery,
  type Selection,
  type Start,
  selectMatching,
  type Tables,
  type TagAlternative,
  type TagCondition,
} from './workspace-selection.ts';

const FEW = 2000;

type ListingStore = Pick<Store, 'select' | 'tallies' | 'findByPart' | 'countByPart'>;

interface ListingContext {
  readonly store: ListingStore;
  /** Largest number of workspaces that are read and sorted instead of being filtered in list order. */
  readonly few: number;
}

type Scope = Pick<WorkspaceQuery, 'organizationId' | 'visible'>;
type Visible = NonNullable<WorkspaceQuery['visible']>;

const isAnything = ({ part, isAtStart, isAtEnd }: NamePattern): boolean =>
  part === '' && !(isAtStart && isAtEnd);

const toPatterns = ({ nameContains, nameWildcard }: WorkspaceQuery): readonly NamePattern[] =>
  [
    ...(nameContains === undefined ? [] : [containing(nameContains)]),
    ...(nameWildcard === undefined ? [] : [parseWildcard(nameWildcard)]),
  ].filter((pattern) => !isAnything(pattern));

const toSearched = (key: string): TagFilter => ({ key, isInAnyCase: true });

const NO_CONDITIONS = {
  patterns: [],
  conditions: [],
  tags: [],
  excluded: [],
  tagged: [],
  runStatuses: [],
} as const;

const count = async (
  { store }: ListingContext,
  build: (tables: Tables) => Selection,
): Promise<number> => {
  const [row] = await store.select((tables: Tables) =>
    build(tables).select((rows) => rows.fn.countAll<number | bigint>().as('matches')),
  );
  return Number(row?.matches ?? 0);
};

/** Workspaces that the caller sees through a grant on them, not through their project. */
const selectGranted =
  (organizationId: string, { projectIds, workspaceIds: ids }: Visible) =>
  (tables: Tables) => {
    const query = { ...NO_CONDITIONS, organizationId };
    const granted = selectMatching(tables, query, { by: 'ids', ids });
    return projectIds.length === 0
      ? granted
      : granted.where('workspace.project_id', 'not in', projectIds);
  };

const countVisible = async (
  context: ListingContext,
  { organizationId, visible }: Scope,
): Promise<number> => {
  if (visible === undefined) return countInOrganization(context.store, organizationId);
  const projectIds = [...new Set(visible.projectIds)];
  const inProjects = await countInProjects(context.store, organizationId, projectIds);
  if (visible.workspaceIds.length === 0) return inProjects;
  return inProjects + (await count(context, selectGranted(organizationId, visible)));
};

const countVisibleByRunStatus = async (
  { store }: ListingContext,
  { organizationId, visible }: Scope,
): Promise<RunStatusCounts> => {
  if (visible === undefined) return countByRunStatus(store, [organizationId]);
  const projects = [...new Set(visible.projectIds)];
  const scopes = projects.map((id) => inProjectKey(organizationId, id));
  const counts = new Map(await countByRunStatus(store, scopes));
  if (visible.workspaceIds.length === 0) return counts;
  const rows = await store.select((tables: Tables) =>
    selectGranted(
      organizationId,
      visible,
    )(tables)
      .select((row) => [
        'workspace.current_run_status as status',
        row.fn.countAll<number | bigint>().as('matches'),
      ])
      .groupBy('workspace.current_run_status'),
  );
  for (const { status, matches } of rows) {
    const known = RUN_STATUSES.find((one) => one === status);
    if (known !== undefined) counts.set(known, (counts.get(known) ?? 0) + Number(matches));
  }
  return counts;
};

const toAlternative = async (
  { store }: ListingContext,
  organizationId: string,
  filter: TagFilter,
  isInherited: boolean,
): Promise<TagAlternative> => {
  const projectIds = isInherited ? await findProjectsBinding(store, organizationId, filter) : [];
  const own = await countCarriers(store, organizationId, filter);
  const bound = own + (await countInProjects(store, organizationId, projectIds));
  return { ...filter, projectIds, own, bound };
};

const toEffective = (
  context: ListingContext,
  organizationId: string,
  filters: readonly TagFilter[],
) => Promise.all(filters.map((filter) => toAlternative(context, organizationId, filter, true)));

const loadConditions = async (
  context: ListingContext,
  { organizationId, tagged, isTagUnion, tags, ownKeys = [] }: WorkspaceQuery,
): Promise<readonly TagCondition[]> => {
  const [filtered, searched, own] = await Promise.all([
    toEffective(context, organizationId, tagged),
    toEffective(context, organizationId, tags.map(toSearched)),
    Promise.all(ownKeys.map((key) => toAlternative(context, organizationId, { key }, false))),
  ]);
  const united = isTagUnion === true && filtered.length > 0;
  const groups = united ? [filtered] : filtered.map((binding) => [binding]);
  return [...groups, ...[...searched, ...own].map((binding) => [binding])]
    .map((anyOf) => ({ anyOf, bound: anyOf.reduce((sum, { bound }) => sum + bound, 0) }))
    .sort((a, b) => a.bound - b.bound);
};

const resolve = async (context: ListingContext, query: WorkspaceQuery): Promise<ResolvedQuery> => {
  const { organizationId } = query;
  const conditions = await loadConditions(context, query);
  const total =
    conditions.length === 0 ? 0 : await countInOrganization(context.store, organizationId);
  // A condition on a key that every workspace carries itself excludes none.
  const isOnAll = ({ isInAnyCase, value, own }: TagAlternative): boolean =>
    isInAnyCase === true && value === undefined && own === total;
  return {
    ...query,
    patterns: toPatterns(query),
    conditions: conditions.filter(({ anyOf }) => !anyOf.some(isOnAll)),
    excluded: await toEffective(context, organizationId, query.excludeTags.map(toSearched)),
  };
};

/**
 * Workspaces whose names contain one of the parts, from the trigram index; undefined when there are many.
 */
const findNamed = async (
  { store, few }: ListingContext,
  { organizationId: scope, patterns }: ResolvedQuery,
) => {
  for (const { part } of patterns) {
    const found = await store.findByPart('workspace', { scope, part, limit: few });
    if (found !== undefined) return found;
  }
  return undefined;
};

/** A small set of workspaces that contains all matches; undefined when no condition is selective enough. */
const findStart = async (
  context: ListingContext,
  query: ResolvedQuery,
): Promise<Start | undefined> => {
  const { organizationId, visible, projectId, conditions } = query;
  const ids = await findNamed(context, query);
  if (ids !== undefined) return { by: 'ids', ids };
  if ((conditions[0]?.bound ?? Number.POSITIVE_INFINITY) <= context.few) return { by: 'tag' };
  if (
    visible !== undefined &&
    (await boundVisible(context.store, organizationId, visible)) <= context.few
  ) {
    return { by: 'visible' };
  }
  if (projectId === undefined) return undefined;
  const inProject = await countInProjects(context.store, organizationId, [projectId]);
  return inProject <= context.few ? { by: 'project' } : undefined;
};

const findAmongFew = async (
  { store }: ListingContext,
  query: ResolvedQuery,
  { number, size }: WorkspaceQuery['page'],
  start: Start,
): Promise<WorkspaceMatches> => {
  if (start.by === 'ids' && start.ids.length === 0) return { ids: [], totalCount: 0 };
  const rows = await store.select((tables: Tables) =>
    inOrder(selectMatching(tables, query, start), query),
  );
  const from = (number - 1) * size;
  return { ids: rows.slice(from, from + size).map(({ id }) => id), totalCount: rows.length };
};

/** Number of workspaces with a part in their names; undefined if the trigram index cannot count them. */
const countNamed = async (
  { store }: ListingContext,
  scope: string,
  { part, isAtStart, isAtEnd }: NamePattern,
): Promise<number | undefined> =>
  isAtStart || isAtEnd ? undefined : store.countByPart('workspace', { scope, part });

/** The total, if a tally, a sum of tallies or the trigram index gives it. */
const countKnown = async (
  context: ListingContext,
  query: ResolvedQuery,
): Promise<number | undefined> => {
  const { organizationId, visible, projectId, exceptId, patterns, conditions } = query;
  const { excluded, runStatuses } = query;
  const others = [exceptId === undefined ? [] : [exceptId], excluded, conditions];
  if (others.some((conditions) => conditions.length > 0)) return undefined;
  const kinds = [visible !== undefined, projectId !== undefined, runStatuses.length > 0];
  const used = kinds.filter(Boolean).length + patterns.length;
  if (used > 1) return undefined;
  const [pattern] = patterns;
  if (pattern !== undefined) return countNamed(context, organizationId, pattern);
  if (runStatuses.length > 0) return countWithStatuses(context.store, organizationId, runStatuses);
  if (projectId !== undefined) return countInProjects(context.store, organizationId, [projectId]);
  return countVisible(context, { organizationId, visible });
};

const findInOrder = async (
  context: ListingContext,
  query: ResolvedQuery,
  { number, size }: WorkspaceQuery['page'],
): Promise<WorkspaceMatches> => {
  const rarest: Start | undefined = query.conditions.length > 0 ? { by: 'tag' } : undefined;
  const totalCount =
    (await countKnown(context, query)) ??
    (await count(context, (tables) => selectMatching(tables, query, rarest)));
  const before = (number - 1) * size;
  if (before >= totalCount) return { ids: [], totalCount };
  const limit = Math.min(size, totalCount - before);
  const after = totalCount - before - limit;
  // The database reads every row that it skips, so a page in the second half is read from the end.
  const isFromEnd = after < before;
  const rows = await context.store.select((tables: Tables) =>
    inOrder(selectMatching(tables, query, undefined), query, isFromEnd)
      .limit(limit)
      .offset(isFromEnd ? after : before),
  );
  const ids = rows.map(({ id }) => id);
  return { ids: isFromEnd ? ids.toReversed() : ids, totalCount };
};

const find = async (context: ListingContext, given: WorkspaceQuery): Promise<WorkspaceMatches> => {
  const query = await resolve(context, given);
  const start = await findStart(context, query);
  return start === undefined
    ? findInOrder(context, query, given.page)
    : findAmongFew(context, query, given.page, start);
};

export const createWorkspaceListing = (
  store: ListingStore,
  { few = FEW }: { readonly few?: number } = {},
): WorkspaceListing => {
  const context = { store, few };
  return {
    ...createTagListing(store),
    find: (query) => find(context, query),
    countVisible: (scope) => countVisible(context, scope),
    countVisibleByRunStatus: (scope) => countVisibleByRunStatus(context, scope),
    countInProject: (organizationId, projectId) =>
      countInProjects(store, organizationId, [projectId]),
  };
};
