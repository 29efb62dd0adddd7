/** The events of a request, out of all changes that its transaction makes. */

import type { ResourceType } from './audit-event.ts';

export type ChangeKind = 'create' | 'update' | 'destroy';

/** A resource that a transaction changes. */
export interface ResourceChange {
  readonly type: ResourceType;
  readonly id: string;
  readonly change: ChangeKind;
  /** Ids of what the resource belongs to, the nearest first, and last its organization. */
  readonly ancestors: readonly string[];
}

/** A change with the name of what was done. */
export type ActedChange<C extends ResourceChange> = C & { readonly action: string };

const ACTION = /\/([\w-]+)\/:\w+\/actions\/([\w-]+)$/;

interface NamedAction {
  readonly type: string;
  readonly action: string;
}

/** The action in the path of a route, such as `lock` of a `workspace`; undefined for other paths. */
export const actionOf = (path: string): NamedAction | undefined => {
  const [, collection = '', action = ''] = ACTION.exec(path) ?? [];
  if (action === '') return undefined;
  return { type: collection.replace(/s$/, '').replaceAll('-', '_'), action };
};

/** Changes of parts, without those that follow in what they belong to, such as its time of change. */
const innermost = <C extends ResourceChange>(changes: readonly C[]): readonly C[] => {
  const ancestors = new Set(changes.flatMap((change) => change.ancestors));
  return changes.filter(({ id }) => !ancestors.has(id));
};

/** Beginnings and ends, without those of parts of what begins or ends as well. */
const outermost = <C extends ResourceChange>(changes: readonly C[]): readonly C[] => {
  const ids = new Set(changes.map(({ id }) => id));
  return changes.filter(({ ancestors }) => !ancestors.some((id) => ids.has(id)));
};

const isNotUpdate = ({ change }: ResourceChange): boolean => change !== 'update';

/**
 * The events of a request, without what follows from them: a new workspace and not its project, a removed team and not
 * its former members, a discarded run and not the lock that it gives back.
 * @param path of the route
 */
export const selectEvents = <C extends ResourceChange>(
  path: string,
  changes: readonly C[],
): readonly ActedChange<C>[] => {
  const named = actionOf(path);
  const acted = changes.filter(({ type, change }) => type === named?.type && change === 'update');
  if (named !== undefined && acted.length > 0)
    return acted.map((change) => ({ ...change, action: named.action }));
  const beginningOrEnding = changes.filter(isNotUpdate);
  const chosen = beginningOrEnding.length > 0 ? outermost(beginningOrEnding) : innermost(changes);
  return chosen.map((change) => ({ ...change, action: change.change }));
};
