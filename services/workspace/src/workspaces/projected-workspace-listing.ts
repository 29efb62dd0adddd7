/**
 * Listing over the projections. Conditions become SQL; the one decision is where a query begins. Where a
 * condition leaves at most `FEW` workspaces, the query begins at them, reads them all and sorts them.
 * Otherwise it reads the index of the order until the page is full, and the total is a count.
 */
import type { Store } from '@keelson/storage';
import { RUN_STATUSES } from '../runs/domain/run.ts';
import { containing, type NamePattern, parseWildcard } from './domain/name-pattern.ts';
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
  ofKey,
  type ResolvedQuery,
  type Selection,
  type Start,
  selectMatching,
  type Tables,
  type TagAlternative,
  type TagCondition,
} from './workspace-selection.ts';

/** Workspaces that are read and sorted rather than met one by one in the order. */
const FEW = 2000;

type ListingStore = Pick<Store, 'select' | 'tallies' | 'findByPart'>;

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

export const createWorkspaceListing = (
  store: ListingStore,
  { few = FEW }: { readonly few?: number } = {},
): WorkspaceListing => {
  const count = async (build: (tables: Tables) => Selection): Promise<number> => {
    const [row] = await store.select((tables: Tables) =>
      build(tables).select((rows) => rows.fn.countAll<number | bigint>().as('matches')),
    );
    return Number(row?.matches ?? 0);
  };

  /** Workspaces that are visible by themselves, not with their project. */
  const selectGranted =
    (organizationId: string, { projectIds, workspaceIds: ids }: Visible) =>
    (tables: Tables) => {
      const query = { ...NO_CONDITIONS, organizationId };
      const granted = selectMatching(tables, query, { by: 'ids', ids });
      return projectIds.length === 0
        ? granted
        : granted.where('workspace.project_id', 'not in', projectIds);
    };

  const countVisible = async ({ organizationId, visible }: Scope): Promise<number> => {
    if (visible === undefined) return countInOrganization(store, organizationId);
    const projectIds = [...new Set(visible.projectIds)];
    const inProjects = await countInProjects(store, organizationId, projectIds);
    if (visible.workspaceIds.length === 0) return inProjects;
    return inProjects + (await count(selectGranted(organizationId, visible)));
  };

  const countVisibleByRunStatus = async ({
    organizationId,
    visible,
  }: Scope): Promise<RunStatusCounts> => {
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

  const findHandingDown = async (organizationId: string, filter: TagFilter) => {
    const projects = await store.select((tables: Tables) => {
      const found = tables
        .selectFrom('project_tag')
        .select('project_id')
        .where('organization_id', '=', organizationId)
        .where(ofKey('project_tag', filter));
      const { value } = filter;
      return value === undefined ? found : found.where('tag_value', '=', value);
    });
    return projects.map(({ project_id }) => project_id);
  };

  const toAlternative = async (
    organizationId: string,
    filter: TagFilter,
    isInherited: boolean,
  ): Promise<TagAlternative> => {
    const projectIds = isInherited ? await findHandingDown(organizationId, filter) : [];
    const own = await countCarriers(store, organizationId, filter);
    const bound = own + (await countInProjects(store, organizationId, projectIds));
    return { ...filter, projectIds, own, bound };
  };

  const toEffective = (organizationId: string, filters: readonly TagFilter[]) =>
    Promise.all(filters.map((filter) => toAlternative(organizationId, filter, true)));

  const loadConditions = async ({
    organizationId,
    tagged,
    isTagUnion,
    tags,
    ownKeys = [],
  }: WorkspaceQuery): Promise<readonly TagCondition[]> => {
    const [filtered, searched, own] = await Promise.all([
      toEffective(organizationId, tagged),
      toEffective(organizationId, tags.map(toSearched)),
      Promise.all(ownKeys.map((key) => toAlternative(organizationId, { key }, false))),
    ]);
    const united = isTagUnion === true && filtered.length > 0;
    const groups = united ? [filtered] : filtered.map((binding) => [binding]);
    return [...groups, ...[...searched, ...own].map((binding) => [binding])]
      .map((anyOf) => ({ anyOf, bound: anyOf.reduce((sum, { bound }) => sum + bound, 0) }))
      .sort((a, b) => a.bound - b.bound);
  };

  const resolve = async (query: WorkspaceQuery): Promise<ResolvedQuery> => {
    const { organizationId } = query;
    const conditions = await loadConditions(query);
    const total = conditions.length === 0 ? 0 : await countInOrganization(store, organizationId);
    // A key that every workspace carries itself leaves none out.
    const isOnAll = ({ isInAnyCase, value, own }: TagAlternative): boolean =>
      isInAnyCase === true && value === undefined && own === total;
    return {
      ...query,
      patterns: toPatterns(query),
      conditions: conditions.filter(({ anyOf }) => !anyOf.some(isOnAll)),
      excluded: await toEffective(organizationId, query.excludeTags.map(toSearched)),
    };
  };

  /** Workspaces whose names contain one of the parts, by the index of parts; undefined when they are many. */
  const findNamed = async ({ organizationId: scope, patterns }: ResolvedQuery) => {
    for (const { part } of patterns) {
      const found = await store.findByPart('workspace', { scope, part, limit: few });
      if (found !== undefined) return found;
    }
    return undefined;
  };

  /** Few workspaces that all matches are among; undefined when no condition leaves few. */
  const findStart = async (query: ResolvedQuery): Promise<Start | undefined> => {
    const { organizationId, visible, projectId, conditions } = query;
    const ids = await findNamed(query);
    if (ids !== undefined) return { by: 'ids', ids };
    if ((conditions[0]?.bound ?? Number.POSITIVE_INFINITY) <= few) return { by: 'tag' };
    if (visible !== undefined && (await boundVisible(store, organizationId, visible)) <= few) {
      return { by: 'visible' };
    }
    if (projectId === undefined) return undefined;
    const inProject = await countInProjects(store, organizationId, [projectId]);
    return inProject <= few ? { by: 'project' } : undefined;
  };

  const findAmongFew = async (
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

  /** The total where one tally or a sum of tallies is it. */
  const countKnown = (query: ResolvedQuery): Promise<number> | undefined => {
    const { organizationId, visible, projectId, exceptId, patterns, conditions } = query;
    const { excluded, runStatuses } = query;
    const others = [exceptId === undefined ? [] : [exceptId], patterns, excluded, conditions];
    if (others.some((conditions) => conditions.length > 0)) return undefined;
    const kinds = [visible !== undefined, projectId !== undefined, runStatuses.length > 0];
    if (kinds.filter(Boolean).length > 1) return undefined;
    if (runStatuses.length > 0) return countWithStatuses(store, organizationId, runStatuses);
    if (projectId !== undefined) return countInProjects(store, organizationId, [projectId]);
    return countVisible({ organizationId, visible });
  };

  const findInOrder = async (
    query: ResolvedQuery,
    { number, size }: WorkspaceQuery['page'],
  ): Promise<WorkspaceMatches> => {
    const rarest: Start | undefined = query.conditions.length > 0 ? { by: 'tag' } : undefined;
    const totalCount = await (countKnown(query) ??
      count((tables) => selectMatching(tables, query, rarest)));
    const offset = (number - 1) * size;
    if (offset >= totalCount) return { ids: [], totalCount };
    const rows = await store.select((tables: Tables) =>
      inOrder(selectMatching(tables, query, undefined), query)
        .limit(size)
        .offset(offset),
    );
    return { ids: rows.map(({ id }) => id), totalCount };
  };

  return {
    ...createTagListing(store),
    find: async (given) => {
      const query = await resolve(given);
      const start = await findStart(query);
      return start === undefined
        ? findInOrder(query, given.page)
        : findAmongFew(query, given.page, start);
    },
    countVisible,
    countVisibleByRunStatus,
    countInProject: (organizationId, projectId) =>
      countInProjects(store, organizationId, [projectId]),
  };
};
