/**
 * The identity of each service's store. Without this check, a service whose database is empty or belongs to
 * another cluster would receive its key, start without data and appear healthy.
 */

import { KeelsonError } from '@keelson/errors';
import { collection, type Store } from '@keelson/storage';
import { Type } from 'typebox';

/** Keys: service names. Not replicated: secondaries have stores of their own. */
const memberStores = collection('core/member-stores', {
  scope: 'node',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ id: Type.String() }),
});

export interface JoiningMember {
  readonly service: string;
  /** Empty if the service has no store. */
  readonly storeId: string;
}

/**
 * Records the store of a service that joins for the first time.
 * @param accepted services whose store may differ from the recorded one
 * @throws KeelsonError `sys.other_store`
 */
export const requireKnownStore = (
  store: Store,
  { service, storeId: id }: JoiningMember,
  accepted: readonly string[],
): Promise<void> =>
  store.transact(async (tx) => {
    if (id === '') return;
    const known = await memberStores.find(tx, service);
    if (known?.id === id) return;
    if (known !== undefined && !accepted.includes(service))
      throw new KeelsonError('sys.other_store', { service, known: known.id, id });
    memberStores.write(tx, service, { id });
  });
