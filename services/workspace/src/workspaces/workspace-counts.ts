/** How many workspaces a list has, from what is counted with every commit. */
import type { Store } from '@keelson/storage';
import { RUN_STATUSES } from '../runs/domain/run.ts';
import { matchesName, type NamePattern } from './domain/name-pattern.ts';
import type { RunStatusCounts, TagFilter, WorkspaceQuery } from './workspace-listing.ts';
import { inProjectKey, tagKey, withStatusKey } from './workspace-projections.ts';
import { workspaceNames } from './workspace-records.ts';

type Visible = NonNullable<WorkspaceQuery['visible']>;
type CountingStore = Pick<Store, 'tallies' | 'position' | 'comingAndGoing'>;

const sum = (counts: readonly number[]): number =>
  counts.reduce((total, count) => total + count, 0);

const ofWorkspaces = async (store: CountingStore, keys: readonly string[]): Promise<number> =>
  sum(await store.tallies('workspace', keys));

export const countInOrganization = (store: CountingStore, organizationId: string) =>
  ofWorkspaces(store, [organizationId]);

export const countInProjects = (
  store: CountingStore,
  organizationId: string,
  projectIds: readonly string[],
) =>
  ofWorkspaces(
    store,
    projectIds.map((id) => inProjectKey(organizationId, id)),
  );

export const countWithStatuses = (
  store: CountingStore,
  organizationId: string,
  statuses: readonly string[],
) =>
  ofWorkspaces(
    store,
    [...new Set(statuses)].map((status) => withStatusKey(organizationId, status)),
  );

/** As many as are counted with one query: each has a key for every status. */
const SCOPES_AT_ONCE = 1000;

/** @param scopes what workspaces are counted under, each workspace under one of them */
export const countByRunStatus = async (
  store: CountingStore,
  scopes: readonly string[],
): Promise<RunStatusCounts> => {
  const counts = new Map(RUN_STATUSES.map((status) => [status, 0]));
  for (let at = 0; at < scopes.length; at += SCOPES_AT_ONCE) {
    const keyed = scopes
      .slice(at, at + SCOPES_AT_ONCE)
      .flatMap((scope) =>
        RUN_STATUSES.map((status) => ({ status, key: withStatusKey(scope, status) })),
      );
    const found = await store.tallies(
      'workspace',
      keyed.map(({ key }) => key),
    );
    keyed.forEach(({ status }, index) =>
      counts.set(status, (counts.get(status) ?? 0) + (found[index] ?? 0)),
    );
  }
  return counts;
};

/** No fewer than the workspaces whose own binding that is; with a value exactly as many. */
export const countCarriers = async (
  store: CountingStore,
  organizationId: string,
  { key, value }: TagFilter,
): Promise<number> =>
  sum(await store.tallies('workspace_tag', [tagKey(organizationId, key, value)]));

/** No fewer than the caller sees. */
export const boundVisible = async (
  store: CountingStore,
  organizationId: string,
  { projectIds, workspaceIds }: Visible,
): Promise<number> =>
  (await countInProjects(store, organizationId, projectIds)) + workspaceIds.length;

/** Remembered at once; the one used longest ago is dropped. */
const MAX_COUNTS = 1000;

interface KnownCount {
  total: number;
  /** Place of the log of which the total is. */
  position: number;
}

const { prefix } = workspaceNames.collection;

/**
 * Counts of the names of an organization that match patterns. A name is part of its record's path, so
 * what came and went since a count was made is added to it, and nothing is counted twice.
 * @param count counts as of its call or later
 */
export const createNameCounts = (
  store: CountingStore,
  count: (organizationId: string, patterns: readonly NamePattern[]) => Promise<number>,
) => {
  const known = new Map<string, KnownCount>();

  /** By how much the count grew after `position`, and up to where; undefined: too long ago to tell. */
  const growthSince = (
    organizationId: string,
    patterns: readonly NamePattern[],
    position: number,
  ): { readonly growth: number; readonly newest: number } | undefined => {
    const below = `${prefix}${organizationId}/`;
    const changes = store.comingAndGoing(prefix, position);
    const growth = changes?.reduce((sum, { path, isThere }) => {
      if (!path.startsWith(below)) return sum;
      const name = path.slice(below.length).toLowerCase();
      if (!patterns.every((pattern) => matchesName(name, pattern))) return sum;
      return sum + (isThere ? 1 : -1);
    }, 0);
    return growth === undefined
      ? undefined
      : { growth, newest: changes?.at(-1)?.sequence ?? position };
  };

  const keyOf = (organizationId: string, patterns: readonly NamePattern[]): string =>
    JSON.stringify([organizationId, patterns]);

  /** What is remembered, with what came and went since; undefined: it has to be counted. */
  const remembered = async (
    organizationId: string,
    patterns: readonly NamePattern[],
  ): Promise<number | undefined> => {
    const key = keyOf(organizationId, patterns);
    const current = known.get(key);
    if (current === undefined) return undefined;
    const position = await store.position();
    const grown = growthSince(organizationId, patterns, current.position);
    known.delete(key);
    if (grown === undefined) return undefined;
    current.total += grown.growth;
    // A change may be newer than the position that was asked for.
    current.position = Math.max(position, grown.newest);
    known.set(key, current);
    return current.total;
  };

  const countAnew = async (
    organizationId: string,
    patterns: readonly NamePattern[],
  ): Promise<number> => {
    const position = await store.position();
    // Asked for before the count as well: what is not noted from then on cannot be told later.
    growthSince(organizationId, patterns, position);
    const total = await count(organizationId, patterns);
    const countedAt = await store.position();
    // A name that came meanwhile may be in the count or not.
    const isExact = store.comingAndGoing(prefix, position)?.length === 0;
    if (isExact) known.set(keyOf(organizationId, patterns), { total, position: countedAt });
    const [oldest] = known.keys();
    if (known.size > MAX_COUNTS && oldest !== undefined) known.delete(oldest);
    return total;
  };

  return {
    remembered,
    count: async (organizationId: string, patterns: readonly NamePattern[]): Promise<number> =>
      (await remembered(organizationId, patterns)) ?? countAnew(organizationId, patterns),
  };
};
