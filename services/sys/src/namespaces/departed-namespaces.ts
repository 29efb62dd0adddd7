import type { NamespaceTable } from './domain/namespace-table.ts';
import type { NamespaceContext } from './namespace-operations.ts';
import { removeBelow } from './namespace-records.ts';

/** True for records that belong to this cluster alone, also on a secondary. */
const isLocal = (prefix: string): boolean => prefix.startsWith('local/');

/**
 * Removes the records local to this cluster of namespaces that disappeared because a paths filter
 * withholds them or the primary removed them.
 * @returns one round, which costs nothing while no namespace has changed since the previous round
 */
export const createDepartedNamespaces = ({
  store,
  namespaces,
  endLeases,
  contentPrefixes,
  withOwnContent,
}: NamespaceContext): (() => Promise<void>) => {
  let seen: NamespaceTable | undefined;
  return async () => {
    const table = await namespaces();
    if (table === seen) return;
    let isOver = true;
    for (const id of await withOwnContent()) {
      if (table.findById(id) !== undefined || table.damaged.has(id)) continue;
      const isEnded = await endLeases(id);
      isOver &&= isEnded;
      if (!isEnded) continue;
      for (const prefix of contentPrefixes(id))
        if (isLocal(prefix)) await removeBelow(store, prefix);
    }
    if (isOver) seen = table;
  };
};
