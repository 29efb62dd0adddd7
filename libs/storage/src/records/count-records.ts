import type { Store } from '../store.ts';
import { treeTypeOf } from './record-digest.ts';

const PAGE = 1000;

/**
 * Number of records below a prefix of encrypted scope, without reading them; at most `limit`. They are counted
 * in pages, so that a large number keeps nobody waiting.
 */
export const countRecords = async (
  { stored }: Pick<Store, 'stored'>,
  prefix: string,
  limit: number,
): Promise<number> => {
  const tree = treeTypeOf(prefix);
  if (tree === undefined) throw new Error(`${prefix} is in no tree`);
  let count = 0;
  for (let after = prefix; count < limit; ) {
    const paths = await stored.listPaths(tree, after, PAGE);
    const own = paths.filter((path) => path.startsWith(prefix));
    count += own.length;
    after = own.at(-1) ?? after;
    if (own.length < PAGE) break;
  }
  return Math.min(count, limit);
};
