/** Listing over the projections: each condition narrows the selection through an index. */
import type { Store } from '@keelson/storage';
import { type ExpressionBuilder, type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { decideWindow } from './domain/list-window.ts';
import {
  asCountedQuery,
  type CountedQuery,
  createRememberedCounts,
} from './remembered-listing-counts.ts';
import { findByTags, isByTagsAlone, type TagCondition } from './tagged-workspace-listing.ts';
import type {
  OrganizationTag,
  TagFilter,
  WorkspaceListing,
  WorkspaceQuery,
} from './workspace-listing.ts';
import { reversed, type WorkspaceTables } from './workspace-projections.ts';

type Tables = Kysely<WorkspaceTables>;
type Selection = SelectQueryBuilder<WorkspaceTables, 'workspace', object>;

/** Sorts after every name that starts with the text. */
const endOf = (prefix: string): string => `${prefix}\u{10ffff}`;

const withPrefix = (
  selection: Selection,
  column: 'name_lower' | 'name_reversed',
  prefix: string,
): Selection => selection.where(column, '>=', prefix).where(column, '<', endOf(prefix));

export const likePart = (part: string) =>
  sql<string>`${`%${part.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`} escape '\\'`;

const containing = (selection: Selection, part: string): Selection =>
  selection.where('name_lower', 'like', likePart(part));

const matchingWildcard = (selection: Selection, pattern: string): Selection => {
  const lower = pattern.toLowerCase();
  const isOpenAtStart = lower.startsWith('*');
  const isOpenAtEnd = lower.length > 1 && lower.endsWith('*');
  const part = lower.slice(isOpenAtStart ? 1 : 0, isOpenAtEnd ? -1 : undefined);
  if (isOpenAtStart && isOpenAtEnd) return containing(selection, part);
  if (isOpenAtEnd) return withPrefix(selection, 'name_lower', part);
  if (isOpenAtStart) return withPrefix(selection, 'name_reversed', reversed(part));
  return selection.where('name_lower', '=', part);
};

type Rows = ExpressionBuilder<WorkspaceTables, 'workspace'>;

const taggedWorkspaces = (rows: Rows, organizationId: string, { key, value }: TagFilter) => {
  const found = rows
    .selectFrom('workspace_tag')
    .select('workspace_id')
    .where('workspace_tag.organization_id', '=', organizationId)
    .where('tag_key', '=', key);
  if (value === undefined) return found;
  return value === ''
    ? found.where((tag) => tag.or([tag('tag_value', '=', ''), tag('tag_value', 'is', null)]))
    : found.where('tag_value', '=', value);
};

/** Looks the tag up for each workspace that is left by the other conditions. */
const carrying = (selection: Selection, { key, value }: TagFilter): Selection =>
  selection.where((rows) => {
    const carried = rows
      .selectFrom('workspace_tag as carried')
      .select('carried.workspace_id')
      .whereRef('carried.workspace_id', '=', 'workspace.id')
      .where('carried.tag_key', '=', key);
    if (value === undefined) return rows.exists(carried);
    return rows.exists(
      value === ''
        ? carried.where((tag) =>
            tag.or([tag('carried.tag_value', '=', ''), tag('carried.tag_value', 'is', null)]),
          )
        : carried.where('carried.tag_value', '=', value),
    );
  });

/** Own bindings of that key and value, or the project's where the workspace has none of that key. */
const effectivelyTagged = (
  selection: Selection,
  organizationId: string,
  filter: TagCondition,
): Selection =>
  selection.where((rows) => {
    const own = taggedWorkspaces(rows, organizationId, filter);
    if (filter.projectIds.length === 0) return rows('workspace.id', 'in', own);
    const inherited = rows
      .selectFrom('workspace as heir')
      .select('heir.id as workspace_id')
      .where('heir.project_id', 'in', filter.projectIds)
      .where((heir) =>
        heir.not(
          heir.exists(
            heir
              .selectFrom('workspace_tag as mine')
              .select('mine.workspace_id')
              .whereRef('mine.workspace_id', '=', 'heir.id')
              .where('mine.tag_key', '=', filter.key),
          ),
        ),
      );
    return rows('workspace.id', 'in', own.union(inherited));
  });

const selectVisible = (tables: Tables, { organizationId, visible }: CountedQuery): Selection => {
  const selection = tables
    .selectFrom('workspace')
    .where('workspace.organization_id', '=', organizationId) as Selection;
  if (visible === undefined) return selection;
  const { projectIds, workspaceIds } = visible;
  // An empty list is left out: PostgreSQL has no `in ()`, and `or` of nothing is false.
  return selection.where((rows) =>
    rows.or([
      ...(projectIds.length > 0 ? [rows('workspace.project_id', 'in', projectIds)] : []),
      ...(workspaceIds.length > 0 ? [rows('workspace.id', 'in', workspaceIds)] : []),
    ]),
  );
};

/** By names and projects alone. */
const selectNamed = (tables: Tables, query: CountedQuery): Selection => {
  const { projectId, exceptId } = query;
  let selection = selectVisible(tables, query);
  if (projectId !== undefined) selection = selection.where('project_id', '=', projectId);
  if (exceptId !== undefined) selection = selection.where('workspace.id', '!=', exceptId);
  if (query.nameContains !== undefined) selection = containing(selection, query.nameContains);
  if (query.nameWildcard !== undefined) selection = matchingWildcard(selection, query.nameWildcard);
  return selection;
};

const selectMatching = (
  tables: Tables,
  query: WorkspaceQuery,
  conditions: readonly TagCondition[],
): Selection => {
  const { organizationId } = query;
  let selection = selectNamed(tables, query);
  if (query.runStatuses.length > 0) {
    selection = selection.where('current_run_status', 'in', query.runStatuses);
  }
  for (const key of query.excludeTags) {
    selection = selection.where((rows) =>
      rows('workspace.id', 'not in', taggedWorkspaces(rows, organizationId, { key })),
    );
  }
  // The rarest tag finds the workspaces; the others are looked up for those alone.
  for (const [at, condition] of conditions.entries()) {
    selection =
      at > 0 && condition.projectIds.length === 0
        ? carrying(selection, condition)
        : effectivelyTagged(selection, organizationId, condition);
  }
  return selection;
};

const SORT_COLUMNS = {
  name: ['name_lower'],
  'latest-change-at': ['latest_change_at'],
  // Workspaces without a run are all equal: by name.
  'current-run.created-at': ['current_run_created_at', 'name_lower'],
} as const;

/** Bindings up to which tags are told apart at first, and by how much more each time. */
const FIRST_BOUND = 1000;
const BOUND_GROWTH = 8;

export const createWorkspaceListing = (
  store: Pick<Store, 'select' | 'position' | 'hasChangedSince'>,
): WorkspaceListing => {
  const count = async (build: (tables: Tables) => Selection): Promise<number> => {
    const [row] = await store.select((tables: Tables) =>
      build(tables).select((rows) => rows.fn.countAll<number | bigint>().as('matches')),
    );
    return Number(row?.matches ?? 0);
  };

  const countNamed = createRememberedCounts(store, (query) =>
    count((tables) => selectNamed(tables, query)),
  );

  /** Whether more than `bound` workspaces have a binding of that key and value. */
  const hasMoreBindings = async (
    organizationId: string,
    { key, value }: TagFilter,
    bound: number,
  ): Promise<boolean> => {
    const beyond = await store.select((tables: Tables) => {
      const found = tables
        .selectFrom('workspace_tag')
        .select('workspace_id')
        .where('organization_id', '=', organizationId)
        .where('tag_key', '=', key)
        .limit(1)
        .offset(bound);
      return value === undefined ? found : found.where('tag_value', '=', value);
    });
    return beyond.length > 0;
  };

  /** The rarest first, as far as bindings are counted: at most some times those of the rarest. */
  const withRarestFirst = async (
    organizationId: string,
    conditions: readonly TagCondition[],
  ): Promise<readonly TagCondition[]> => {
    if (conditions.length < 2) return conditions;
    for (let bound = FIRST_BOUND; ; bound *= BOUND_GROWTH) {
      for (const rarest of conditions) {
        if (await hasMoreBindings(organizationId, rarest, bound)) continue;
        return [rarest, ...conditions.filter((condition) => condition !== rarest)];
      }
    }
  };

  const findHandingDown = async (organizationId: string, { key, value }: TagFilter) => {
    const projects = await store.select((tables: Tables) => {
      const found = tables
        .selectFrom('project_tag')
        .select('project_id')
        .where('organization_id', '=', organizationId)
        .where('tag_key', '=', key);
      return value === undefined ? found : found.where('tag_value', '=', value);
    });
    return projects.map(({ project_id }) => project_id);
  };

  /** Filters match effective bindings, tags the workspace's own. */
  const loadConditions = async ({ organizationId, tagged, tags }: WorkspaceQuery) =>
    withRarestFirst(organizationId, [
      ...(await Promise.all(
        tagged.map(async (filter) => ({
          ...filter,
          projectIds: await findHandingDown(organizationId, filter),
        })),
      )),
      ...tags.map((key) => ({ key, projectIds: [] })),
    ]);

  const selectTags = (build: (tables: Tables) => ReturnType<typeof tagRows>) =>
    store.select(build).then((rows) =>
      rows.map(
        (row): OrganizationTag => ({
          id: row.tag_id ?? '',
          name: row.tag_key,
          createdAtMs: Number(row.created_at),
          instanceCount: Number(row.instances),
        }),
      ),
    );

  return {
    find: async (query) => {
      const conditions = await loadConditions(query);
      if (isByTagsAlone(query, conditions)) return findByTags(store, query, conditions);
      const build = (tables: Tables) => selectMatching(tables, query, conditions);
      const counted = asCountedQuery(query);
      const totalCount = await (counted === undefined ? count(build) : countNamed(counted));
      const { limit, offset, isFromEnd } = decideWindow(query.page, totalCount);
      if (limit <= 0) return { ids: [], totalCount };
      const isDescending = (query.sort?.isDescending ?? false) !== isFromEnd;
      const direction = isDescending ? 'desc' : 'asc';
      const columns = SORT_COLUMNS[query.sort?.by ?? 'name'];
      const rows = await store.select((tables: Tables) =>
        columns
          .reduce(
            (rows, column) => rows.orderBy(column, direction),
            build(tables).select('workspace.id as id'),
          )
          .orderBy('workspace.id', direction)
          .limit(limit)
          .offset(offset),
      );
      const ids = rows.map(({ id }) => id);
      return { ids: isFromEnd ? ids.reverse() : ids, totalCount };
    },
    countVisible: countNamed,
    countInProject: (projectId) =>
      count(
        (tables) => tables.selectFrom('workspace').where('project_id', '=', projectId) as Selection,
      ),
    findTags: (organizationId, names) =>
      names.length === 0
        ? Promise.resolve([])
        : selectTags((tables) => tagRows(tables, organizationId).where('tag_key', 'in', names)),
    listTags: (organizationId, { nameContains, notOnWorkspaceId }) =>
      selectTags((tables) => {
        let rows = tagRows(tables, organizationId);
        if (nameContains) rows = rows.where('tag_key', 'like', likePart(nameContains));
        if (notOnWorkspaceId) {
          rows = rows.where((tag) =>
            tag(
              'tag_key',
              'not in',
              tag
                .selectFrom('workspace_tag as carried')
                .select('carried.tag_key')
                .where('carried.workspace_id', '=', notOnWorkspaceId),
            ),
          );
        }
        return rows.orderBy('tag_key');
      }),
    findTagCarriers: async (organizationId, name) => {
      const carriers = await store.select((tables: Tables) =>
        tables
          .selectFrom('workspace_tag')
          .select('workspace_id')
          .where('organization_id', '=', organizationId)
          .where('tag_key', '=', name)
          .where('tag_id', 'is not', null),
      );
      return carriers.map(({ workspace_id }) => workspace_id);
    },
    findTagById: async (organizationId, tagId) => {
      const [tag] = await selectTags((tables) =>
        tagRows(tables, organizationId).where('tag_id', '=', tagId),
      );
      return tag;
    },
  };
};

const tagRows = (tables: Tables, organizationId: string) =>
  tables
    .selectFrom('workspace_tag')
    .select((rows) => [
      'tag_id',
      'tag_key',
      rows.fn.min('created_at').as('created_at'),
      rows.fn.countAll<number | bigint>().as('instances'),
    ])
    .where('organization_id', '=', organizationId)
    .where('tag_id', 'is not', null)
    .groupBy(['tag_id', 'tag_key']);
