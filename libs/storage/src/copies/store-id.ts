/** Id of a store, created when first needed and kept in copies of the store. */
import { randomUUID } from 'node:crypto';
import { jsonRecords } from '../collections/json-records.ts';
import type { Store } from '../store.ts';

// Not encrypted, so that a sealed store can be identified; not replicated, so that each cluster has its own.
const storeIds = jsonRecords<{ readonly id: string }>('node/core/');
const STORE_ID_KEY = 'store-id';

/** Returns the id of the store; assigns one if it has none. */
export const loadStoreId = async (store: Store): Promise<string> => {
  const id = randomUUID();
  return store.transact(async (tx) => {
    const known = await storeIds.find(tx, STORE_ID_KEY);
    if (known === undefined) storeIds.write(tx, STORE_ID_KEY, { id });
    return known?.id ?? id;
  });
};
