import type { CompiledQuery, Kysely } from 'kysely';
import type { FaultListener, StoreFault } from './store-faults.ts';

/**
 * The port through which every service stores its state: records, optimistic transactions, the write-ahead log
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
   * Returns only what comes after this: a name for `list`, where "x/" covers all paths below it; a path
   * for `scan`, which is only a position in the order and need not exist.
   */
  readonly after?: string;
  readonly limit?: number;
}

export interface ScanOptions extends ListOptions {
  /** Called with the path of each record that cannot be read; without it, such a record is an error. */
  readonly onDamaged?: (path: string) => void;
}

/** A record as it is read. */
export interface StoredRecord {
  readonly path: string;
  /** Decrypted. */
  readonly value: Uint8Array;
  /** WAL sequence of the commit that last wrote the record; 0 while its transaction is open. */
  readonly version: number;
}

/**
 * Gives the values of one kind of records their meaning. There is one object for each kind, because a decoded
 * value is kept for all readers of the same version under the decoder that made it.
 */
export interface RecordDecoder<T> {
  /** @throws KeelsonError `storage.damaged_record`, `storage.newer_record` */
  decode(path: string, value: Uint8Array): T;
}

/** How a value is stored. */
export interface StoredForm {
  /** Newest version of the kind that every process which uses the store can read. */
  readonly writable: number;
  /** The record that is overwritten, as far as the transaction knows it. */
  readonly replaced: StoredRecord | undefined;
}

/** Gives the values of one kind of records the form in which they are stored. */
export interface RecordEncoder<T> {
  /** Name of the kind. */
  readonly kind: string;
  /**
   * @throws Error when the value does not have the shape, which is a mistake of the caller
   * @throws KeelsonError `storage.upgrade_unfinished` when an older version cannot hold the value
   */
  encode(path: string, value: T, form: StoredForm): Uint8Array;
}

export interface Reads {
  read(path: string): Promise<StoredRecord | undefined>;
  /**
   * The decoded value of a record, which all readers share and none may change.
   * @throws KeelsonError `barrier.damaged_value`, `storage.damaged_record`, `storage.newer_record`
   */
  readAs<T>(path: string, decoder: RecordDecoder<T>): Promise<T | undefined>;
  /**
   * Names directly below `prefix` (which ends with a slash), in byte order. A name with records below
   * it ends with a slash; a name that is both a record and a prefix is listed twice.
   */
  list(prefix: string, options?: ListOptions): Promise<readonly string[]>;
  /**
   * Records below `prefix` in path order. `after` is a full path.
   * @throws KeelsonError `barrier.damaged_value` unless `onDamaged` is given
   */
  scan(prefix: string, options?: ScanOptions): Promise<readonly StoredRecord[]>;
  /**
   * Paths and decoded values of the records below `prefix`, in the same order.
   * @throws KeelsonError the same as `readAs` unless `onDamaged` is given
   */
  scanAs<T>(
    prefix: string,
    decoder: RecordDecoder<T>,
    options?: ScanOptions,
  ): Promise<readonly (readonly [string, T])[]>;
}

export interface Transaction extends Reads {
  /** Takes effect when the transaction commits; later reads of this transaction see it. */
  write(path: string, value: Uint8Array): void;
  /** Like `write`, in the form that the encoder gives the value. */
  writeAs<T>(path: string, encoder: RecordEncoder<T>, value: T): void;
  /** The version of a kind that `writeAs` writes at most; the transaction runs again if it is raised meanwhile. */
  writableVersion(kind: string): number;
  delete(path: string): void;
  /**
   * Whether records of a kind are written in this version or a newer one. False while processes that know only an
   * older one may read them: what has left the kind for another one is then still stored in it.
   */
  writesVersion(kind: string, version: number): boolean;
}

/** Ties a commit to a lease: the store refuses it once another holder has called `takeFence`. */
export interface Fence {
  /** Name of the lease. */
  readonly lease: string;
  /** Name of the holder, which changes each time the lease is taken over. */
  readonly holder: string;
}

export interface TransactOptions {
  readonly fence?: Fence;
}

/** One record as a commit left it. */
export interface WalOperation {
  readonly path: string;
  /** Bytes as stored (encrypted for shared and local scope); undefined if deleted. */
  readonly stored: Uint8Array | undefined;
  /** Merkle leaf of the replaced value, for shared and local scope; undefined if there was none. */
  readonly replaced?: Uint8Array | undefined;
}

/** One commit. Sequences are gapless and start at 1. */
export interface WalEntry {
  readonly sequence: number;
  readonly committedAtMs: number;
  readonly operations: readonly WalOperation[];
}

/**
 * Retention of the log. The age limit spares entries that a follower has not read. The size limit does
 * not: a follower that is gone for good must not fill the disk, and one that returns too late is refused
 * with `storage.wal_pruned` and compares Merkle trees instead. The newest entry is always kept.
 */
export interface PruneLimits {
  readonly maxAgeMs: number;
  readonly maxBytes: number;
  /** Position of the follower furthest behind; absent without followers. */
  readonly followedTo?: number;
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
  /**
   * Follows some records without reading each entry. Yields when a record at or below one of these paths or prefixes
   * may have changed since the position that it yields, at first `sequence`; several changes may be one. It ends when
   * `signal` aborts.
   * @throws KeelsonError `storage.wal_pruned` when the entries since are no longer kept
   */
  changes(
    pathsOrPrefixes: readonly string[],
    sequence: number,
    signal: AbortSignal,
  ): AsyncIterable<number>;
  /** Removes the oldest entries, as far as `limits` say. */
  prune(limits: PruneLimits): Promise<void>;
}

/** Trees of a store, by the scope of their records: shared and local; `node/` is in none. */
export type TreeType = 'replicated' | 'local';

/** Place of records in a tree: page × 256 + subpage. */
export type SubpageIndex = number;

/** A stored, encrypted record of shared or local scope. */
export interface StoredCopy {
  readonly path: string;
  readonly stored: Uint8Array;
}

/** Stored records, for copying this store elsewhere. Returns only what is on disk. */
export interface StoredReads {
  /** Paths of a tree that come after `after` ('' for the first), in byte order. */
  listPaths(tree: TreeType, after: string, limit: number): Promise<readonly string[]>;
  /** Paths of the records in a subpage of a tree, in byte order. */
  listSubpage(tree: TreeType, subpage: SubpageIndex): Promise<readonly string[]>;
  /** The records among `paths` that exist, in the order of `paths`. */
  read(paths: readonly string[]): Promise<readonly StoredCopy[]>;
}

/** Position up to which the log of another store was applied. */
export interface AppliedPosition {
  readonly sequence: number;
  /** The follower's position in the transport, stored with the sequence. */
  readonly cursor: number;
}

export interface ApplyOptions extends TransactOptions {
  /** Kept with the sequence, in the same commit. */
  readonly cursor?: number;
}

/** Some of the records of shared scope, by their paths. */
export interface RecordSelection {
  /** None below another. All selected records that exist when they are asked for are below one of them. */
  prefixes(): Promise<readonly string[]>;
  /** Called before `has` is asked about these paths. */
  prepare(paths: readonly string[]): Promise<void>;
  /** The same answer every time. */
  has(path: string): boolean;
}

/** A Merkle tree to be compared with another; digests have 20 bytes each. */
export interface TreeDigests {
  rootDigest(): Uint8Array;
  /** Digests of the 256 pages, one after another. */
  pageDigests(): Uint8Array;
  /** Digests of the 256 subpages of a page, one after another. */
  subpageDigests(page: number): Uint8Array;
}

export interface MerkleTrees {
  readonly replicated: TreeDigests;
  readonly local: TreeDigests;
  /** Newest commit counted. */
  readonly position: number;
}

export interface MerkleRoots {
  /** 40 hexadecimal characters each. */
  readonly replicated: string;
  readonly local: string;
  readonly composite: string;
}

/** Comparison of both trees with the records, in the shape of the administration document. */
export interface MerkleCorruptionReport {
  readonly corrupted_root: boolean;
  /** By subtree index: 1 replicated, 2 local. */
  readonly corrupted_tree_map: Readonly<Record<string, SubtreeReport>>;
}

export interface SubtreeReport {
  /** By page number; null when nothing is wrong. */
  readonly corrupted_index_tuples_map: Readonly<
    Record<string, { readonly corrupted: boolean; readonly subpages: readonly number[] }>
  > | null;
  readonly corrupted_subtree_root: boolean;
  /** Root of the maintained tree, base64. */
  readonly root_hash: string;
  readonly tree_type: TreeType;
}

/** A record that cannot be read, and is no longer in the log. */
export interface DamagedRecord {
  readonly path: string;
  readonly tree: TreeType;
  readonly subpage: SubpageIndex;
}

export interface ReducedTree {
  /** As of the head of the log at the call, or a later one. The first call reads the selected records. */
  current(): Promise<TreeDigests>;
  /** Whether the selected records have been read, so that `current` only has to read the log since then. */
  readonly isCounted: boolean;
}

/** Digests over all records of shared scope ("replicated") and of local scope. */
export interface Merkle {
  /** Both trees as of the head of the log at the call, or a later one; read-only, valid until the next call. */
  current(): Promise<MerkleTrees>;
  roots(): Promise<MerkleRoots>;
  /** The replicated tree without the selected records. */
  leavingOut(selection: RecordSelection): ReducedTree;
  /**
   * Rebuilds both trees from the records, after repairing damaged rows as far as the log allows. Commits
   * wait meanwhile.
   * @returns records that are still damaged
   */
  rebuild(): Promise<readonly DamagedRecord[]>;
  /** Writes the trees to disk now, which otherwise happens periodically. */
  save(): Promise<void>;
  /** Recomputes both trees from the records and compares them with the maintained ones, while others commit. */
  check(): Promise<MerkleCorruptionReport>;
}

/** All records of a store at one moment. */
export interface StoreCopy {
  /** Newest commit in the copy. */
  readonly sequence: number;
  /** The records as stored, encrypted; may be read once. */
  readonly pages: AsyncIterable<Uint8Array>;
  /** Ends the copy. Must be called even if not all pages were read. */
  close(): Promise<void>;
}

export interface StoreCopies {
  /**
   * Begins a copy of everything committed at this moment. The store continues to work while it is read.
   * @param whileHeld called while nothing can be committed, on no replica
   */
  take(whileHeld?: () => Promise<void>): Promise<StoreCopy>;
  /**
   * Stages a page in a table that nothing else reads.
   * @param restoration id of the restoration; staged pages of other restorations are removed
   * @throws KeelsonError `storage.damaged_copy`
   */
  stage(restoration: string, page: Uint8Array): Promise<void>;
  /**
   * Replaces all records by those of the staged pages, in one database transaction. The log becomes empty and
   * continues after both its head and that of the copy; every follower starts again.
   * @throws KeelsonError `storage.damaged_copy` when the number of staged records is another
   */
  replace(
    restoration: string,
    expected: { readonly records: number; readonly sequence: number },
  ): Promise<void>;
}

/** A query of Kysely that has not been run. */
export interface TableQuery<Row> {
  compile(): CompiledQuery<Row>;
}

export interface PartCount {
  /** Only rows with this value in the scope column are searched. */
  readonly scope: string;
  readonly part: string;
}

export interface PartQuery extends PartCount {
  readonly limit: number;
}

/** @param cause why the record cannot be decoded, or no rows be computed from it; absent if it cannot be decrypted */
export type DamageListener = (path: string, cause?: unknown) => void;

/** How often transactions of this process have met changes of others since the store was opened. */
export interface Contention {
  /** Runs that were repeated, because something that they had read was changed before their commit. */
  readonly repeats: number;
  /** Transactions that were given up after too many runs, with `storage.conflict`. */
  readonly conflicts: number;
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
  /**
   * Number of rows whose searched text contains `part`, by the same index.
   * @returns undefined when `part` has fewer than three characters
   */
  countByPart(table: string, query: PartCount): Promise<number | undefined>;
  /** Number of rows of a projection under each key, in the order of the keys. */
  tallies(table: string, keys: readonly string[]): Promise<readonly number[]>;
  /**
   * Compares the tables of the projections with the records. Commits wait meanwhile.
   * @returns names of the tables whose rows or tallies differ
   */
  findDamagedProjections(): Promise<readonly string[]>;
  /** Drops and rebuilds all projections. */
  rebuildProjections(): Promise<void>;
  /**
   * Commits entries of another store's log unchanged, together with the position in that log; entries
   * applied before are skipped. Entries may lack filtered operations, but no entry may be missing.
   * @throws KeelsonError `storage.wal_diverged` when entries between were skipped
   */
  applyEntries(source: string, entries: readonly WalEntry[], options?: ApplyOptions): Promise<void>;
  /**
   * Commits records as another store holds them. `sequence` is the position of its log after which
   * entries are applied next; absent while further records follow.
   */
  applyRecords(
    source: string,
    operations: readonly WalOperation[],
    options?: ApplyOptions & { readonly sequence?: number },
  ): Promise<void>;
  /** Sequence of the newest entry applied from that log, 0 when none was. */
  appliedSequence(source: string): Promise<number>;
  /** undefined if nothing was applied from that log, or if a copy of its records is incomplete. */
  appliedPosition(source: string): Promise<AppliedPosition | undefined>;
  /** Newest commit as of this call; later reads see it. */
  position(): Promise<number>;
  /**
   * Kinds of records of which this process knows a version that is not written yet, because a process that does
   * not know it may still run.
   */
  pendingUpgrades(): readonly string[];
  /** From now on the newest versions are written, and processes that do not know them are refused. */
  raiseVersions(): Promise<void>;
  contention(): Contention;
  /**
   * Whether this process can serve: for readiness.
   * @throws KeelsonError such as `storage.unavailable`, `storage.lost`, `storage.superseded`
   */
  requireUsable(): Promise<void>;
  /**
   * Whether a record at or below one of these paths or prefixes changed after `position`, as far as
   * the last `position()` or read knows; also true when `position` is too old to know.
   */
  hasChangedSince(pathsOrPrefixes: readonly string[], position: number): boolean;
  /**
   * Paths of records that could not be decrypted or decoded when they were last read, or from which a
   * projection could compute no rows; at most 100. A record leaves them when it is written, deleted or repaired.
   */
  damagedPaths(): readonly string[];
  /** Faults of the store or its disk; the store still answers. */
  faults(): readonly StoreFault[];
  /** Called for each present fault, and for each that begins or ends later; one listener. */
  onFault(listener: FaultListener): void;
  /** Replaces the listener that is called once for each of them. */
  onDamaged(listener: DamageListener): void;
  /**
   * Encrypts bytes for storage elsewhere, as if they were the value of a record at `path`.
   * @throws KeelsonError `storage.sealed`
   */
  encrypt(path: string, value: Uint8Array): Uint8Array;
  /**
   * Decrypts the result of `encrypt` for the same path, by this replica or another.
   * @throws KeelsonError `storage.sealed`, `barrier.damaged_value`
   */
  decrypt(path: string, stored: Uint8Array): Promise<Uint8Array>;
  /** Space that the store takes on disk: its SQLite file, or its PostgreSQL database. */
  sizeBytes(): Promise<number>;
  /** Size of SQLite's write-ahead log in bytes; undefined for PostgreSQL. */
  logBytes(): Promise<number | undefined>;
  readonly wal: WalReader;
  readonly merkle: Merkle;
  readonly stored: StoredReads;
  readonly copies: StoreCopies;
  close(): Promise<void>;
}
