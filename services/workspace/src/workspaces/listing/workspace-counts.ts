/** Totals of workspace lists, from the tallies that every commit updates. */
import type { Store } from '@keelson/storage';
import { RUN_STATUSES } from '../../base/run-status.ts';
import type { RunStatusCounts, TagFilter, WorkspaceQuery } from './workspace-listing.ts';
import { inProjectKey, tagKey, withStatusKey } from './workspace-projections.ts';

type Visible = NonNullable<WorkspaceQuery['visible']>;
type CountingStore = Pick<Store, 'tallies'>;

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

/** Scopes that are counted with one query; each has a key for every status. */
const SCOPES_AT_ONCE = 1000;

/**
 * @param scopes organizations or projects by their tally keys; every workspace is counted under exactly one
 */
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

/**
 * Number of workspaces that carry the binding themselves. An upper bound when the case of the key matters.
 */
export const countCarriers = async (
  store: CountingStore,
  organizationId: string,
  { key, value }: TagFilter,
): Promise<number> =>
  sum(await store.tallies('workspace_tag', [tagKey(organizationId, key, value)]));

/** An upper bound of the number of workspaces that the caller may see. */
export const boundVisible = async (
  store: CountingStore,
  organizationId: string,
  { projectIds, workspaceIds }: Visible,
): Promise<number> =>
  (await countInProjects(store, organizationId, projectIds)) + workspaceIds.length;
