import type { Backend } from './backend.ts';
import { type TreeType, treeTypeOf } from './merkle/record-digest.ts';
import { rangeBelow } from './record-path.ts';
import type { StoredReads } from './store.ts';

const PREFIXES: Readonly<Record<TreeType, string>> = { replicated: 'shared/', local: 'local/' };

/** @param untilDurable resolves when everything that was visible at the call is on disk */
export const storedReadsOf = (
  backend: Backend,
  untilDurable: () => Promise<void>,
): StoredReads => ({
  listPaths: async (tree, after, limit) => {
    const prefix = PREFIXES[tree];
    const range = rangeBelow(prefix, after === '' ? undefined : after);
    const paths = await backend.listPaths(range, limit);
    await untilDurable();
    return paths;
  },
  listSubpage: async (tree, subpage) => {
    const paths = await backend.listSubpage(subpage);
    await untilDurable();
    return paths.filter((path) => treeTypeOf(path) === tree);
  },
  read: async (paths) => {
    const copies = [];
    for (const path of paths) {
      const row = treeTypeOf(path) === undefined ? undefined : await backend.findRow(path);
      if (row !== undefined) copies.push({ path, stored: row.stored });
    }
    await untilDurable();
    return copies;
  },
});
