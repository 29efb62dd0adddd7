import type { Backend } from '../backend.ts';
import { treeTypeOf } from '../records/record-digest.ts';
import { rangeBelow } from '../records/record-path.ts';
import type { StoredReads, TreeType } from '../store.ts';

const PREFIXES: Readonly<Record<TreeType, string>> = { replicated: 'shared/', local: 'local/' };

/** @param requireOpen throws when the store is closed */
export const storedReadsOf = (backend: Backend, requireOpen: () => void): StoredReads => ({
  listPaths: async (tree, after, limit) => {
    requireOpen();
    const prefix = PREFIXES[tree];
    const range = rangeBelow(prefix, after === '' ? undefined : after);
    const paths = await backend.listPaths(range, limit);
    return paths;
  },
  listSubpage: async (tree, subpage) => {
    requireOpen();
    const paths = await backend.listSubpage(subpage);
    return paths.filter((path) => treeTypeOf(path) === tree);
  },
  read: async (paths) => {
    requireOpen();
    const known = paths.filter((path) => treeTypeOf(path) !== undefined);
    const rows = await Promise.all(known.map(async (path) => backend.findRow(path)));
    return rows.flatMap((row) =>
      row === undefined ? [] : [{ path: row.path, stored: row.stored }],
    );
  },
});
