/** Removes what a secondary has of groups that do not cross to it any more: they need no comparison. */
import type { Store, WalOperation } from '@keelson/storage';
import { comparePaths } from '@keelson/storage';
import type { RecordGroups } from '../domain/record-groups.ts';

const PATHS_PER_COMMIT = 1000;

export const removeLeftOut = async (
  store: Store,
  groups: RecordGroups,
  leftOut: readonly string[],
  apply: (operations: readonly WalOperation[]) => Promise<void>,
): Promise<void> => {
  const gone = new Set(leftOut);
  const isGone = (path: string): boolean => gone.has(groups.groupOf(path) ?? '');
  for (const prefix of new Set(leftOut.flatMap((group) => groups.prefixesOf(group)))) {
    let after = prefix;
    for (;;) {
      const paths = await store.stored.listPaths('replicated', after, PATHS_PER_COMMIT);
      const below = paths.filter((path) => path.startsWith(prefix));
      await apply(below.filter(isGone).map((path) => ({ path, stored: undefined })));
      const last = below.at(-1);
      if (last === undefined || below.length < paths.length || comparePaths(last, after) <= 0)
        break;
      after = last;
    }
  }
};
