/**
 * Interface of a database to a RecordStore. It only stores data: conflicts, encryption, sequences and
 * caches are the responsibility of the store.
 */
import { KeelsonError } from '@keelson/errors';
import type { RecordVersions } from './collections/record-versions.ts';
import type { CopyRows } from './copies/copy-rows.ts';
import type { TreeRows } from './merkle/tree-rows.ts';
import type { ProjectedChange } from './projections/projection.ts';
import type { ProjectionTables } from './projections/projection-tables.ts';
import type { Searched } from './projections/text-search.ts';
import type { PathRange } from './records/record-path.ts';
import type { CommittedEntry, RowChange, StoredRow } from './records/stored-rows.ts';
import type { PartCount, PartQuery, SubpageIndex } from './store.ts';
import type { StoreFaults } from './store-faults.ts';
import type { LogRows } from './wal/log-rows.ts';

/** @throws KeelsonError `storage.unknown_format` */
export const requireFormat = (found: number, known: number): void => {
  if (found !== known) throw new KeelsonError('storage.unknown_format', { found, known });
};

/** Writes of one database transaction: the WAL entries of all transactions grouped in it. */
export interface Batch {
  readonly entries: readonly CommittedEntry[];
  /** At most one per path. */
  readonly changes: readonly RowChange[];
  readonly projected: readonly ProjectedChange[];
}

export interface GroupCommit {
  /**
   * Called while the right to append is held, so that `headSequence` cannot change before the commit.
   * @returns undefined when there is nothing to write
   */
  readonly prepare: (headSequence: number) => Batch | undefined | Promise<Batch | undefined>;
  /** Called in the same turn of the event loop in which reads begin to see the batch, which is on disk. */
  readonly visible: () => void;
}

export interface Backend extends TreeRows, LogRows, ProjectionTables, CopyRows {
  readonly faults: StoreFaults;
  /** As the head was last read. */
  readonly versions: RecordVersions;
  /** Raises the versions of records that may be written to those of this process. */
  raiseVersions(): Promise<void>;
  /** Newest commit of all replicas that was visible when this was called, or a later one. */
  headSequence(): number | Promise<number>;
  /** Paths of the records in a subpage of either tree, in byte order. */
  listSubpage(subpage: SubpageIndex): Promise<readonly string[]>;
  /** The first `limit` (possibly Infinity) paths of the range, in byte order. */
  listPaths(range: PathRange, limit: number): Promise<readonly string[]>;
  scanRows(range: PathRange, limit: number): Promise<readonly StoredRow[]>;
  /**
   * Resolves when the batch is on disk and visible. Never called while another call of it is running.
   * @throws KeelsonError `storage.conflict` when nothing was written and all may run again; after
   *   `storage.outcome_unknown` (PostgreSQL) and `storage.lost` (SQLite) the outcome is unknown
   */
  commit(group: GroupCommit): Promise<void>;
  /** Paths of the records; undefined when there are more than `limit`, or none can be looked up. */
  findByPart(searched: Searched, query: PartQuery): Promise<readonly string[] | undefined>;
  /** Number of rows; undefined when the part cannot be looked up. */
  countByPart(searched: Searched, query: PartCount): Promise<number | undefined>;
  /** Numbers of rows of a projection by tally key. */
  loadTallies(table: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>>;
  /** Space that the database takes, with SQLite's write-ahead log. */
  sizeBytes(): Promise<number>;
  /** Size of SQLite's write-ahead log; undefined for PostgreSQL, whose log belongs to all databases of the server. */
  logBytes(): Promise<number | undefined>;
  close(): Promise<void>;
}
