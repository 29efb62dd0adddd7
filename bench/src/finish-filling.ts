import { createBarrier, openSqliteStore } from '@keelson/storage';
import { collectGarbage } from './collect-garbage.ts';

/**
 * Does what the store and the process put off while it is filled, above all the indexes of its file and the
 * garbage of it: with every record it is part of what that record costs, and after many at once the next few
 * operations would pay for it.
 * @param file of a store that is closed
 */
export const finishFilling = async (file: string): Promise<void> => {
  const store = await openSqliteStore({ file, barrier: createBarrier(), maxRecentRecords: 1 });
  // Waits for the indexes, which are further behind than they may be here.
  await store.transact((tx) => tx.write('node/bench', new Uint8Array()));
  await store.close();
  collectGarbage();
};
