/** Work on the items of a page, after which others get their turns. */
import { setImmediate } from 'node:timers/promises';

/** Ten workspaces take about a millisecond. */
const PORTION = 10;

/**
 * The results of the work on each item, in the order of the items. Reads of a local store do not wait for anything, so
 * that the event loop would be held until the whole page is done.
 */
export const inPortions = async <Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<readonly Result[]> => {
  const results: Result[] = [];
  for (let from = 0; from < items.length; from += PORTION) {
    if (from > 0) await setImmediate();
    results.push(...(await Promise.all(items.slice(from, from + PORTION).map(work))));
  }
  return results;
};
