/**
 * The groups of records that a paths filter can name. A group is a mount, a namespace, or all the data of
 * a service that is one mount; records without a group are those that every cluster needs.
 */

/** The group of all records below `below`: the mount or namespace that a segment names, or a fixed group. */
export type RecordArea =
  | {
      readonly below: string;
      readonly named: 'mount' | 'namespace';
      /** The segment after `below` that names the group. */
      readonly segment: 'first' | 'last';
      /** A record has that name itself, and nothing is below it. */
      readonly isLast?: boolean;
    }
  | { readonly below: string; readonly group: string };

/** The group of all records of a mount. */
export const mountGroup = (uuid: string): string => `mount/${uuid}`;

/** The group of the records of a namespace that belong to none of its mounts. */
export const namespaceGroup = (id: string): string => `namespace/${id}`;

/** Group of all records of the workspace service, which count as one mount. */
export const WORKSPACE_GROUP = mountGroup('workspace');

export interface GroupName {
  readonly type: 'mount' | 'namespace';
  /** uuid of the mount, id of the namespace. */
  readonly id: string;
}

/** Parses a group; undefined if it names neither a mount nor a namespace. */
export const parseGroup = (group: string): GroupName | undefined => {
  const [type, id, ...rest] = group.split('/');
  return (type === 'mount' || type === 'namespace') && id !== undefined && rest.length === 0
    ? { type, id }
    : undefined;
};

export interface RecordGroups {
  /** Group of a record; undefined if it crosses to every secondary. */
  groupOf(path: string): string | undefined;
  /** Prefixes below which all records of the group are; other records may be there too. */
  prefixesOf(group: string): readonly string[];
}

/** Written by replication itself to measure a secondary's lag; never filtered. */
const OWN_PREFIX = 'shared/replication/';

/** @param areas none below another */
export const recordGroups = (areas: readonly RecordArea[]): RecordGroups => ({
  groupOf: (path) => {
    if (path.startsWith(OWN_PREFIX)) return undefined;
    const area = areas.find(({ below }) => path.startsWith(below));
    if (area === undefined) return undefined;
    if ('group' in area) return area.group;
    const names = path.slice(area.below.length).split('/');
    const name = names.at(area.segment === 'first' ? 0 : -1) ?? '';
    return area.named === 'mount' ? mountGroup(name) : namespaceGroup(name);
  },
  prefixesOf: (group) =>
    areas.flatMap((area) => {
      if ('group' in area) return area.group === group ? [area.below] : [];
      const name = parseGroup(group);
      if (name?.type !== area.named) return [];
      const isOwnPrefix = area.segment === 'first' && area.isLast !== true;
      return [isOwnPrefix ? `${area.below}${name.id}/` : area.below];
    }),
});

/** The groups of a service whose records are never filtered. */
export const NO_GROUPS: RecordGroups = recordGroups([]);
