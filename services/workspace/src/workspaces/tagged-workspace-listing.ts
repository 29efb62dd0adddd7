/**
 * Listing by tags alone, as provisioning clients do: over the rows of the rarest tag, which hold the
 * names, so that a page is read in order and nothing is sorted.
 */
import type { Store } from '@keelson/storage';
import { decideWindow } from './domain/list-window.ts';
import type { WorkspaceMatches, WorkspaceQuery } from './workspace-listing.ts';
import {
  alsoCarrying,
  isOwnBinding,
  type ResolvedQuery,
  type Tables,
  type TagAlternative,
} from './workspace-selection.ts';

/** True when nothing but own bindings decides, each by itself, and the order is that of the names. */
export const isByTagsAlone = (query: ResolvedQuery): boolean =>
  query.conditions.length > 0 &&
  query.conditions.every(isOwnBinding) &&
  (query.sort === undefined || query.sort.by === 'name') &&
  [query.visible, query.projectId, query.exceptId].every((condition) => condition === undefined) &&
  query.patterns.length === 0 &&
  query.excludeTags.length === 0 &&
  query.runStatuses.length === 0;

/** @param bindings the rarest first */
const selectCarriers = (
  tables: Tables,
  organizationId: string,
  bindings: readonly TagAlternative[],
) => {
  const [rarest, ...others] = bindings;
  let found = tables
    .selectFrom('workspace_tag')
    .where('workspace_tag.organization_id', '=', organizationId)
    .where('workspace_tag.tag_key', '=', rarest?.key ?? '');
  if (rarest?.value !== undefined) {
    found = found.where('workspace_tag.tag_value', '=', rarest.value);
  }
  for (const other of others) found = found.where(alsoCarrying(organizationId, other));
  return found;
};

/** Of the rarest tag, up to which all matches are read at once instead of counted and then read. */
const READ_AT_ONCE = 4000;

export const findByTags = async (
  store: Pick<Store, 'select'>,
  { organizationId, conditions, sort }: ResolvedQuery,
  page: WorkspaceQuery['page'],
): Promise<WorkspaceMatches> => {
  const bindings = conditions.flatMap(({ anyOf }) => anyOf);
  const isDescending = sort?.isDescending ?? false;
  const select = (tables: Tables, direction: 'asc' | 'desc') =>
    selectCarriers(tables, organizationId, bindings)
      .select('workspace_tag.workspace_id as id')
      .orderBy('workspace_tag.name_lower', direction)
      .orderBy('workspace_tag.workspace_id', direction);
  const bound = bindings[0]?.bound ?? 0;
  if (bindings.length > 1 && bound <= READ_AT_ONCE) {
    const all = await store.select((tables: Tables) =>
      select(tables, isDescending ? 'desc' : 'asc'),
    );
    const start = (page.number - 1) * page.size;
    return { ids: all.slice(start, start + page.size).map(({ id }) => id), totalCount: all.length };
  }
  const totalCount =
    bindings.length === 1 ? bound : await countCarriers(store, organizationId, bindings);
  const { limit, offset, isFromEnd } = decideWindow(page, totalCount);
  if (limit <= 0) return { ids: [], totalCount };
  const rows = await store.select((tables: Tables) =>
    select(tables, isDescending === isFromEnd ? 'asc' : 'desc')
      .limit(limit)
      .offset(offset),
  );
  const ids = rows.map(({ id }) => id);
  return { ids: isFromEnd ? ids.reverse() : ids, totalCount };
};

const countCarriers = async (
  store: Pick<Store, 'select'>,
  organizationId: string,
  bindings: readonly TagAlternative[],
): Promise<number> => {
  const [row] = await store.select((tables: Tables) =>
    selectCarriers(tables, organizationId, bindings).select((rows) =>
      rows.fn.countAll<number | bigint>().as('matches'),
    ),
  );
  return Number(row?.matches ?? 0);
};
