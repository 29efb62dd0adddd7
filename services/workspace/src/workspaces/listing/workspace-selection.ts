/**
 * The conditions of a list as SQL. A selection starts from few known rows, or reads the index in list order,
 * and checks every other condition on these rows. A column is written as an expression where it must not make
 * the database choose its index.
 */
import { type ExpressionBuilder, type Kysely, type SelectQueryBuilder, sql } from 'kysely';
import { workspaceRecords } from '../model/workspace-records.ts';
import type { NamePattern } from './domain/name-pattern.ts';
import type { TagFilter, WorkspaceQuery } from './workspace-listing.ts';
import type { WorkspaceTables } from './workspace-projections.ts';

export type Tables = Kysely<WorkspaceTables>;
export type Selection = SelectQueryBuilder<WorkspaceTables, 'workspace', object>;
type Rows = ExpressionBuilder<WorkspaceTables, 'workspace'>;

export interface TagAlternative extends TagFilter {
  /** Projects whose workspaces inherit the binding. */
  readonly projectIds: readonly string[];
  /** Upper bound of the number of workspaces that carry it themselves. */
  readonly own: number;
  /** Upper bound of the number of workspaces for which it is in effect. */
  readonly bound: number;
}

/** A condition that one of the bindings is in effect. */
export interface TagCondition {
  readonly anyOf: readonly TagAlternative[];
  readonly bound: number;
}

/** A query together with the results of all look-ups that it needs. */
export interface ResolvedQuery extends Omit<WorkspaceQuery, 'page' | 'excludeTags'> {
  readonly patterns: readonly NamePattern[];
  readonly excluded: readonly TagAlternative[];
  /** Tag conditions, most selective first. */
  readonly conditions: readonly TagCondition[];
}

/** The few rows from which a selection starts. */
export type Start =
  | { readonly by: 'ids'; readonly ids: readonly string[] }
  | { readonly by: 'tag' | 'visible' | 'project' };

const { prefix } = workspaceRecords;

/** Lists of ids are padded to one of these sizes, which keeps the number of prepared statements small. */
const LIST_SIZES = [1, 8, 64, 512, 1024, 4096];

export const filledUp = (list: readonly string[]): readonly string[] => {
  const last = list.at(-1);
  const size = LIST_SIZES.find((some) => some >= list.length);
  if (last === undefined || size === undefined) return list;
  return [...list, ...Array.from({ length: size - list.length }, () => last)];
};

const toPaths = (ids: readonly string[]): readonly string[] =>
  filledUp(ids.map((id) => prefix + id));

/** The column as an expression that no index matches. */
const unindexed = (column: string) => sql<string>`${sql.ref(column)} || ''`;

export const column = (name: string, isIndexed: boolean) =>
  isIndexed ? sql<string>`${sql.ref(name)}` : unindexed(name);

const escaped = (part: string): string => part.replaceAll(/[\\%_]/g, '\\$&');

export const likePart = (part: string) =>
  sql<string>`${`%${escaped(part.toLowerCase())}%`} escape '\\'`;

/** Sorts after every name that starts with the text. */
const endOf = (start: string): string => `${start}\u{10ffff}`;

const named = (
  selection: Selection,
  { part, isAtStart, isAtEnd }: NamePattern,
  isIndexed: boolean,
): Selection => {
  const name = column('workspace.name_lower', isIndexed);
  if (isAtStart && isAtEnd) return selection.where(name, '=', part);
  if (isAtStart) return selection.where(name, '>=', part).where(name, '<', endOf(part));
  const like = isAtEnd ? sql<string>`${`%${escaped(part)}`} escape '\\'` : likePart(part);
  return part === '' ? selection : selection.where(name, 'like', like);
};

/** Bindings of the key, in its own case or in any. */
export const ofKey = (
  table: 'carried' | 'workspace_tag' | 'other' | 'project_tag',
  { key, isInAnyCase }: TagFilter,
) => {
  const inAnyCase = sql<boolean>`${sql.ref(`${table}.tag_key_lower`)} = ${key.toLowerCase()}`;
  return isInAnyCase === true
    ? inAnyCase
    : sql<boolean>`(${inAnyCase} and ${sql.ref(`${table}.tag_key`)} = ${key})`;
};

export const withValue = (
  table: 'carried' | 'workspace_tag' | 'project_tag',
  { value }: TagFilter,
) => {
  const carried = sql.ref(`${table}.tag_value`);
  if (value === undefined) return sql<boolean>`1 = 1`;
  // An empty value matches both a missing value and "".
  return value === ''
    ? sql<boolean>`(${carried} = '' or ${carried} is null)`
    : sql<boolean>`${carried} = ${value}`;
};

const ownTag = (rows: Rows, filter: TagFilter) =>
  rows.exists(
    rows
      .selectFrom('workspace_tag as carried')
      .select('carried.workspace_id')
      .whereRef('carried.workspace_id', '=', 'workspace.id')
      .where(ofKey('carried', filter))
      .where(withValue('carried', filter)),
  );

const inProjects = (rows: Rows, projectIds: readonly string[]) =>
  rows(unindexed('workspace.project_id'), 'in', filledUp(projectIds));

/** Own bindings with this key and value, or those of the project if the workspace has none with this key. */
const tagged = (selection: Selection, { anyOf }: TagCondition): Selection =>
  selection.where((rows) =>
    rows.or(
      anyOf.flatMap((binding) => {
        const own = ownTag(rows, binding);
        if (binding.projectIds.length === 0) return [own];
        const { key, isInAnyCase = false } = binding;
        const inherited = rows.and([
          inProjects(rows, binding.projectIds),
          rows.not(ownTag(rows, { key, isInAnyCase })),
        ]);
        return [own, inherited];
      }),
    ),
  );

/**
 * The own binding with this key and value. Not for an empty value, which matches both a missing value and "".
 */
const isOwnBinding = ({ anyOf }: TagCondition): boolean =>
  anyOf.length === 1 &&
  anyOf.every(({ projectIds, value }) => projectIds.length === 0 && value !== '');

/** Rows of tags whose workspace carries another given tag, found through the columns of an index. */
const alsoCarrying =
  (filter: TagFilter) => (rows: ExpressionBuilder<WorkspaceTables, 'workspace_tag'>) => {
    const other = rows
      .selectFrom('workspace_tag as other')
      .select('other.workspace_id')
      .whereRef('other.workspace_id', '=', 'workspace_tag.workspace_id')
      .where(ofKey('other', filter));
    const { value } = filter;
    return rows.exists(value === undefined ? other : other.where('other.tag_value', '=', value));
  };

/**
 * The workspaces that can match the bindings: those that carry one, and those in projects that have one.
 * @param others further own bindings that the workspace must have
 */
const startingAtTag = (
  selection: Selection,
  organizationId: string,
  { anyOf }: TagCondition,
  others: readonly TagCondition[],
): Selection =>
  selection.where((rows) => {
    const carriersOf = (binding: TagAlternative) => {
      const carriers = rows
        .selectFrom('workspace_tag')
        .select(sql<string>`${prefix} || workspace_tag.workspace_id`.as('record_path'))
        .where('workspace_tag.organization_id', '=', organizationId)
        .where(ofKey('workspace_tag', binding))
        .where(withValue('workspace_tag', binding));
      return others
        .flatMap((other) => other.anyOf)
        .reduce((left, other) => left.where(alsoCarrying(other)), carriers);
    };
    const below = rows
      .selectFrom('workspace as below')
      .select('below.record_path as record_path')
      .where('below.project_id', 'in', filledUp(anyOf.flatMap(({ projectIds }) => projectIds)));
    const isInherited = anyOf.some(({ projectIds }) => projectIds.length > 0);
    // All paths in one list, because PostgreSQL would try each of several lists on every row of the table.
    const found = anyOf.map(carriersOf).reduce((together, others) => together.unionAll(others));
    return rows('workspace.record_path', 'in', isInherited ? found.unionAll(below) : found);
  });

export const onlyVisible = (
  selection: Selection,
  visible: NonNullable<WorkspaceQuery['visible']>,
  isIndexed: boolean,
): Selection =>
  selection.where((rows) =>
    rows.or([
      // An empty list is left out, because PostgreSQL has no `in ()`.
      ...(visible.projectIds.length > 0
        ? [rows(column('workspace.project_id', isIndexed), 'in', filledUp(visible.projectIds))]
        : []),
      ...(visible.workspaceIds.length > 0
        ? [rows(column('workspace.record_path', isIndexed), 'in', toPaths(visible.workspaceIds))]
        : []),
    ]),
  );

/** @param start undefined means the index in list order */
export const selectMatching = (
  tables: Tables,
  query: ResolvedQuery,
  start: Start | undefined,
): Selection => {
  const { organizationId, projectId, exceptId, visible, patterns, conditions } = query;
  const isWalk = start === undefined;
  const isByName = (query.sort?.by ?? 'name') === 'name';
  let selection = tables.selectFrom('workspace') as Selection;
  selection = selection.where(column('workspace.organization_id', isWalk), '=', organizationId);
  if (start?.by === 'ids') {
    selection = selection.where('workspace.record_path', 'in', toPaths(start.ids));
  }
  const [rarest, ...others] = conditions;
  let unchecked = conditions;
  if (start?.by === 'tag' && rarest !== undefined) {
    // Bindings inherited from the project are checked workspace by workspace.
    const isInherited = rarest.anyOf.some(({ projectIds }) => projectIds.length > 0);
    const carried = isInherited ? [] : others.filter(isOwnBinding);
    selection = startingAtTag(selection, organizationId, rarest, carried);
    unchecked = isInherited ? conditions : others.filter((other) => !isOwnBinding(other));
  }
  if (projectId !== undefined) {
    // The walk over names has an index of the project's own.
    const isIndexed = start?.by === 'project' || (isWalk && isByName && patterns.length === 0);
    selection = selection.where(column('workspace.project_id', isIndexed), '=', projectId);
  }
  if (visible !== undefined) {
    selection = onlyVisible(selection, visible, start?.by === 'visible');
  }
  if (exceptId !== undefined) {
    selection = selection.where('workspace.record_path', '!=', prefix + exceptId);
  }
  for (const pattern of patterns) selection = named(selection, pattern, isWalk && isByName);
  if (query.runStatuses.length > 0) {
    selection = selection.where(
      column('workspace.current_run_status', isWalk && isByName),
      'in',
      query.runStatuses,
    );
  }
  for (const binding of query.excluded) {
    selection = selection.where((rows) => rows.not(ownTag(rows, binding)));
    if (binding.projectIds.length === 0) continue;
    selection = selection.where((rows) => rows.not(inProjects(rows, binding.projectIds)));
  }
  for (const condition of unchecked) selection = tagged(selection, condition);
  return selection;
};

const SORT_COLUMNS = {
  name: ['name_lower'],
  'latest-change-at': ['latest_change_at'],
  // Workspaces without a run are equal in this order, so that they are sorted by creation.
  'current-run.created-at': ['current_run_created_at', 'created_at'],
} as const;

/** The newest current run first; workspaces without one are the last in both directions. */
const NEWEST_RUN_FIRST = ['current_run_newest_first', 'created_at'] as const;

/**
 * Ids in the order of the query.
 * @param isFromEnd the last ones first
 */
export const inOrder = (
  selection: Selection,
  { sort }: Pick<WorkspaceQuery, 'sort'>,
  isFromEnd = false,
) => {
  const { by = 'name', isDescending = false } = sort ?? {};
  const isNewestRunFirst = isDescending && by === 'current-run.created-at';
  const direction = (isDescending && !isNewestRunFirst) !== isFromEnd ? 'desc' : 'asc';
  const columns = isNewestRunFirst ? NEWEST_RUN_FIRST : SORT_COLUMNS[by];
  return columns
    .reduce(
      (rows, sorted) => rows.orderBy(`workspace.${sorted}`, direction),
      selection.select('workspace.id as id'),
    )
    .orderBy('workspace.id', direction);
};
