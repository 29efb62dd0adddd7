/** Applies a change of the paths filter to a secondary's records, before trees are compared. */
import type { Store, WalOperation } from '@keelson/storage';
import { comparePaths } from '@keelson/storage';
import type { RecordGroups } from '../domain/record-groups.ts';
import { copyBelow } from './merkle-copy.ts';
import type { PrimaryLink } from './primary-link.ts';

const PATHS_PER_COMMIT = 1000;

/** Removes the records of groups that no longer cross. */
export const removeWithheld = async (
  store: Store,
  groups: RecordGroups,
  withheldGroups: readonly string[],
  apply: (operations: readonly WalOperation[]) => Promise<void>,
): Promise<void> => {
  const withheld = new Set(withheldGroups);
  const isWithheld = (path: string): boolean => withheld.has(groups.groupOf(path) ?? '');
  for (const prefix of new Set(withheldGroups.flatMap((group) => groups.prefixesOf(group)))) {
    let after = prefix;
    for (;;) {
      const paths = await store.stored.listPaths('replicated', after, PATHS_PER_COMMIT);
      const below = paths.filter((path) => path.startsWith(prefix));
      await apply(below.filter(isWithheld).map((path) => ({ path, stored: undefined })));
      const last = below.at(-1);
      if (last === undefined || below.length < paths.length || comparePaths(last, after) <= 0)
        break;
      after = last;
    }
  }
};

export interface Readmission {
  readonly store: Store;
  readonly groups: RecordGroups;
  readonly link: PrimaryLink;
  /** The groups withheld before the change, and those withheld now. */
  readonly before: readonly string[];
  readonly now: readonly string[];
  readonly apply: (operations: readonly WalOperation[]) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Copies the records of groups that now cross, so that the trees count them before the comparison. */
export const copyReadmitted = async (given: Readmission): Promise<void> => {
  const { groups, before, now } = given;
  const stillWithheld = new Set(now);
  const readmitted = before.filter((group) => !stillWithheld.has(group));
  for (const prefix of new Set(readmitted.flatMap((group) => groups.prefixesOf(group))))
    await copyBelow({ ...given, tree: 'replicated' }, prefix);
};
