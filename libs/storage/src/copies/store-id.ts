/** Id of a store, created when first needed and kept in copies of the store. */
import { randomUUID } from 'node:crypto';
import { Type } from 'typebox';
import { singleRecord } from '../collections/collection.ts';
import type { Store } from '../store.ts';

// Not encrypted, so that a sealed store can be identified; not replicated, so that each cluster has its own.
const storeIdRecord = singleRecord('core/store-id', {
  scope: 'node',
  version: 1,
  shape: Type.Object({ id: Type.String() }),
});

/** Returns the id of the store; assigns one if it has none. */
export const loadStoreId = async (store: Store): Promise<string> => {
  const id = randomUUID();
  return store.transact(async (tx) => {
    const known = await storeIdRecord.find(tx);
    if (known === undefined) storeIdRecord.write(tx, { id });
    return known?.id ?? id;
  });
};
