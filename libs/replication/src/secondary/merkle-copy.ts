/**
 * Makes the records of some subpages those of the primary: the primary tells its leaves, and only records
 * that differ are fetched. Few subpages are asked for by their numbers; for many all paths are walked in
 * order, page by page, so neither side holds more than one page of them. A store that has nothing yet is
 * told the records at once.
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
/** Beyond, looking at every path costs less than looking subpages up. */
const MAX_LISTED_SUBPAGES = 8192;
const SUBPAGES_PER_QUESTION = 256;

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
  const { store, tree, subpages } = options;
  const isEmpty = (await store.stored.listPaths(tree, '', 1)).length === 0;
  if (isEmpty || subpages.length > MAX_LISTED_SUBPAGES) await copyByPath(options, isEmpty);
  else await copyListed(options);
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
  const { store, link, tree, subpages, apply, signal } = options;
  const wanted = toSubpageSet(subpages);
  const isWanted = membershipTest(wanted);
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
    const own = pathsBetween(store, tree, after, page.upto, isWanted);
    await apply(
      await (isEmpty ? toWrites(link, page.items) : findChanges(options, page.items, own)),
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

/** Own wanted paths after `after`, up to and with `upto`; to the end when that is empty. */
async function* pathsBetween(
  store: Store,
  tree: TreeType,
  after: string,
  upto: string,
  isWanted: (path: string) => boolean,
): AsyncGenerator<readonly string[], void, void> {
  for (let last = after; ; ) {
    const paths = await store.stored.listPaths(tree, last, PATHS_PER_READ);
    const within = upto === '' ? paths : paths.filter((path) => comparePaths(path, upto) <= 0);
    yield within.filter(isWanted);
    const end = paths.at(-1);
    if (end === undefined || within.length < paths.length || paths.length < PATHS_PER_READ) return;
    last = end;
  }
}
