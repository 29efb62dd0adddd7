/**
 * Makes the records of some subpages those of the primary. They are walked in path order, page by page,
 * so neither side holds more than one page of them: the primary tells its leaves, and only records that
 * differ are fetched. A store that has nothing yet is told the records at once.
 */
import type { Page, PageItem } from '@keelson/proto/replication/v1/replication';
import {
  comparePaths,
  digestRecord,
  type Store,
  type SubpageIndex,
  type TreeType,
  type WalOperation,
} from '@keelson/storage';
import { membershipTest, toSubpageSet } from '../wire/subpage-set.ts';
import type { PrimaryLink } from './primary-link.ts';

const PATHS_PER_READ = 1000;
const PATHS_PER_QUESTION = 2000;

export interface MerkleCopyOptions {
  readonly store: Store;
  readonly link: PrimaryLink;
  readonly tree: TreeType;
  readonly subpages: readonly SubpageIndex[];
  /** Commits a part of the copy. */
  readonly apply: (operations: readonly WalOperation[]) => Promise<void>;
  readonly signal: AbortSignal;
}

export const copySubpages = async (options: MerkleCopyOptions): Promise<void> => {
  const { store, link, tree, subpages, apply, signal } = options;
  const wanted = toSubpageSet(subpages);
  const isEmpty = (await store.stored.listPaths(tree, '', 1)).length === 0;
  const loadPage = (after: string): Promise<Page> =>
    link.loadPage({ tree, after, wanted, withRecords: isEmpty });
  let after = '';
  let next: Promise<Page> | undefined = loadPage(after);
  while (next !== undefined) {
    const page: Page = await next;
    signal.throwIfAborted();
    // The primary reads the next page while this one is written here.
    next = page.upto === '' ? undefined : loadPage(page.upto);
    next?.catch(() => undefined);
    await apply(
      await (isEmpty ? toWrites(link, page.items) : findChanges(options, wanted, after, page)),
    );
    after = page.upto;
  }
};

/** Items with their records; those too large for the page are fetched, those gone are left out. */
const toWrites = async (link: PrimaryLink, items: readonly PageItem[]): Promise<WalOperation[]> => {
  const operations: WalOperation[] = [];
  for (const { path, stored, leaf } of items) {
    const whole = leaf.length === 0 ? stored : await link.loadLargeRecord(path);
    if (whole !== undefined) operations.push({ path, stored: whole });
  }
  return operations;
};

const findChanges = async (
  { store, link, tree }: MerkleCopyOptions,
  wanted: Uint8Array,
  after: string,
  { items, upto }: Page,
): Promise<WalOperation[]> => {
  const theirs = new Map(items.map(({ path, leaf }) => [path, leaf]));
  const operations: WalOperation[] = [];
  const isWanted = membershipTest(wanted);
  for await (const paths of pathsBetween(store, tree, after, upto)) {
    for (const { path, stored } of await store.stored.read(paths.filter(isWanted))) {
      const leaf = theirs.get(path);
      if (leaf === undefined) operations.push({ path, stored: undefined });
      else if (leaf.equals(digestRecord(path, stored).leaf)) theirs.delete(path);
    }
  }
  let missing = [...theirs.keys()];
  while (missing.length > 0) {
    const asked = missing.slice(0, PATHS_PER_QUESTION);
    const { items: found, answered } = await link.loadRecords(asked);
    operations.push(...(await toWrites(link, found)));
    missing = missing.slice(Math.max(1, answered));
  }
  return operations;
};

/** Own paths after `after`, up to and with `upto`; to the end when that is empty. */
async function* pathsBetween(
  store: Store,
  tree: TreeType,
  after: string,
  upto: string,
): AsyncGenerator<readonly string[], void, void> {
  for (let last = after; ; ) {
    const paths = await store.stored.listPaths(tree, last, PATHS_PER_READ);
    const within = upto === '' ? paths : paths.filter((path) => comparePaths(path, upto) <= 0);
    yield within;
    const end = paths.at(-1);
    if (end === undefined || within.length < paths.length || paths.length < PATHS_PER_READ) return;
    last = end;
  }
}
