/**
 * What a database must do for a RecordStore. It stores what it is given and decides nothing: conflicts,
 * encryption, sequences and caches are the store's.
 */
import { KeelsonError } from '@keelson/errors';
import type { CompiledQuery, Kysely } from 'kysely';
import type { RecordDigest, SubpageIndex, TreeType } from './merkle/record-digest.ts';
import type { ProjectedChange, Projection, TextSearch } from './projections/projection.ts';
import type { PartQuery } from './projections/text-search.ts';
import type { PathRange } from './record-path.ts';
import type { WalEntry } from './store.ts';
import type { WalMark } from './wal/prune.ts';

export interface StoredRow {
  readonly path: string;
  /** As on disk: encrypted for shared and local scope. */
  readonly stored: Uint8Array;
  readonly version: number;
}

/** Final state of a record after a group of commits. */
export type RowChange = DeletedRow | PutRow;

export interface DeletedRow {
  readonly path: string;
  readonly stored: undefined;
}

export interface PutRow extends StoredRow {
  /** Kept beside the record; undefined where it is in no Merkle tree. */
  readonly digest: RecordDigest | undefined;
}

/** With the leaf that was noted when it was committed. */
export interface CheckedRow extends StoredRow {
  readonly leaf: Uint8Array | undefined;
}

/** @throws KeelsonError `storage.unknown_format` */
export const requireFormat = (found: number, known: number): void => {
  if (found !== known) throw new KeelsonError('storage.unknown_format', { found, known });
};

/** What one database transaction writes: the WAL entries of all transactions grouped in it. */
export interface Batch {
  readonly entries: readonly WalEntry[];
  /** At most one per path. */
  readonly changes: readonly RowChange[];
  readonly projected: readonly ProjectedChange[];
}

export interface Snapshot {
  readonly headSequence: number;
  scanRows(range: PathRange, limit: number): Promise<readonly StoredRow[]>;
}

/** Position of trees that were never saved. */
export const TREE_START = 0;

export interface SavedPage {
  readonly tree: TreeType;
  readonly page: number;
  readonly subpageDigests: Uint8Array;
}

export interface SavedTrees {
  readonly position: number;
  readonly pages: readonly SavedPage[];
}

export interface GroupCommit {
  /**
   * Called with the right to append held, so that nobody else moves `headSequence` until the commit.
   * @returns undefined when there is nothing to write
   */
  readonly prepare: (headSequence: number) => Batch | undefined | Promise<Batch | undefined>;
  /** Called in the same turn of the event loop in which reads begin to see the batch, which is on disk. */
  readonly visible: () => void;
}

/** The table and the columns that a search is made in. */
export interface Searched {
  readonly table: string;
  readonly search: TextSearch;
}

export interface Backend {
  /** Newest commit of all replicas that was visible when this was called, or a later one. */
  headSequence(): number | Promise<number>;
  findRow(path: string): StoredRow | undefined | Promise<StoredRow | undefined>;
  /** Merkle leaf of a record; undefined when there is none, or it is in no tree. */
  findLeaf(path: string): Uint8Array | undefined | Promise<Uint8Array | undefined>;
  /** Paths of the records in a subpage of either tree, in byte order. */
  listSubpage(subpage: SubpageIndex): Promise<readonly string[]>;
  /** The first `limit` (possibly Infinity) paths of the range, in byte order. */
  listPaths(range: PathRange, limit: number): Promise<readonly string[]>;
  scanRows(range: PathRange, limit: number): Promise<readonly StoredRow[]>;
  scanChecked(range: PathRange, limit: number): Promise<readonly CheckedRow[]>;
  /** Puts a row right in place, without a commit, unless it has another version by now. */
  restoreRow(row: PutRow): Promise<void>;
  /** Sequence of the oldest entry kept, undefined when none is. */
  firstSequence(): Promise<number | undefined>;
  /** Kept entries after `sequence`, oldest first. */
  loadEntries(sequence: number, limit: number): Promise<readonly WalEntry[]>;
  /**
   * Resolves when the batch is on disk and visible. Never called while another call of it is running.
   * @throws KeelsonError `storage.conflict` when nothing was written and all may run again; after
   *   `storage.unavailable` the outcome is unknown
   */
  commit(group: GroupCommit): Promise<void>;
  /** Reads all rows of one moment. Called while this replica commits nothing. */
  readSnapshot(read: (snapshot: Snapshot) => Promise<void>): Promise<void>;
  /** undefined: not kept. */
  loadMark(sequence: number): Promise<WalMark | undefined>;
  deleteEntriesBefore(sequence: number): Promise<void>;
  loadTrees(): Promise<SavedTrees>;
  /** False, and nothing saved, when the saved position is not the expected one. */
  saveTrees(trees: SavedTrees & { readonly expectedPosition: number }): Promise<boolean>;
  /** A writer of queries over the projections, in the SQL of this database. */
  readonly tables: Kysely<unknown>;
  select<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]>;
  /** Paths of the records; undefined when there are more than `limit`, or none can be looked up. */
  findByPart(searched: Searched, query: PartQuery): Promise<readonly string[] | undefined>;
  /** Rows of a projection by what they are counted under. */
  loadTallies(table: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /**
   * Unless the table is of this version: drops it, makes it and fills it with `changes`. Readers see the
   * former table, or wait, until the new one is whole.
   */
  rebuildProjection(
    projection: Projection,
    changes: AsyncIterable<readonly ProjectedChange[]>,
  ): Promise<void>;
  /** Makes the next `rebuildProjection` build these whatever their version. */
  forgetProjections(projections: readonly Projection[]): Promise<void>;
  close(): Promise<void>;
}
