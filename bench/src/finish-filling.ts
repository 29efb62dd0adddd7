import type { Store } from '@keelson/storage';
import { collectGarbage } from './collect-garbage.ts';

/**
 * Does what the store and the process put off while it is filled, above all the index of subpages and the
 * garbage of it: with every record it is part of what that record costs, and after many at once the next few
 * operations would pay for it.
 */
export const finishFilling = async ({ stored }: Store): Promise<void> => {
  await stored.listSubpage('replicated', 0);
  collectGarbage();
};
