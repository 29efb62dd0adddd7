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
    const known = paths.filter((path) => treeTypeOf(path) !== undefined);
    const rows = await Promise.all(known.map(async (path) => backend.findRow(path)));
    await untilDurable();
    return rows.flatMap((row) =>
      row === undefined ? [] : [{ path: row.path, stored: row.stored }],
    );
  },
});
