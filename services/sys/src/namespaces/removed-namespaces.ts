import { listOwners, removeOwned } from '@keelson/storage';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import type { NamespaceTable } from './domain/namespace-table.ts';
import type { NamespaceContext } from './namespace-operations.ts';

/** Scopes of the records that belong to this cluster alone, also on a secondary. */
const OWN_SCOPES = ['local', 'node'] as const;

/**
 * Removes the records local to this cluster of namespaces that disappeared because a paths filter
 * withholds them or the primary removed them.
 * @returns one round, which costs nothing while no namespace has changed since the previous round
 */
export const createRemovedNamespaces = ({
  store,
  namespaces,
  endLeases,
}: NamespaceContext): (() => Promise<void>) => {
  let seen: NamespaceTable | undefined;
  return async () => {
    const table = await namespaces();
    if (table === seen) return;
    let isOver = true;
    for (const id of await listOwners(store, OF_NAMESPACE.kind, OWN_SCOPES)) {
      if (table.findById(id) !== undefined || table.damaged.has(id)) continue;
      const isEnded = await endLeases(id);
      isOver &&= isEnded;
      if (!isEnded) continue;
      await removeOwned(store, { kind: OF_NAMESPACE.kind, id }, OWN_SCOPES);
    }
    if (isOver) seen = table;
  };
};
