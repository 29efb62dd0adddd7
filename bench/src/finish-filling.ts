import type { Store } from '@keelson/storage';

/**
 * Does what the store puts off while it is filled, above all the index of subpages: with every record it
 * is part of what that record costs, and after many at once the next few operations would pay for it.
 */
export const finishFilling = async ({ stored }: Store): Promise<void> => {
  await stored.listSubpage('replicated', 0);
};
