/** Paths filters for operators, on the primary that stores them and on the secondary that is filtered. */

import { randomUUID } from 'node:crypto';
import type { ReplicationMember } from '@keelson/cluster-member';
import { KeelsonError } from '@keelson/errors';
import type { Filter } from '@keelson/proto/replication/v1/replication';
import { type DynamicFilter, type PathsFilter, parsePathsFilter } from '@keelson/replication';
import { collection, type Store, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import type { MountRecord } from '../../mounts/domain/mount.ts';
import { loadNamespaceTable } from '../../namespaces/namespace-records.ts';
import type { Memberships } from '../memberships.ts';
import type { ReplicationState } from '../replication-state.ts';
import type { ServiceMembers } from '../service-members.ts';
import { type Catalog, followMove, fullPathOf, WORKSPACE_PATH } from './filter-catalog.ts';

export interface FilterContext {
  /** Not guarded by the replication gate. */
  readonly store: Store;
  readonly memberships: Memberships;
  readonly state: ReplicationState;
  readonly member: ReplicationMember;
  readonly members: ServiceMembers;
  readonly catalog: Catalog;
  /** Id of this cluster. */
  readonly localClusterId: () => Promise<string>;
}

/** A filter is sent to a secondary in one message. */
const MAX_TOTAL_LENGTH = 64 * 1024;

const receivedFilters = collection('replication/filter', {
  scope: 'node',
  version: 1,
  keys: 'paths',
  shape: Type.Object({
    dynamic_filtered_mounts: Type.Array(Type.String()),
    dynamic_filtered_namespaces: Type.Array(Type.String()),
  }),
});
const RECEIVED = 'received';
const WORKSPACE_SERVICE = 'workspace';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const noFilter = (id: string): never => {
  throw new KeelsonError('request.not_found', { text: `no paths filter for secondary "${id}"` });
};

const membership = ({ memberships }: Pick<FilterContext, 'memberships'>) =>
  memberships.of('performance');

/**
 * Resolves an id to a secondary: its own id, the id of its cluster once it has been heard from, or the id
 * of the set if that has only one secondary. Issuing a token admits its id as a secondary.
 */
const resolveId = async (context: FilterContext, id: string): Promise<string> => {
  const role = (await context.state.roles()).performance;
  if (role?.role !== 'primary')
    return refuse('this cluster is not a performance replication primary');
  const admitted = await membership(context).knownSecondaries();
  if (admitted.includes(id)) return id;
  const run = context.member.runOf('performance');
  const secondaries = run?.role === 'primary' ? await run.primary.secondaries() : [];
  const found = secondaries.find(({ localClusterId }) => localClusterId === id)?.id;
  if (found !== undefined) return found;
  const [only, ...others] = admitted;
  if (id !== role.clusterId || only === undefined)
    throw new KeelsonError('replication.unknown_secondary', { id });
  return others.length === 0
    ? only
    : refuse(
        `"${id}" is the id of the replication set, which has ${admitted.length} secondaries: give the id of one of them`,
      );
};

/** The filter as sent to the secondary that asks for it. */
export const describeFilter = async (
  context: Pick<FilterContext, 'memberships' | 'catalog'>,
  id: string,
): Promise<Filter | undefined> => {
  const filter = await membership(context).loadFilter(id);
  if (filter === undefined) return undefined;
  const filtered = await context.catalog.filteredBy(filter);
  const pathsOf = (type: 'mount' | 'namespace'): string[] =>
    filtered
      .filter((one) => one.type === type)
      .map(({ path }) => path)
      .sort();
  return {
    mode: filter.mode,
    paths: [...filter.paths],
    filteredMounts: pathsOf('mount'),
    filteredNamespaces: pathsOf('namespace'),
  };
};

const toDynamic = ({ filteredMounts, filteredNamespaces }: Filter): DynamicFilter => ({
  dynamic_filtered_mounts: filteredMounts,
  dynamic_filtered_namespaces: filteredNamespaces,
});

/** On a secondary: asks the primary for the filter and stores the answer. */
export const fetchFilter = async ({ member, store }: FilterContext): Promise<void> => {
  const run = member.runOf('performance');
  if (run?.role !== 'secondary') return;
  // An unreachable primary is not waited for.
  if ((await run.secondary.sharedStatus()).connectionState !== 'ready') return;
  const received = await run.secondary.link.loadFilter();
  const known = await receivedFilters.find(store, RECEIVED);
  const next = received.mode === '' ? undefined : toDynamic(received);
  if (JSON.stringify(next) === JSON.stringify(known)) return;
  await store.transact((tx) =>
    next === undefined
      ? receivedFilters.delete(tx, RECEIVED)
      : receivedFilters.write(tx, RECEIVED, next),
  );
};

/** Whether the data of the workspace service crossed, according to that service. */
const holdsWorkspaces = async ({ members }: FilterContext): Promise<boolean> => {
  const reports = await members.reports('performance');
  const side = reports.find(({ service }) => service === WORKSPACE_SERVICE)?.report?.side;
  return side?.$case === 'secondary' && side.value.holdsAll;
};

/** The last answer of the primary, without the entries that have arrived here through a later filter. */
export const findReceivedFilter = async (
  context: FilterContext,
): Promise<DynamicFilter | undefined> => {
  const received = await receivedFilters.find(context.store, RECEIVED);
  if (received === undefined) return undefined;
  const found = await context.catalog.filterables();
  const here = new Set(found.map(({ type, path }) => `${type} ${path}`));
  // Every catalog lists the workspaces, whether or not they have data.
  if (
    received.dynamic_filtered_mounts.includes(WORKSPACE_PATH) &&
    !(await holdsWorkspaces(context))
  )
    here.delete(`mount ${WORKSPACE_PATH}`);
  return {
    dynamic_filtered_mounts: received.dynamic_filtered_mounts.filter(
      (path) => !here.has(`mount ${path}`),
    ),
    dynamic_filtered_namespaces: received.dynamic_filtered_namespaces.filter(
      (path) => !here.has(`namespace ${path}`),
    ),
  };
};

/** Applies a committed change at once instead of with the next log entry. */
export const refreshFilters = async (context: FilterContext): Promise<void> => {
  if ((await membership(context).filteredSecondaries()).length > 0)
    await context.members.refreshFilters();
};

/** @throws KeelsonError `replication.unknown_secondary`; `request.not_found` when it has no filter */
export const readFilter = async (context: FilterContext, given: string): Promise<PathsFilter> => {
  const id = await resolveId(context, given);
  const found = await membership(context).loadFilter(id);
  return found === undefined ? noFilter(given) : { mode: found.mode, paths: found.paths };
};

/** @returns the given paths at which nothing exists */
export const writeFilter = async (
  context: FilterContext,
  given: string,
  mode: string,
  paths: readonly string[],
): Promise<readonly string[]> => {
  const id = await resolveId(context, given);
  const filter = parsePathsFilter(mode, paths);
  if (filter.paths.join('').length > MAX_TOTAL_LENGTH) refuse('the paths are too long');
  await membership(context).setFilter(id, filter);
  await context.members.refreshFilters();
  const there = new Set((await context.catalog.filterables()).map(({ path }) => path));
  return filter.paths.filter((path) => !there.has(path));
};

export const deleteFilter = async (context: FilterContext, given: string): Promise<void> => {
  await membership(context).deleteFilter(await resolveId(context, given));
  await context.members.refreshFilters();
};

/** The mounts and namespaces that the filter withholds from a secondary. */
export const filteredForSecondary = async (
  context: FilterContext,
  given: string,
): Promise<DynamicFilter> => {
  const found = await describeFilter(context, await resolveId(context, given));
  return found === undefined ? noFilter(given) : toDynamic(found);
};

/** The mounts and namespaces that are kept from this cluster and absent here. */
export const filteredFromHere = async (
  context: FilterContext,
  given: string,
): Promise<DynamicFilter> => {
  const role = (await context.state.roles()).performance;
  if (role?.role !== 'secondary')
    return refuse('this cluster is not a performance replication secondary');
  const own = [role.link?.secondaryId, role.clusterId, await context.localClusterId()];
  if (!own.includes(given)) refuse(`"${given}" is not the id of this secondary`);
  // While the primary cannot be reached, its last answer applies.
  await fetchFilter(context).catch(() => undefined);
  return (await findReceivedFilter(context)) ?? noFilter(given);
};

/** Called when this cluster no longer follows a primary. */
export const forgetFilter = ({ store }: FilterContext): Promise<void> =>
  store.transact((tx) => receivedFilters.delete(tx, RECEIVED));

/** Part of the transaction that moves a mount. */
export const moveInFilters = async (
  context: FilterContext,
  tx: Transaction,
  before: MountRecord,
  after: MountRecord,
): Promise<void> => {
  if (before.local) return;
  const table = await loadNamespaceTable(tx);
  const [from, to] = [fullPathOf(table, before), fullPathOf(table, after)];
  if (from === undefined || to === undefined) return;
  await membership(context).changeFilters(tx, randomUUID(), (filter) =>
    followMove(filter, before.uuid, from, to),
  );
};
