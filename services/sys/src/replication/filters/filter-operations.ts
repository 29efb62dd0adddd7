/** Paths filters as operators see them: on the primary that keeps them and on the secondary that feels them. */
import { randomUUID } from 'node:crypto';
import type { ReplicationMember } from '@keelson/cluster-member';
import { KeelsonError } from '@keelson/errors';
import type { Filter } from '@keelson/proto/replication/v1/replication';
import { type DynamicFilter, type PathsFilter, parsePathsFilter } from '@keelson/replication';
import { jsonRecords, type Store, type Transaction } from '@keelson/storage';
import type { MountRecord } from '../../mounts/domain/mount.ts';
import { loadNamespaceTable } from '../../namespaces/namespace-records.ts';
import type { ReplicationState } from '../replication-state.ts';
import type { ServiceMembers } from '../service-members.ts';
import { type Catalog, followMove, fullPathOf, WORKSPACE_PATH } from './filter-catalog.ts';

export interface FilterParts {
  /** Not guarded. */
  readonly store: Store;
  readonly state: ReplicationState;
  readonly member: ReplicationMember;
  readonly members: ServiceMembers;
  readonly catalog: Catalog;
  /** Id of this cluster itself. */
  readonly localClusterId: () => Promise<string>;
}

export interface FilterOperations {
  /** @throws KeelsonError `replication.unknown_secondary`; `request.not_found` when there is none */
  read(id: string): Promise<PathsFilter>;
  /** @returns those of the paths at which there is nothing */
  write(id: string, mode: string, paths: readonly string[]): Promise<readonly string[]>;
  delete(id: string): Promise<void>;
  /** What the filter of a secondary keeps back. */
  onPrimary(id: string): Promise<DynamicFilter>;
  /** What is kept from this cluster, and is not here. */
  onSecondary(id: string): Promise<DynamicFilter>;
  /** For a secondary that asks. */
  describe(id: string): Promise<Filter | undefined>;
  /** On a secondary: asks the primary, and notes what it tells. */
  learn(): Promise<void>;
  /** What this secondary was told last, without what is here nevertheless: a later filter let it through. */
  known(): Promise<DynamicFilter | undefined>;
  /** This cluster follows nobody any more. */
  forget(): Promise<void>;
  /** Part of the transaction that moves a mount. */
  mountMoved(tx: Transaction, before: MountRecord, after: MountRecord): Promise<void>;
  /** Has a change that was committed take effect without waiting for the next entry. */
  refresh(): Promise<void>;
}

/** Told to a secondary in one message. */
const MAX_TOTAL_LENGTH = 64 * 1024;

const toldFilters = jsonRecords<DynamicFilter>('node/replication/filter/');
const TOLD = 'told';
const WORKSPACE_SERVICE = 'workspace';

const refuse = (text: string): never => {
  throw new KeelsonError('request.invalid', { text });
};

const noFilter = (id: string): never => {
  throw new KeelsonError('request.not_found', { text: `no paths filter for secondary "${id}"` });
};

export const createFilterOperations = (parts: FilterParts): FilterOperations => {
  const { store, state, member, members, catalog } = parts;
  const membership = () => state.membershipOf('performance');

  /**
   * The secondary that an id means: its own id, the id of the cluster that it is once it was heard of, or
   * the id of the set where that has one secondary. A token that was issued makes its id a secondary's.
   */
  const resolveId = async (id: string): Promise<string> => {
    const role = (await state.roles()).performance;
    if (role?.role !== 'primary')
      return refuse('this cluster is not a performance replication primary');
    const admitted = await membership().knownSecondaries();
    if (admitted.includes(id)) return id;
    const run = member.runOf('performance');
    const heard = run?.role === 'primary' ? await run.primary.secondaries() : [];
    const found = heard.find(({ localClusterId }) => localClusterId === id)?.id;
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

  const describe = async (id: string): Promise<Filter | undefined> => {
    const filter = await membership().loadFilter(id);
    if (filter === undefined) return undefined;
    const filtered = await catalog.filteredBy(filter);
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

  const learn = async (): Promise<void> => {
    const run = member.runOf('performance');
    if (run?.role !== 'secondary') return;
    // A primary that does not answer is not waited for.
    if ((await run.secondary.sharedStatus()).connectionState !== 'ready') return;
    const told = await run.secondary.loadFilter();
    const known = await toldFilters.find(store, TOLD);
    const next = told.mode === '' ? undefined : toDynamic(told);
    if (JSON.stringify(next) === JSON.stringify(known)) return;
    await store.transact((tx) =>
      next === undefined ? toldFilters.delete(tx, TOLD) : toldFilters.write(tx, TOLD, next),
    );
  };

  /** Whether the data of the workspace service crossed, as that service tells. */
  const holdsWorkspaces = async (): Promise<boolean> => {
    const reports = await members.reports('performance');
    const side = reports.find(({ service }) => service === WORKSPACE_SERVICE)?.report?.side;
    return side?.$case === 'secondary' && side.value.holdsAll;
  };

  const known = async (): Promise<DynamicFilter | undefined> => {
    const told = await toldFilters.find(store, TOLD);
    if (told === undefined) return undefined;
    const found = await catalog.filterables();
    const here = new Set(found.map(({ type, path }) => `${type} ${path}`));
    // It is in every catalog, with data or without.
    if (told.dynamic_filtered_mounts.includes(WORKSPACE_PATH) && !(await holdsWorkspaces()))
      here.delete(`mount ${WORKSPACE_PATH}`);
    return {
      dynamic_filtered_mounts: told.dynamic_filtered_mounts.filter(
        (path) => !here.has(`mount ${path}`),
      ),
      dynamic_filtered_namespaces: told.dynamic_filtered_namespaces.filter(
        (path) => !here.has(`namespace ${path}`),
      ),
    };
  };

  return {
    refresh: async () => {
      if ((await membership().filteredSecondaries()).length > 0) await members.refreshFilters();
    },

    read: async (given) => {
      const id = await resolveId(given);
      const found = await membership().loadFilter(id);
      return found === undefined ? noFilter(given) : { mode: found.mode, paths: found.paths };
    },

    write: async (given, mode, paths) => {
      const id = await resolveId(given);
      const filter = parsePathsFilter(mode, paths);
      if (filter.paths.join('').length > MAX_TOTAL_LENGTH) refuse('the paths are too long');
      await membership().setFilter(id, filter);
      await members.refreshFilters();
      const there = new Set((await catalog.filterables()).map(({ path }) => path));
      return filter.paths.filter((path) => !there.has(path));
    },

    delete: async (given) => {
      await membership().deleteFilter(await resolveId(given));
      await members.refreshFilters();
    },

    onPrimary: async (given) => {
      const found = await describe(await resolveId(given));
      return found === undefined ? noFilter(given) : toDynamic(found);
    },

    onSecondary: async (given) => {
      const role = (await state.roles()).performance;
      if (role?.role !== 'secondary')
        return refuse('this cluster is not a performance replication secondary');
      const own = [role.link?.secondaryId, role.clusterId, await parts.localClusterId()];
      if (!own.includes(given)) refuse(`"${given}" is not the id of this secondary`);
      // While the primary cannot be asked, what it told last holds.
      await learn().catch(() => undefined);
      return (await known()) ?? noFilter(given);
    },

    describe,
    learn,
    known,
    forget: () => store.transact((tx) => toldFilters.delete(tx, TOLD)),

    mountMoved: async (tx, before, after) => {
      if (before.local) return;
      const table = await loadNamespaceTable(tx);
      const [from, to] = [fullPathOf(table, before), fullPathOf(table, after)];
      if (from === undefined || to === undefined) return;
      await membership().changeFilters(tx, randomUUID(), (filter) =>
        followMove(filter, before.uuid, from, to),
      );
    },
  };
};
