import { collection, deriveView, type Reads, type Store } from '@keelson/storage';
import { Type } from 'typebox';
import type { OnDamage } from '../damage/damage-register.ts';
import { OF_NAMESPACE } from '../owners/record-owners.ts';
import { namespaceRecordShape } from './domain/namespace.ts';
import { NamespaceTable } from './domain/namespace-table.ts';

/** Keys: namespace ids. The root has no record. */
export const namespaceRecords = collection('core/namespaces', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: namespaceRecordShape,
  kind: OF_NAMESPACE.kind,
});

const namespaceLockShape = Type.Object({
  /** SHA-256, hex. */
  unlockKeyHash: Type.String(),
});

/** Keys: namespace ids, including the root's. */
export const namespaceLockRecords = collection('core/namespace-locks', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: namespaceLockShape,
  owner: { ...OF_NAMESPACE, isKey: true },
});

export const loadNamespaceTable = async (reads: Reads): Promise<NamespaceTable> => {
  const { entries, damaged } = await namespaceRecords.readableEntries(reads);
  const locks = await namespaceLockRecords.keys(reads);
  return new NamespaceTable(
    entries.map(([, record]) => record),
    new Set(locks),
    damaged,
  );
};

/**
 * Returns the table as of each call; rebuilds it only after a namespace or a lock changed.
 * @param onDamage called with the ids of damaged namespaces at every rebuild
 */
export const followNamespaces = (
  store: Store,
  onDamage: OnDamage,
): (() => Promise<NamespaceTable>) =>
  deriveView(store, [namespaceRecords.prefix, namespaceLockRecords.prefix], async (reads) => {
    const table = await loadNamespaceTable(reads);
    onDamage([...table.damaged]);
    return table;
  });
