/** Second factors end with their entity, and with their method. */
import type { RecordCollection, Store, Transaction } from '@keelson/storage';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import { PASSCODE_RECORDS } from './mfa-records.ts';
import { PASSKEY_RECORDS } from './passkey-records.ts';

type Factors = Pick<RecordCollection<unknown>, 'keys' | 'readableEntries' | 'delete'>;

/** Keys: "<namespace id of the entity>/<entity id>/<method id>". */
const KINDS: readonly Factors[] = [...PASSCODE_RECORDS, ...PASSKEY_RECORDS];

/** Records that are read, or removed, at once. */
const PORTION = 200;

/** Part of the transaction that deletes an entity. */
export const deleteFactorsOf = async (
  tx: Transaction,
  { namespaceId, id }: EntityRef,
): Promise<void> => {
  for (const records of KINDS)
    for (const methodId of await records.keys(tx, [namespaceId, id]))
      records.delete(tx, namespaceId, id, methodId);
};

/** Removes what all entities have for a method that is gone, damaged records too. */
export const deleteFactorsFor = async (store: Store, methodId: string): Promise<void> => {
  for (const records of KINDS)
    for (let after: string | undefined; ; ) {
      const { entries, damaged } = await records.readableEntries(store, {
        limit: PORTION,
        ...(after !== undefined && { after }),
      });
      const keys = [...entries.map(([key]) => key), ...damaged].toSorted();
      const gone = keys.filter((key) => key.endsWith(`/${methodId}`));
      if (gone.length > 0)
        await store.transact((tx) => {
          for (const key of gone) records.delete(tx, ...key.split('/'));
          return Promise.resolve();
        });
      if (keys.length < PORTION) break;
      after = keys.at(-1);
    }
};
