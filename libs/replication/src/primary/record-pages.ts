/** What a primary tells of its records: Merkle digests, pages of leaves or records, records by path. */
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
} from '@keelson/proto/replication/v1/replication';
import { digestRecord, type Store, type TreeType } from '@keelson/storage';
import { crosses, type ReplicationKind, TREES_OF } from '../domain/crossing.ts';
import { membershipTest } from '../wire/subpage-set.ts';

/** Of one answer, below NATS's max_payload. */
const ANSWER_BYTES = 900 * 1024;
/** A record larger than this is asked for in parts. */
const MAX_WHOLE_RECORD_BYTES = 512 * 1024;
/** Paths looked at for one answer, wanted or not: bounds the time it takes. */
const MAX_PATHS_PER_PAGE = 100_000;
const PATHS_PER_READ = 1000;
const MAX_PATHS_ASKED = 10_000;
const PAGE_COUNT = 256;
/** Subpage digests of more would not fit one message. */
const MAX_PAGES_PER_QUESTION = 128;
const NONE = Buffer.alloc(0);

const requireTree = (kind: ReplicationKind, tree: string): TreeType => {
  const found = TREES_OF[kind].find((known) => known === tree);
  if (found === undefined)
    throw new KeelsonError('replication.malformed', { reason: 'a tree that does not cross' });
  return found;
};

export const answerDigests = async (
  store: Store,
  kind: ReplicationKind,
  { tree: name, pages }: DigestsQuestion,
): Promise<Buffer[]> => {
  const type = requireTree(kind, name);
  if (pages.length > MAX_PAGES_PER_QUESTION || pages.some((page) => page >= PAGE_COUNT))
    throw new KeelsonError('replication.malformed', { reason: 'no such Merkle page' });
  const { [type]: tree } = await store.merkle.current();
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
  store: Store,
  kind: ReplicationKind,
  { tree: name, after, wanted, withRecords }: PageQuestion,
): Promise<Page> => {
  const tree = requireTree(kind, name);
  const isWanted = membershipTest(wanted);
  const items: PageItem[] = [];
  let bytes = 0;
  let upto = after;
  for (let seen = 0; seen < MAX_PATHS_PER_PAGE; seen += PATHS_PER_READ) {
    const paths = await store.stored.listPaths(tree, upto, PATHS_PER_READ);
    for (const path of paths) {
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
    await setImmediate();
  }
  return { items, upto };
};

const requireCrossing = (kind: ReplicationKind, paths: readonly string[]): void => {
  if (paths.length > MAX_PATHS_ASKED || !paths.every((path) => crosses(kind, path)))
    throw new KeelsonError('replication.malformed', { reason: 'a path that does not cross' });
};

export const answerRecords = async (
  store: Store,
  kind: ReplicationKind,
  { paths }: RecordsQuestion,
): Promise<Records> => {
  requireCrossing(kind, paths);
  const items: PageItem[] = [];
  let bytes = 0;
  let answered = 0;
  for (const path of paths) {
    const [copy] = await store.stored.read([path]);
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

export const answerRecordPart = async (
  store: Store,
  kind: ReplicationKind,
  { path, offset }: RecordPartQuestion,
): Promise<RecordPart> => {
  requireCrossing(kind, [path]);
  const [copy] = await store.stored.read([path]);
  if (copy === undefined) return { leaf: NONE, part: NONE, totalBytes: 0n };
  const from = Number(offset);
  return {
    leaf: Buffer.from(digestRecord(path, copy.stored).leaf),
    part: Buffer.from(copy.stored.subarray(from, from + MAX_WHOLE_RECORD_BYTES)),
    totalBytes: BigInt(copy.stored.length),
  };
};
