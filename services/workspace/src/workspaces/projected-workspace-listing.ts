/**
 * Listing over the projections. Where a condition leaves few rows, which is known from an index of
 * parts of names or from counts, all of them are read and sorted; else a page is read from the index in
 * its order and the total comes from counts that are kept.
 */
import { type Store, TEXT_END, TEXT_START } from '@keelson/storage';
import { RUN_STATUSES } from '../runs/domain/run.ts';
import { decideWindow } from './domain/list-window.ts';
import { containing, type NamePattern, parseWildcard } from './domain/name-pattern.ts';
import { createNameRanks } from './name-ranks.ts';
import { createTagListing } from './projected-tag-listing.ts';
import { findByTags, isByTagsAlone } from './tagged-workspace-listing.ts';
import {
  boundVisible,
  countByRunStatus,
  countCarriers,
  countInOrganization,
  countInProjects,
  countWithStatuses,
  createNameCounts,
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

export interface ListingLimits {
  /** Rows that are rather sorted than looked for in the order. */
  readonly few: number;
  /** Rows of the rarest tag that are: a walk would look tags up for each workspace it passes. */
  readonly fewTagged: number;
  /** The same where nothing but tags decides. */
  readonly fewTaggedAlone: number;
  /** Names that the index of parts gives at most: where other conditions decide too, and where none does. */
  readonly fewNames: number;
  readonly fewNamesAlone: number;
  /** Names between two whose ranks are kept; pages further from both ends are read from one of them. */
  readonly rankStep: number;
}

const LIMITS: ListingLimits = {
  few: 2000,
  fewTagged: 10_000,
  fewTaggedAlone: 4000,
  fewNames: 1000,
  fewNamesAlone: 3000,
  rankStep: 2048,
};

/**
 * What it costs to pass a workspace on the way to a page, where reading and sorting one is 1, by the
 * index of the order: that of the latest change does not hold the name.
 */
const PASSING_COSTS = {
  name: 0.06,
  'current-run.created-at': 0.06,
  'latest-change-at': 0.4,
} as const;

type ListingStore = Pick<
  Store,
  'select' | 'position' | 'tallies' | 'comingAndGoing' | 'findByPart' | 'countByPart'
>;

type Scope = Pick<WorkspaceQuery, 'organizationId' | 'visible'>;
type Visible = NonNullable<WorkspaceQuery['visible']>;

const isAnything = ({ part, isAtStart, isAtEnd }: NamePattern): boolean =>
  part === '' && !(isAtStart && isAtEnd);

const toPatterns = ({ nameContains, nameWildcard }: WorkspaceQuery): readonly NamePattern[] =>
  [
    ...(nameContains === undefined ? [] : [containing(nameContains)]),
    ...(nameWildcard === undefined ? [] : [parseWildcard(nameWildcard)]),
  ].filter((pattern) => !isAnything(pattern));

/** As the index of parts has it. */
const toMarkedPart = ({ part, isAtStart, isAtEnd }: NamePattern): string =>
  (isAtStart ? TEXT_START : '') + part + (isAtEnd ? TEXT_END : '');

/** Nothing but names decides. */
const isByNamesAlone = ({ visible, projectId, ...others }: ResolvedQuery): boolean =>
  [visible, projectId, others.exceptId].every((condition) => condition === undefined) &&
  [others.conditions, others.excluded, others.runStatuses].every((list) => list.length === 0);

/** And in their order. */
const isOfNames = (query: ResolvedQuery): boolean =>
  (query.sort === undefined || query.sort.by === 'name') && isByNamesAlone(query);

/** Names that start with a part follow each other in the order that is asked for, and nothing else decides. */
const isRangeOfNames = (query: ResolvedQuery): boolean =>
  query.patterns.length === 1 &&
  query.patterns.every(({ isAtStart }) => isAtStart) &&
  isOfNames(query);

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
  { few, fewTagged, fewTaggedAlone, fewNames, fewNamesAlone, rankStep }: ListingLimits = LIMITS,
): WorkspaceListing => {
  const count = async (build: (tables: Tables) => Selection): Promise<number> => {
    const [row] = await store.select((tables: Tables) =>
      build(tables).select((rows) => rows.fn.countAll<number | bigint>().as('matches')),
    );
    return Number(row?.matches ?? 0);
  };

  /**
   * What starts with a part is a range of the index of names, unless it is one character, which is
   * counted; what contains one is counted by the index of parts.
   */
  const countFromParts = async (scope: string, patterns: readonly NamePattern[]) => {
    const [pattern] = patterns;
    return pattern === undefined ||
      patterns.length > 1 ||
      (pattern.isAtStart && pattern.part.length > 1)
      ? undefined
      : store.countByPart('workspace', { scope, part: toMarkedPart(pattern) });
  };

  const nameCounts = createNameCounts(
    store,
    async (organizationId, patterns) =>
      (await countFromParts(organizationId, patterns)) ??
      count((tables) =>
        selectMatching(tables, { ...NO_CONDITIONS, organizationId, patterns }, undefined),
      ),
  );

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
    const bound =
      (await countCarriers(store, organizationId, filter)) +
      (await countInProjects(store, organizationId, projectIds));
    return { ...filter, projectIds, bound };
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

  const resolve = async (query: WorkspaceQuery): Promise<ResolvedQuery> => ({
    ...query,
    patterns: toPatterns(query),
    conditions: await loadConditions(query),
    excluded: await toEffective(query.organizationId, query.excludeTags.map(toSearched)),
  });

  /**
   * Matches that are rather sorted than looked for in the order. The fewer there are, the more workspaces
   * are passed on the way to a page of them: both cost the same at a root of their product.
   */
  const boundNames = async (
    query: ResolvedQuery,
    { number, size }: WorkspaceQuery['page'],
  ): Promise<number> => {
    if (query.patterns.length > 1 || !isByNamesAlone(query)) return fewNames;
    const passed = number * size * (await countInOrganization(store, query.organizationId));
    const even = Math.sqrt(passed * PASSING_COSTS[query.sort?.by ?? 'name']);
    return Math.min(fewNamesAlone, Math.ceil(even));
  };

  /** Of the workspaces that match a pattern; undefined when they are many, or it is too short. */
  const findNamed = async (query: ResolvedQuery, page: WorkspaceQuery['page']) => {
    const { organizationId: scope, patterns } = query;
    if (patterns.length === 0) return undefined;
    const limit = await boundNames(query, page);
    if (((await nameCounts.remembered(scope, patterns)) ?? 0) > limit) return undefined;
    let found: readonly string[] | undefined;
    for (const pattern of patterns)
      found ??= await store.findByPart('workspace', { scope, part: toMarkedPart(pattern), limit });
    return found;
  };

  /** Where few rows are found that all matches are among; undefined when no condition leaves few. */
  const findStart = async (
    query: ResolvedQuery,
    page: WorkspaceQuery['page'],
  ): Promise<Start | undefined> => {
    const { organizationId, visible, projectId, conditions } = query;
    if (isRangeOfNames(query)) return undefined;
    const ids = await findNamed(query, page);
    if (ids !== undefined) return { by: 'ids', ids };
    if ((conditions[0]?.bound ?? Number.POSITIVE_INFINITY) <= fewTagged) return { by: 'tag' };
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
    const isNothing =
      (start.by === 'ids' && start.ids.length === 0) || query.conditions[0]?.bound === 0;
    if (isNothing) return { ids: [], totalCount: 0 };
    const rows = await store.select((tables: Tables) =>
      inOrder(selectMatching(tables, query, start), query, false),
    );
    const from = (number - 1) * size;
    return { ids: rows.slice(from, from + size).map(({ id }) => id), totalCount: rows.length };
  };

  /** From what is counted already, where that decides. */
  const countKnown = (query: ResolvedQuery): Promise<number> | undefined => {
    const { organizationId, visible, projectId, exceptId, patterns, conditions } = query;
    const { excluded, runStatuses } = query;
    if (exceptId !== undefined || excluded.length > 0 || conditions.length > 0) return undefined;
    const given = [visible, projectId].filter((condition) => condition !== undefined).length;
    const kinds = given + Number(patterns.length > 0) + Number(runStatuses.length > 0);
    if (kinds > 1) return undefined;
    if (patterns.length > 0) return nameCounts.count(organizationId, patterns);
    if (runStatuses.length > 0) return countWithStatuses(store, organizationId, runStatuses);
    if (projectId !== undefined) return countInProjects(store, organizationId, [projectId]);
    return countVisible({ organizationId, visible });
  };

  const ranks = createNameRanks(store, rankStep);

  /** Of all names, from one whose rank is known; undefined where none is yet. */
  const findFromRank = async (
    query: ResolvedQuery,
    { start, limit, totalCount }: { start: number; limit: number; totalCount: number },
  ): Promise<readonly string[] | undefined> => {
    const isDescending = query.sort?.isDescending ?? false;
    const from = isDescending ? totalCount - start - limit : start;
    const ranked = await ranks.before(query.organizationId, from);
    if (ranked === undefined) return undefined;
    const rows = await store.select((tables: Tables) =>
      inOrder(selectMatching(tables, query, undefined), query, isDescending)
        .where('workspace.name_lower', '>=', ranked.name)
        .limit(limit)
        .offset(from - ranked.rank),
    );
    const ids = rows.map(({ id }) => id);
    return isDescending ? ids.reverse() : ids;
  };

  const findInOrder = async (
    query: ResolvedQuery,
    page: WorkspaceQuery['page'],
  ): Promise<WorkspaceMatches> => {
    const build = (tables: Tables) => selectMatching(tables, query, undefined);
    const rarest: Start | undefined = query.conditions.length > 0 ? { by: 'tag' } : undefined;
    const totalCount = await (countKnown(query) ??
      count((tables) => selectMatching(tables, query, rarest)));
    const { limit, offset, isFromEnd } = decideWindow(page, totalCount);
    if (limit <= 0) return { ids: [], totalCount };
    if (offset > rankStep && query.patterns.length === 0 && isOfNames(query)) {
      const start = (page.number - 1) * page.size;
      const found = await findFromRank(query, { start, limit, totalCount });
      if (found !== undefined) return { ids: found, totalCount };
    }
    const rows = await store.select((tables: Tables) =>
      inOrder(build(tables), query, isFromEnd).limit(limit).offset(offset),
    );
    const ids = rows.map(({ id }) => id);
    return { ids: isFromEnd ? ids.reverse() : ids, totalCount };
  };

  return {
    ...createTagListing(store),
    find: async (given) => {
      const query = await resolve(given);
      if (isByTagsAlone(query)) return findByTags(store, query, given.page, fewTaggedAlone);
      const start = await findStart(query, given.page);
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
