/**
 * Counts of workspaces that rest on names and projects alone, remembered for as long as no workspace
 * of theirs came, went, got another name or moved: counting walks an index over all that match, and
 * most lists are asked for again long before one of these happens.
 */
import type { Store } from '@keelson/storage';
import type { WorkspaceQuery } from './workspace-listing.ts';
import { projectWorkspaces, workspaceNames } from './workspace-records.ts';

/** Remembered at once; the one used longest ago is dropped. */
const MAX_COUNTS = 1000;
/** Callers with grants on very many places are counted each time. */
const MAX_KEY_LENGTH = 10_000;

/** What such a count may rest on. */
export type CountedQuery = Pick<WorkspaceQuery, 'organizationId'> &
  Partial<
    Pick<WorkspaceQuery, 'visible' | 'nameContains' | 'nameWildcard' | 'projectId' | 'exceptId'>
  >;

interface RememberedCount {
  /** Known to hold at this place of the log. */
  position: number;
  readonly total: Promise<number>;
}

/** Every creation, deletion, renaming and move of what the query selects writes below one of these. */
const witnessesOf = ({ organizationId, visible, projectId }: CountedQuery): readonly string[] => [
  `${workspaceNames.collection.prefix}${organizationId}/`,
  ...[...(visible?.projectIds ?? []), ...(projectId === undefined ? [] : [projectId])].map(
    (id) => `${projectWorkspaces.collection.prefix}${id}/`,
  ),
];

const keyOf = (query: CountedQuery): string =>
  JSON.stringify([
    query.organizationId,
    query.visible?.projectIds,
    query.visible?.workspaceIds,
    query.nameContains,
    query.nameWildcard,
    query.projectId,
    query.exceptId,
  ]);

/** Undefined where runs, tags or bindings decide too. */
export const asCountedQuery = (query: WorkspaceQuery): CountedQuery | undefined =>
  [query.tags, query.excludeTags, query.tagged, query.runStatuses].every(
    (list) => list.length === 0,
  )
    ? query
    : undefined;

/** @param count counts as of its call or later */
export const createRememberedCounts = (
  store: Pick<Store, 'position' | 'hasChangedSince'>,
  count: (query: CountedQuery) => Promise<number>,
): ((query: CountedQuery) => Promise<number>) => {
  const remembered = new Map<string, RememberedCount>();
  return async (query) => {
    const key = keyOf(query);
    if (key.length > MAX_KEY_LENGTH) return count(query);
    const position = await store.position();
    const current = remembered.get(key);
    remembered.delete(key);
    if (current !== undefined && !store.hasChangedSince(witnessesOf(query), current.position)) {
      // Changes of long ago are forgotten and count as changes, so what is known unchanged is noted.
      current.position = position;
      remembered.set(key, current);
      return current.total;
    }
    const counting = { position, total: count(query) };
    remembered.set(key, counting);
    const [oldest] = remembered.keys();
    if (remembered.size > MAX_COUNTS && oldest !== undefined) remembered.delete(oldest);
    counting.total.catch(() => {
      if (remembered.get(key) === counting) remembered.delete(key);
    });
    return counting.total;
  };
};
