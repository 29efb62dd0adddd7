/** Answers about the primary's records: Merkle digests, pages of leaves or records, records by path. */
import { setImmediate } from 'node:timers/promises';
import { KeelsonError } from '@keelson/errors';
import type {
  DigestsQuestion,
  Page,
  PageItem,
  PageQuestion,
  RecordPart,
  RecordPartQuestion,
  Records,
  RecordsQuestion,
  Subpages,
  SubpagesQuestion,
} from '@keelson/proto/replication/v1/replication';
import { digestRecord, type Store, type TreeType } from '@keelson/storage';
import { crosses, type ReplicationKind, TREES_OF } from '../domain/crossing.ts';
import { membershipTest } from '../wire/subpage-set.ts';
import type { FilterViews } from './filter-views.ts';

/** Largest answer, below the max_payload of NATS. */
const ANSWER_BYTES = 900 * 1024;
/** Larger records are requested in parts. */
const MAX_WHOLE_RECORD_BYTES = 512 * 1024;
/** Maximum number of paths examined for one answer, to bound the time it takes. */
const MAX_PATHS_PER_PAGE = 100_000;
const PATHS_PER_READ = 1000;
const MAX_PATHS_ASKED = 10_000;
const PAGE_COUNT = 256;
const MAX_SUBPAGES_PER_QUESTION = 1024;
const SUBPAGES_PER_READ = 32;
/** Subpage digests of more would not fit one message. */
const MAX_PAGES_PER_QUESTION = 128;
const NONE = Buffer.alloc(0);

/** The records that answers to one secondary may contain. */
export interface AnsweredRecords {
  readonly store: Store;
  readonly kind: ReplicationKind;
  readonly views: FilterViews;
  readonly secondaryId: string;
}

/** Predicate for the paths that cross to the secondary. */
const passing = async (
  { views, secondaryId }: AnsweredRecords,
  paths: readonly string[],
): Promise<(path: string) => boolean> => {
  const view = await views.of(secondaryId, paths);
  return view === undefined ? () => true : (path) => view.passes(path);
};

const requireTree = (kind: ReplicationKind, tree: string): TreeType => {
  const found = TREES_OF[kind].find((known) => known === tree);
  if (found === undefined)
    throw new KeelsonError('replication.malformed', { reason: 'a tree that does not cross' });
  return found;
};

export const answerDigests = async (
  { store, kind, views, secondaryId }: AnsweredRecords,
  { tree: name, pages }: DigestsQuestion,
): Promise<Buffer[]> => {
  const type = requireTree(kind, name);
  if (pages.length > MAX_PAGES_PER_QUESTION || pages.some((page) => page >= PAGE_COUNT))
    throw new KeelsonError('replication.malformed', { reason: 'no such Merkle page' });
  const reduced = type === 'replicated' ? await views.reducedTree(secondaryId) : undefined;
  const tree = (await reduced?.current()) ?? (await store.merkle.current())[type];
  const digests =
    pages.length === 0 ? [tree.pageDigests()] : pages.map((page) => tree.subpageDigests(page));
  return digests.map((digest) => Buffer.from(digest));
};

const toItem = (path: string, stored: Uint8Array, withRecord: boolean): PageItem =>
  withRecord && stored.length <= MAX_WHOLE_RECORD_BYTES
    ? { path, leaf: NONE, stored: Buffer.from(stored) }
    : { path, leaf: Buffer.from(digestRecord(path, stored).leaf), stored: NONE };

const sizeOf = ({ path, leaf, stored }: PageItem): number =>
  path.length * 2 + leaf.length + stored.length + 16;

export const answerPage = async (
  answered: AnsweredRecords,
  { tree: name, after, wanted, withRecords, below = '' }: PageQuestion,
): Promise<Page> => {
  const { store, kind } = answered;
  const tree = requireTree(kind, name);
  const isWanted = membershipTest(wanted);
  const items: PageItem[] = [];
  let bytes = 0;
  // A page ends at a path that crosses, because no answer may reveal one that does not.
  let upto = after;
  let last = after;
  for (let seen = 0; seen < MAX_PATHS_PER_PAGE || upto === after; seen += PATHS_PER_READ) {
    const read = await store.stored.listPaths(tree, last, PATHS_PER_READ);
    const paths = read.filter((path) => path.startsWith(below));
    const passes = await passing(answered, paths);
    for (const path of paths.filter(passes)) {
      const [copy] = isWanted(path) ? await store.stored.read([path]) : [];
      if (copy !== undefined) {
        const item = toItem(path, copy.stored, withRecords);
        bytes += sizeOf(item);
        if (bytes > ANSWER_BYTES) return { items, upto };
        items.push(item);
      }
      upto = path;
    }
    if (paths.length < PATHS_PER_READ) return { items, upto: '' };
    last = paths.at(-1) ?? last;
    await setImmediate();
  }
  return { items, upto };
};

/** As many of the subpages as fit. */
export const answerSubpages = async (
  answered: AnsweredRecords,
  { tree: name, subpages }: SubpagesQuestion,
): Promise<Subpages> => {
  const { store, kind } = answered;
  const tree = requireTree(kind, name);
  if (subpages.length > MAX_SUBPAGES_PER_QUESTION)
    throw new KeelsonError('replication.malformed', { reason: 'too many subpages' });
  const items: PageItem[] = [];
  let bytes = 0;
  for (let from = 0; from < subpages.length; from += SUBPAGES_PER_READ) {
    const read = subpages.slice(from, from + SUBPAGES_PER_READ);
    const rows = await Promise.all(read.map((one) => store.stored.listSubpage(tree, one)));
    const passes = await passing(answered, rows.flat());
    for (const [index, paths] of rows.entries()) {
      const copies = await store.stored.read(paths.filter(passes));
      const found = copies.map(({ path, stored }) => toItem(path, stored, false));
      bytes += found.reduce((sum, item) => sum + sizeOf(item), 0);
      if (bytes > ANSWER_BYTES) return { items, answered: from + index };
      items.push(...found);
    }
    await setImmediate();
  }
  return { items, answered: subpages.length };
};

const requireCrossing = (kind: ReplicationKind, paths: readonly string[]): void => {
  if (paths.length > MAX_PATHS_ASKED || !paths.every((path) => crosses(kind, path)))
    throw new KeelsonError('replication.malformed', { reason: 'a path that does not cross' });
};

export const answerRecords = async (
  answeredTo: AnsweredRecords,
  { paths }: RecordsQuestion,
): Promise<Records> => {
  const { store, kind } = answeredTo;
  requireCrossing(kind, paths);
  const passes = await passing(answeredTo, paths);
  const items: PageItem[] = [];
  let bytes = 0;
  let answered = 0;
  for (const path of paths) {
    const [copy] = passes(path) ? await store.stored.read([path]) : [];
    if (copy !== undefined) {
      const item = toItem(path, copy.stored, true);
      bytes += sizeOf(item);
      if (bytes > ANSWER_BYTES) break;
      items.push(item);
    }
    answered += 1;
  }
  return { items, answered };
};

/**
 * An object that belongs to records of shared scope, if those cross to the secondary.
 * @param find looks an object up by its key, which is its path without the scope
 */
export const answerObject = async (
  answered: AnsweredRecords,
  key: string,
  find: (key: string) => Promise<Uint8Array | undefined>,
): Promise<Buffer> => {
  const path = `shared/${key}`;
  requireCrossing(answered.kind, [path]);
  const passes = await passing(answered, [path]);
  return Buffer.from((passes(path) ? await find(key) : undefined) ?? NONE);
};

export const answerRecordPart = async (
  answered: AnsweredRecords,
  { path, offset }: RecordPartQuestion,
): Promise<RecordPart> => {
  const { store, kind } = answered;
  requireCrossing(kind, [path]);
  const passes = await passing(answered, [path]);
  const [copy] = passes(path) ? await store.stored.read([path]) : [];
  if (copy === undefined) return { leaf: NONE, part: NONE, totalBytes: 0n };
  const from = Number(offset);
  return {
    leaf: Buffer.from(digestRecord(path, copy.stored).leaf),
    part: Buffer.from(copy.stored.subarray(from, from + MAX_WHOLE_RECORD_BYTES)),
    totalBytes: BigInt(copy.stored.length),
  };
};
