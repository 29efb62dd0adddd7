/**
 * Listing by tags alone, as provisioning clients do: over the rows of the rarest tag. Those of one value
 * are in the order of names, so that a page of many is read without sorting; a page of many that carry a
 * key with whatever value is found on a walk over the names.
 */
import type { Store } from '@keelson/storage';
import { decideWindow } from './domain/list-window.ts';
import type { WorkspaceMatches, WorkspaceQuery } from './workspace-listing.ts';
import {
  alsoCarrying,
  inOrder,
  isOwnBinding,
  ofKey,
  type ResolvedQuery,
  selectMatching,
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
  query.excluded.length === 0 &&
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
    .where(ofKey('workspace_tag', rarest ?? { key: '' }));
  if (rarest?.value !== undefined) {
    found = found.where('workspace_tag.tag_value', '=', rarest.value);
  }
  for (const other of others) found = found.where(alsoCarrying(other));
  return found;
};

/** @param few carriers of the rarest tag, up to which all matches are read instead of counted and then read */
export const findByTags = async (
  store: Pick<Store, 'select'>,
  query: ResolvedQuery,
  page: WorkspaceQuery['page'],
  few: number,
): Promise<WorkspaceMatches> => {
  const { organizationId, conditions } = query;
  const bindings = conditions.flatMap(({ anyOf }) => anyOf);
  const [rarest] = bindings;
  const bound = rarest?.bound ?? 0;
  // A workspace may carry a key in several cases, and then has a row for each.
  const isOfOneValue = rarest?.value !== undefined;
  const select = (tables: Tables, isReversed: boolean) => {
    const direction = (query.sort?.isDescending ?? false) === isReversed ? 'asc' : 'desc';
    return selectCarriers(tables, organizationId, bindings)
      .select(['workspace_tag.workspace_id as id', 'workspace_tag.name_lower as name_lower'])
      .$if(!isOfOneValue, (carriers) => carriers.distinct())
      .orderBy('workspace_tag.name_lower', direction)
      .orderBy('workspace_tag.workspace_id', direction);
  };
  if (bound <= few && !(isOfOneValue && bindings.length === 1)) {
    const all = await store.select((tables: Tables) => select(tables, false));
    const start = (page.number - 1) * page.size;
    return { ids: all.slice(start, start + page.size).map(({ id }) => id), totalCount: all.length };
  }
  const totalCount =
    isOfOneValue && bindings.length === 1
      ? bound
      : await countCarriers(store, organizationId, bindings);
  const { limit, offset, isFromEnd } = decideWindow(page, totalCount);
  if (limit <= 0) return { ids: [], totalCount };
  const rows = await store.select((tables: Tables) =>
    isOfOneValue
      ? select(tables, isFromEnd).limit(limit).offset(offset)
      : inOrder(selectMatching(tables, query, undefined), query, isFromEnd)
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
      rows.fn.count<number | bigint>('workspace_tag.workspace_id').distinct().as('matches'),
    ),
  );
  return Number(row?.matches ?? 0);
};
