import { deriveView, jsonRecords, type Reads, type Store } from '@keelson/storage';
import type { NamespaceRecord } from './domain/namespace.ts';
import { NamespaceTable } from './domain/namespace-table.ts';

/** Key: namespace id. The root has no record. */
export const namespaceRecords = jsonRecords<NamespaceRecord>('shared/core/namespaces/');

interface NamespaceLock {
  /** SHA-256, hex. */
  readonly unlockKeyHash: string;
}

/** Key: namespace id, the root's included. */
export const namespaceLockRecords = jsonRecords<NamespaceLock>('shared/core/namespace-locks/');

export const loadNamespaceTable = async (reads: Reads): Promise<NamespaceTable> => {
  const records = await namespaceRecords.entries(reads);
  const locks = await namespaceLockRecords.keys(reads);
  return new NamespaceTable(
    records.map(([, record]) => record),
    new Set(locks),
  );
};

/** The table as of each call, rebuilt only after a namespace or a lock changed. */
export const followNamespaces = (store: Store): (() => Promise<NamespaceTable>) =>
  deriveView(store, [namespaceRecords.prefix, namespaceLockRecords.prefix], loadNamespaceTable);

const REMOVAL_BATCH = 500;

/** Deletes everything below `prefix`, in transactions of bounded size. Safe to repeat. */
export const removeBelow = async (store: Store, prefix: string): Promise<void> => {
  for (;;) {
    const found = await store.scan(prefix, { limit: REMOVAL_BATCH });
    if (found.length === 0) return;
    await store.transact((tx) => {
      for (const { path } of found) tx.delete(path);
    });
  }
};
