/**
 * Which records belong to what a paths filter names. A group is a mount, a namespace, or all the data of
 * a service that is one mount; records of no group are those that every cluster needs.
 */

/** All records below `below` are of one group: of the mount or namespace that a segment names, or of this one. */
export type RecordArea =
  | {
      readonly below: string;
      readonly named: 'mount' | 'namespace';
      /** Which segment after `below` names it; 0 is the first. */
      readonly segment: 0 | 1;
      /** A record has that name itself, and nothing is below it. */
      readonly isLast?: boolean;
    }
  | { readonly below: string; readonly group: string };

/** The group of all records of a mount. */
export const mountGroup = (uuid: string): string => `mount/${uuid}`;

/** The group of what a namespace has beside its mounts. */
export const namespaceGroup = (id: string): string => `namespace/${id}`;

/** All records of the workspace service are one mount. */
export const WORKSPACE_GROUP = mountGroup('workspace');

export interface GroupName {
  readonly type: 'mount' | 'namespace';
  /** uuid of the mount, id of the namespace. */
  readonly id: string;
}

/** undefined: no group of ours. */
export const parseGroup = (group: string): GroupName | undefined => {
  const [type, id, ...rest] = group.split('/');
  return (type === 'mount' || type === 'namespace') && id !== undefined && rest.length === 0
    ? { type, id }
    : undefined;
};

export interface RecordGroups {
  /** undefined: it crosses to every secondary. */
  groupOf(path: string): string | undefined;
  /** All records of the group are below these; others may be, too. */
  prefixesOf(group: string): readonly string[];
}

/** Written by replication itself; how far a secondary is behind shows in it. */
const OWN_PREFIX = 'shared/replication/';

/** @param areas none below another */
export const recordGroups = (areas: readonly RecordArea[]): RecordGroups => ({
  groupOf: (path) => {
    if (path.startsWith(OWN_PREFIX)) return undefined;
    const area = areas.find(({ below }) => path.startsWith(below));
    if (area === undefined) return undefined;
    if ('group' in area) return area.group;
    const name = path.slice(area.below.length).split('/', 2)[area.segment] ?? '';
    return area.named === 'mount' ? mountGroup(name) : namespaceGroup(name);
  },
  prefixesOf: (group) =>
    areas.flatMap((area) => {
      if ('group' in area) return area.group === group ? [area.below] : [];
      const name = parseGroup(group);
      if (name?.type !== area.named) return [];
      const isOwnPrefix = area.segment === 0 && area.isLast !== true;
      return [isOwnPrefix ? `${area.below}${name.id}/` : area.below];
    }),
});

/** Of a service all of whose records every secondary gets. */
export const NO_GROUPS: RecordGroups = recordGroups([]);
