import type { Kysely } from 'kysely';
import type { MerkleCorruptionReport } from './merkle/merkle-check.ts';
import type { MerkleTree } from './merkle/merkle-tree.ts';
import type { SubpageIndex, TreeType } from './merkle/record-digest.ts';
import type { TableQuery } from './projections/table-queries.ts';
import type { PartQuery } from './projections/text-search.ts';
import type { StoredRecord } from './records/stored-record.ts';
import type { DamagedRecord } from './trees/row-repair.ts';
import type { MerkleRoots, MerkleTrees } from './trees/tree-keeper.ts';
import type { PruneLimits } from './wal/prune.ts';

/**
 * The port every service keeps its state behind: records, optimistic transactions, the write-ahead log
 * that all followers read, Merkle trees over the records, and projections for what a path lookup cannot
 * serve. Backends: SQLite (embedded), PostgreSQL wire.
 *
 * The first segment of a path is the record's scope:
 *   shared/…  encrypted; replicated to performance and DR secondaries
 *   local/…   encrypted; replicated to DR secondaries only
 *   node/…    as given, not encrypted, in no tree and no stream (seal configuration, wrapped keyring)
 */
export type RecordScope = 'shared' | 'local' | 'node';

export interface ListOptions {
  /**
   * Only what comes after this: a name for `list`, where "x/" stands for all below it; a path for
   * `scan`, where it is only a place in the order and need not exist.
   */
  readonly after?: string;
  readonly limit?: number;
}

export interface Reads {
  read(path: string): Promise<StoredRecord | undefined>;
  /**
   * Names directly below `prefix` (which ends with a slash), in byte order. A name with records below
   * it ends with a slash; a name that is both a record and a prefix is listed twice.
   */
  list(prefix: string, options?: ListOptions): Promise<readonly string[]>;
  /** Records below `prefix` in path order. `after` is a full path. */
  scan(prefix: string, options?: ListOptions): Promise<readonly StoredRecord[]>;
}

export interface Transaction extends Reads {
  /** Takes effect when the transaction commits; later reads of this transaction see it. */
  write(path: string, value: Uint8Array): void;
  delete(path: string): void;
}

/** Ties a commit to a lease: the store refuses it once another holder has called `takeFence`. */
export interface Fence {
  /** Name of the lease. */
  readonly lease: string;
  /** Names the holder: another one each time the lease is taken over. */
  readonly holder: string;
}

export interface TransactOptions {
  readonly fence?: Fence;
}

/** One record as a commit left it. */
export interface WalOperation {
  readonly path: string;
  /** As stored (encrypted for shared and local scope); undefined: deleted. */
  readonly stored: Uint8Array | undefined;
  /** Merkle leaf of what it replaced, for shared and local scope; undefined: there was nothing. */
  readonly replaced?: Uint8Array | undefined;
}

/** One commit. Sequences are gapless and start at 1. */
export interface WalEntry {
  readonly sequence: number;
  readonly committedAtMs: number;
  readonly operations: readonly WalOperation[];
}

export interface WalReader {
  /** Sequence of the newest commit, 0 when there is none. */
  headSequence(): Promise<number>;
  /** Oldest entry still kept; head + 1 when none is. */
  firstSequence(): Promise<number>;
  /**
   * Entries after `sequence`, then live ones as they commit, until `signal` aborts.
   * @throws KeelsonError `storage.wal_pruned` when the next entry is no longer kept
   */
  follow(sequence: number, signal: AbortSignal): AsyncIterable<WalEntry>;
  /** Removes the oldest entries, as far as `limits` say. */
  prune(limits: PruneLimits): Promise<void>;
}

/** A record of shared or local scope as it is stored: encrypted. */
export interface StoredCopy {
  readonly path: string;
  readonly stored: Uint8Array;
}

/** Records as they are stored, for a copy of this store elsewhere. Gives only what is on disk. */
export interface StoredReads {
  /** Paths of a tree that come after `after` ('' for the first), in byte order. */
  listPaths(tree: TreeType, after: string, limit: number): Promise<readonly string[]>;
  /** Paths of the records in a subpage of a tree, in byte order. */
  listSubpage(tree: TreeType, subpage: SubpageIndex): Promise<readonly string[]>;
  /** Those of `paths` that exist, in their order. */
  read(paths: readonly string[]): Promise<readonly StoredCopy[]>;
}

/** How far the log of another store was applied. */
export interface AppliedPosition {
  readonly sequence: number;
  /** What the follower gave with it: its place in the transport. */
  readonly cursor: number;
}

export interface ApplyOptions extends TransactOptions {
  /** Kept with the sequence, in the same commit. */
  readonly cursor?: number;
}

/** Some of the records of shared scope, by their paths. */
export interface RecordSelection {
  /** None below another. All selected records that exist at the first use are below one of them. */
  readonly prefixes: readonly string[];
  /** Called before `has` is asked about these paths. */
  prepare(paths: readonly string[]): Promise<void>;
  /** The same answer every time. */
  has(path: string): boolean;
}

export interface ReducedTree {
  /** At the head of this call or later. The first call reads the selected records. */
  current(): Promise<MerkleTree>;
  /** The selected records were read: `current` takes no longer than the log since then. */
  readonly isCounted: boolean;
}

/** Digests over all records of shared scope ("replicated") and of local scope. */
export interface Merkle {
  /** Both trees at the head of this call or later; only to be read, before the next call. */
  current(): Promise<MerkleTrees>;
  roots(): Promise<MerkleRoots>;
  /** The replicated tree without the selected records. */
  leavingOut(selection: RecordSelection): ReducedTree;
  /**
   * Counts both trees again from the records, after putting right what the rows beside them and the log
   * allow to. Commits wait meanwhile.
   * @returns records that are still damaged
   */
  rebuild(): Promise<readonly DamagedRecord[]>;
  /** Puts the trees on disk as they are now, which otherwise happens now and then. */
  save(): Promise<void>;
  /** Counts both trees from the records beside the kept ones, and compares. Commits wait meanwhile. */
  check(): Promise<MerkleCorruptionReport>;
}

export interface Store extends Reads {
  /**
   * Runs `body` and commits its writes together. When a record or listing it read has changed by then,
   * it runs again, so it must have no effect but through the transaction. Resolves after the commit is
   * on disk.
   * @throws KeelsonError `storage.conflict` after too many retries, `storage.fenced`, `storage.unavailable`
   */
  transact<T>(body: (tx: Transaction) => T | Promise<T>, options?: TransactOptions): Promise<T>;
  /**
   * Rows of the projections, as of this call or later. The query sees one moment, and is not watched
   * by transactions: what must hold at a commit is read there as records.
   */
  select<Tables, Row>(build: (tables: Kysely<Tables>) => TableQuery<Row>): Promise<readonly Row[]>;
  /**
   * Keys of the records whose searched text (`Projection.search`) contains `part`, by an index.
   * @returns undefined when there may be more than `limit`, or `part` has fewer than three characters
   */
  findByPart(table: string, query: PartQuery): Promise<readonly string[] | undefined>;
  /** How many rows of a projection are counted under each key, in the order of the keys. */
  tallies(table: string, keys: readonly string[]): Promise<readonly number[]>;
  /**
   * Compares the tables of the projections with what the records say. Commits wait meanwhile.
   * @returns names of the tables whose rows or tallies differ
   */
  findDamagedProjections(): Promise<readonly string[]>;
  /** Drops all projections and builds them again. */
  rebuildProjections(): Promise<void>;
  /**
   * Commits entries of another store's log as they are, and with them how far it was followed: entries
   * applied before are skipped. Entries may have lost operations on the way, none may be missing.
   * @throws KeelsonError `storage.wal_diverged` when entries between were skipped
   */
  applyEntries(source: string, entries: readonly WalEntry[], options?: ApplyOptions): Promise<void>;
  /**
   * Commits records as another store holds them. `sequence`: from which place of its log on entries are
   * to be applied next; absent while further records are to come.
   */
  applyRecords(
    source: string,
    operations: readonly WalOperation[],
    options?: ApplyOptions & { readonly sequence?: number },
  ): Promise<void>;
  /** Sequence of the newest entry applied from that log, 0 when none was. */
  appliedSequence(source: string): Promise<number>;
  /** undefined: nothing was applied from that log, or a copy of its records was not finished. */
  appliedPosition(source: string): Promise<AppliedPosition | undefined>;
  /** Newest commit as of this call; later reads see it. */
  position(): Promise<number>;
  /**
   * Whether a record at or below one of these paths or prefixes changed after `position`, as far as
   * the last `position()` or read knows; true also when that is too long ago to tell.
   */
  hasChangedSince(pathsOrPrefixes: readonly string[], position: number): boolean;
  readonly wal: WalReader;
  readonly merkle: Merkle;
  readonly stored: StoredReads;
  close(): Promise<void>;
}
