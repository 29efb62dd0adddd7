/** What a change of its filter means for a secondary, done before anything is compared. */
import type { Store, WalOperation } from '@keelson/storage';
import { comparePaths } from '@keelson/storage';
import type { RecordGroups } from '../domain/record-groups.ts';
import { copyBelow } from './merkle-copy.ts';
import type { PrimaryLink } from './primary-link.ts';

const PATHS_PER_COMMIT = 1000;

/** Removes what is here of groups that do not cross any more. */
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

export interface LetThrough {
  readonly store: Store;
  readonly groups: RecordGroups;
  readonly link: PrimaryLink;
  /** Groups that were kept back from what is here, and those that are now. */
  readonly before: readonly string[];
  readonly now: readonly string[];
  readonly apply: (operations: readonly WalOperation[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Fetches what was kept back until now: it is here before the trees are counted and compared. */
export const copyLetThrough = async (given: LetThrough): Promise<void> => {
  const { groups, before, now } = given;
  const keptBack = new Set(now);
  const letThrough = before.filter((group) => !keptBack.has(group));
  for (const prefix of new Set(letThrough.flatMap((group) => groups.prefixesOf(group))))
    await copyBelow({ ...given, tree: 'replicated' }, prefix);
};
