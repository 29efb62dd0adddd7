/** Present and former mounts and namespaces, and the decision which of them a paths filter withholds. */
import {
  type FilterablePath,
  type FilterCatalog,
  mountGroup,
  namespaceGroup,
  type PathsFilter,
  parseGroup,
  passesFilter,
  type StoredFilter,
  WORKSPACE_GROUP,
} from '@keelson/replication';
import type { Store, Transaction } from '@keelson/storage';
import type { MountRecord } from '../../mounts/domain/mount.ts';
import type { MountIndex } from '../../mounts/domain/mount-index.ts';
import { isBuiltIn, loadMountIndex } from '../../mounts/mount-records.ts';
import { ROOT_NAMESPACE_ID } from '../../namespaces/domain/namespace.ts';
import type { NamespaceTable } from '../../namespaces/domain/namespace-table.ts';
import { loadNamespaceTable } from '../../namespaces/namespace-records.ts';
import { formerMounts, formerNamespaces } from './previous-records.ts';

/** The API path of the workspace service, which filters name like the path of a mount. */
export const WORKSPACE_PATH = 'api/v2/';

/** Full path of a mount as paths filters name it. */
export const fullPathOf = (
  namespaces: NamespaceTable,
  { namespaceId, table, path }: Pick<MountRecord, 'namespaceId' | 'table' | 'path'>,
): string | undefined => {
  const namespace = namespaces.findById(namespaceId);
  return namespace && `${namespace.path}${table === 'auth' ? 'auth/' : ''}${path}`;
};

/** The filter, extended by the places to which its mounts were moved. */
export const effectiveFilter = ({ mode, paths, moved }: StoredFilter): PathsFilter => ({
  mode,
  paths: [...paths, ...Object.values(moved)],
});

const isFilterable = (mount: MountRecord): boolean => !mount.local && !isBuiltIn(mount);

/** Only their own path decides about the workspaces, not a namespace or mount of the same name. */
const passesWorkspaces = ({ mode, paths }: PathsFilter): boolean =>
  paths.includes(WORKSPACE_PATH) === (mode === 'allow');

const passes = (filter: PathsFilter, group: string, one: FilterablePath): boolean =>
  group === WORKSPACE_GROUP ? passesWorkspaces(filter) : passesFilter(filter, one);

export interface Filterable extends FilterablePath {
  readonly group: string;
}

export interface Catalog extends FilterCatalog {
  /** Everything that a filter can name. */
  filterables(): Promise<readonly Filterable[]>;
  /** The mounts and namespaces that the filter withholds. */
  filteredBy(filter: StoredFilter): Promise<readonly Filterable[]>;
}

export interface CatalogParts {
  readonly store: Store;
  readonly mounts: () => Promise<MountIndex>;
  readonly namespaces: () => Promise<NamespaceTable>;
}

export const createCatalog = ({ store, mounts, namespaces }: CatalogParts): Catalog => {
  const filterables = async (): Promise<readonly Filterable[]> => {
    const [index, table] = [await mounts(), await namespaces()];
    const found: Filterable[] = [{ group: WORKSPACE_GROUP, type: 'mount', path: WORKSPACE_PATH }];
    for (const mount of [...index.all()].filter(isFilterable)) {
      const path = fullPathOf(table, mount);
      if (path !== undefined) found.push({ group: mountGroup(mount.uuid), type: 'mount', path });
    }
    for (const { id, path } of table.all())
      if (id !== ROOT_NAMESPACE_ID)
        found.push({ group: namespaceGroup(id), type: 'namespace', path });
    return found;
  };

  const former = async (): Promise<readonly Filterable[]> => [
    ...(await formerMounts.entries(store)).map(
      ([uuid, { path }]) => ({ group: mountGroup(uuid), type: 'mount', path }) as const,
    ),
    ...(await formerNamespaces.entries(store)).map(
      ([id, { path }]) => ({ group: namespaceGroup(id), type: 'namespace', path }) as const,
    ),
  ];

  /** Present records are read before former ones, so that a removal in between is not missed. */
  const find = async (group: string): Promise<FilterablePath | undefined> => {
    const name = parseGroup(group);
    if (group === WORKSPACE_GROUP) return { type: 'mount', path: WORKSPACE_PATH };
    if (name?.type === 'mount') {
      const mount = (await mounts()).findByUuid(name.id);
      const path =
        (mount && fullPathOf(await namespaces(), mount)) ??
        (await formerMounts.find(store, name.id))?.path;
      return path === undefined ? undefined : { type: 'mount', path };
    }
    const path =
      (await namespaces()).findById(name?.id ?? '')?.path ??
      (await formerNamespaces.find(store, name?.id ?? ''))?.path;
    return path === undefined ? undefined : { type: 'namespace', path };
  };

  const crosses = async (filter: PathsFilter, group: string): Promise<boolean> => {
    if (group === namespaceGroup(ROOT_NAMESPACE_ID)) return true;
    const found = await find(group);
    // A group that is unknown here does not cross.
    return found !== undefined && passes(filter, group, found);
  };

  return {
    filterables,
    filteredBy: async (stored) => {
      const filter = effectiveFilter(stored);
      return (await filterables()).filter((one) => !passes(filter, one.group, one));
    },
    withheldGroups: async (stored, groups) => {
      const filter = effectiveFilter(stored);
      if (groups === undefined)
        return [...(await filterables()), ...(await former())]
          .filter((one) => !passes(filter, one.group, one))
          .map(({ group }) => group);
      const withheldGroups: string[] = [];
      for (const group of groups) if (!(await crosses(filter, group))) withheldGroups.push(group);
      return withheldGroups;
    },
  };
};

/** Part of the transaction that disables a mount. */
export const recordFormerMount = async (tx: Transaction, mount: MountRecord): Promise<void> => {
  const path = isFilterable(mount) ? fullPathOf(await loadNamespaceTable(tx), mount) : undefined;
  if (path !== undefined) formerMounts.write(tx, mount.uuid, { path });
};

/** Called before the records of a namespace are removed. */
export const recordFormerNamespace = async (tx: Transaction, id: string): Promise<void> => {
  const table = await loadNamespaceTable(tx);
  const namespace = table.findById(id);
  if (namespace === undefined) return;
  formerNamespaces.write(tx, id, { path: namespace.path });
  for (const mount of (await loadMountIndex(tx)).all())
    if (mount.namespaceId === id) await recordFormerMount(tx, mount);
};

/** The filter after a mount was moved; undefined when it is unchanged. */
export const followMove = (
  filter: StoredFilter,
  uuid: string,
  from: string,
  to: string,
): Omit<StoredFilter, 'generation'> | undefined => {
  if (filter.moved[uuid] !== undefined || filter.paths.includes(from))
    return { ...filter, moved: { ...filter.moved, [uuid]: to } };
  const effective = effectiveFilter(filter);
  const crossed = passesFilter(effective, { type: 'mount', path: from });
  return crossed === passesFilter(effective, { type: 'mount', path: to }) ? undefined : filter;
};
