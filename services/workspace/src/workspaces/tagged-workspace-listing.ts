/**
 * Listing by tags alone, as provisioning clients do: over the rows of the rarest tag, which hold the
 * names, so that a page is read in order and nothing is sorted.
 */
import type { Store } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { decideWindow } from './domain/list-window.ts';
import type { TagFilter, WorkspaceMatches, WorkspaceQuery } from './workspace-listing.ts';
import type { WorkspaceTables } from './workspace-projections.ts';

export interface TagCondition extends TagFilter {
  /** Projects that hand the binding down. */
  readonly projectIds: readonly string[];
}

type Tables = Kysely<WorkspaceTables>;

/** True when nothing but own bindings decides, and the order is that of the names. */
export const isByTagsAlone = (
  query: WorkspaceQuery,
  conditions: readonly TagCondition[],
): boolean =>
  conditions.length > 0 &&
  // An empty value stands for two: none and "".
  conditions.every(({ projectIds, value }) => projectIds.length === 0 && value !== '') &&
  (query.sort === undefined || query.sort.by === 'name') &&
  [query.visible, query.nameContains, query.nameWildcard, query.projectId, query.exceptId].every(
    (condition) => condition === undefined,
  ) &&
  query.excludeTags.length === 0 &&
  query.runStatuses.length === 0;

/** @param conditions the rarest first */
const selectCarriers = (
  tables: Tables,
  organizationId: string,
  conditions: readonly TagCondition[],
) => {
  const [rarest, ...others] = conditions;
  let found = tables
    .selectFrom('workspace_tag')
    .where('workspace_tag.organization_id', '=', organizationId)
    .where('workspace_tag.tag_key', '=', rarest?.key ?? '');
  if (rarest?.value !== undefined) {
    found = found.where('workspace_tag.tag_value', '=', rarest.value);
  }
  for (const { key, value } of others) {
    found = found.where((rows) => {
      const other = rows
        .selectFrom('workspace_tag as other')
        .select('other.workspace_id')
        .whereRef('other.workspace_id', '=', 'workspace_tag.workspace_id')
        .where('other.tag_key', '=', key);
      return rows.exists(value === undefined ? other : other.where('other.tag_value', '=', value));
    });
  }
  return found;
};

export const findByTags = async (
  store: Pick<Store, 'select'>,
  { organizationId, page, sort }: WorkspaceQuery,
  conditions: readonly TagCondition[],
): Promise<WorkspaceMatches> => {
  const [row] = await store.select((tables: Tables) =>
    selectCarriers(tables, organizationId, conditions).select((rows) =>
      rows.fn.countAll<number | bigint>().as('matches'),
    ),
  );
  const totalCount = Number(row?.matches ?? 0);
  const { limit, offset, isFromEnd } = decideWindow(page, totalCount);
  if (limit <= 0) return { ids: [], totalCount };
  const direction = (sort?.isDescending ?? false) === isFromEnd ? 'asc' : 'desc';
  const rows = await store.select((tables: Tables) =>
    selectCarriers(tables, organizationId, conditions)
      .select('workspace_tag.workspace_id as id')
      .orderBy('workspace_tag.name_lower', direction)
      .orderBy('workspace_tag.workspace_id', direction)
      .limit(limit)
      .offset(offset),
  );
  const ids = rows.map(({ id }) => id);
  return { ids: isFromEnd ? ids.reverse() : ids, totalCount };
};
