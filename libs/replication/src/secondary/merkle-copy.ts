/**
 * Makes the records of some subpages equal to the primary's: the primary sends its leaves, and only
 * records that differ are fetched. Few subpages are requested by number. For many, and below a prefix, all
 * paths are read in order, page by page, so neither side holds more than one page. An empty store is sent
 * the records directly.
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
/** Above this number, scanning all paths costs less than looking up subpages. */
const MAX_LISTED_SUBPAGES = 8192;
const SUBPAGES_PER_QUESTION = 256;
const ALL_SUBPAGES: readonly SubpageIndex[] = [];

export interface MerkleCopyOptions {
  readonly store: Store;
  readonly link: PrimaryLink;
  readonly tree: TreeType;
  readonly subpages: readonly SubpageIndex[];
  /** Rows are damaged, so their subpages are computed from the paths instead of the stored digests. */
  readonly byPath?: boolean;
  /** Restricts the copy to records below this prefix; absent copies all. */
  readonly below?: string;
  /** Commits a part of the copy. */
  readonly apply: (operations: readonly WalOperation[]) => Promise<void>;
  readonly signal: AbortSignal;
}

export const copySubpages = async (options: MerkleCopyOptions): Promise<void> => {
  const { store, tree, subpages, byPath = false } = options;
  const isEmpty = (await store.stored.listPaths(tree, '', 1)).length === 0;
  if (isEmpty || byPath || subpages.length > MAX_LISTED_SUBPAGES)
    await copyByPath(options, isEmpty);
  else await copyListed(options);
};

/** Makes all records below a prefix equal to the primary's, without comparing trees. */
export const copyBelow = async (
  options: Omit<MerkleCopyOptions, 'subpages' | 'below'>,
  below: string,
): Promise<void> => {
  const [first] = await options.store.stored.listPaths(options.tree, below, 1);
  await copyByPath(
    { ...options, subpages: ALL_SUBPAGES, below },
    first?.startsWith(below) !== true,
  );
};

const copyListed = async (options: MerkleCopyOptions): Promise<void> => {
  const { store, link, tree, subpages, apply, signal } = options;
  for (let at = 0; at < subpages.length; ) {
    const asked = subpages.slice(at, at + SUBPAGES_PER_QUESTION);
    const { items, answered } = await link.loadSubpages(tree, asked);
    signal.throwIfAborted();
    // A subpage that does not fit one message.
    if (answered === 0) return copyByPath({ ...options, subpages: subpages.slice(at) }, false);
    const own: string[] = [];
    for (const subpage of asked.slice(0, answered))
      own.push(...(await store.stored.listSubpage(tree, subpage)));
    await apply(await findChanges(options, items, [own]));
    at += answered;
  }
};

const copyByPath = async (options: MerkleCopyOptions, isEmpty: boolean): Promise<void> => {
  const { store, link, tree, subpages, below = '', apply, signal } = options;
  const wanted = subpages === ALL_SUBPAGES ? Buffer.alloc(0) : toSubpageSet(subpages);
  const isInSubpage = membershipTest(wanted);
  const isBelow = (path: string): boolean => path.startsWith(below);
  const isWanted = (path: string): boolean => isBelow(path) && isInSubpage(path);
  const loadPage = (after: string): Promise<Page> =>
    link.loadPage({ tree, after, wanted, withRecords: isEmpty, below });
  let after = below;
  let next: Promise<Page> | undefined = loadPage(after);
  while (next !== undefined) {
    const page: Page = await next;
    signal.throwIfAborted();
    // The primary reads the next page while this one is written here.
    next = page.upto === '' || !isBelow(page.upto) ? undefined : loadPage(page.upto);
    next?.catch(() => undefined);
    // A primary that does not support `below` sends more.
    const items = page.items.filter(({ path }) => isBelow(path));
    const own = pathsBetween(store, tree, after, { upto: page.upto, below, isWanted });
    await apply(await (isEmpty ? toWrites(link, items) : findChanges(options, items, own)));
    after = page.upto;
  }
};

/**
 * Items with their records; records too large for the page are fetched, and deleted ones are
 * omitted.
 */
const toWrites = async (link: PrimaryLink, items: readonly PageItem[]): Promise<WalOperation[]> => {
  const operations: WalOperation[] = [];
  for (const { path, stored, leaf } of items) {
    const whole = leaf.length === 0 ? stored : await link.loadLargeRecord(path);
    if (whole !== undefined) operations.push({ path, stored: whole });
  }
  return operations;
};

/** @param own paths here of which the items are those of the primary */
const findChanges = async (
  { store, link }: MerkleCopyOptions,
  items: readonly PageItem[],
  own: AsyncIterable<readonly string[]> | Iterable<readonly string[]>,
): Promise<WalOperation[]> => {
  const theirs = new Map(items.map(({ path, leaf }) => [path, leaf]));
  const operations: WalOperation[] = [];
  for await (const paths of own) {
    for (const { path, stored } of await store.stored.read(paths)) {
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

interface Section {
  /** The last path, if it exists; empty means the end. */
  readonly upto: string;
  /** All are below it. */
  readonly below: string;
  readonly isWanted: (path: string) => boolean;
}

/** Own wanted paths after `after`. */
async function* pathsBetween(
  store: Store,
  tree: TreeType,
  after: string,
  { upto, below, isWanted }: Section,
): AsyncGenerator<readonly string[], void, void> {
  for (let last = after; ; ) {
    const paths = await store.stored.listPaths(tree, last, PATHS_PER_READ);
    const within = paths.filter(
      (path) => path.startsWith(below) && (upto === '' || comparePaths(path, upto) <= 0),
    );
    yield within.filter(isWanted);
    const end = paths.at(-1);
    if (end === undefined || within.length < paths.length || paths.length < PATHS_PER_READ) return;
    last = end;
  }
}
