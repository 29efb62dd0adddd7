/**
 * Entries that a former primary had committed and its successor never received. Following the successor discards
 * them, so they are read before, from the log of this store.
 */
import { hasCode } from '@keelson/errors';
import type { Store } from '@keelson/storage';
import { crosses, type ReplicationKind } from '../domain/crossing.ts';
import { findOwnLog, type LogPosition } from '../primary/previous-logs.ts';

export interface UnreplicatedEntries {
  /** Commits. */
  readonly commits: number;
  /** Records that they wrote or deleted, by the first two segments of their paths. */
  readonly records: Readonly<Record<string, number>>;
  /** Paths of the first of these records. */
  readonly paths: readonly string[];
  /** Whether the log no longer reaches back to the first of them, so that more were lost. */
  readonly isCut: boolean;
}

const MAX_PATHS = 100;
/** Canaries and the end of the log. */
const UPKEEP = /^(?:shared|local)\/replication\//;
const NEVER = new AbortController().signal;

const areaOf = (path: string): string => path.split('/', 2).join('/');

/** undefined when this store did not publish the log that the primary followed, or nothing is missing there. */
export const findUnreplicated = async (
  store: Store,
  kind: ReplicationKind,
  former: LogPosition | undefined,
): Promise<UnreplicatedEntries | undefined> => {
  if (former === undefined || (await findOwnLog(store, kind)) !== former.logId) return undefined;
  const head = await store.wal.headSequence();
  const first = await store.wal.firstSequence();
  const from = Math.max(former.sequence, first - 1);
  const records: Record<string, number> = {};
  const paths = new Set<string>();
  let commits = 0;
  try {
    if (head > from)
      for await (const { sequence, operations } of store.wal.follow(from, NEVER)) {
        const own = operations.filter(({ path }) => crosses(kind, path) && !UPKEEP.test(path));
        if (own.length > 0) commits += 1;
        for (const { path } of own) {
          records[areaOf(path)] = (records[areaOf(path)] ?? 0) + 1;
          if (paths.size < MAX_PATHS) paths.add(path);
        }
        if (sequence >= head) break;
      }
  } catch (error) {
    // Pruned meanwhile; the report is only for the log.
    if (!hasCode(error, 'storage.wal_pruned')) throw error;
  }
  const isCut = from > former.sequence;
  return commits === 0 && !isCut ? undefined : { commits, records, paths: [...paths], isCut };
};
