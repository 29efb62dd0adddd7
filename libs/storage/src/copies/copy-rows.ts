/** The part of a backend for copies of a whole store: reading one, and replacing all records by one. */
import type { RecordDigest } from '../records/record-digest.ts';
import type { Snapshot } from '../records/stored-rows.ts';

/** All records at one moment, read from a separate connection while the store continues to work. */
export interface OpenCopy extends Snapshot {
  close(): Promise<void>;
}

/** A staged record of a copy, which will replace the records of the store. */
export interface StagedRow {
  readonly path: string;
  readonly stored: Uint8Array;
  readonly digest: RecordDigest | undefined;
}

export interface Replacement {
  /** The rows staged under this name replace all records. */
  readonly restoration: string;
  /** An additional record that marks this restoration: it exists only if the records were replaced. */
  readonly mark: StagedRow;
  /** Head of the log after the replacement; the log then has no entries up to it. */
  readonly headSequence: number;
}

export interface CopyRows {
  /** Runs `work` while no replica can commit. The caller keeps this process from committing. */
  holdCommits(work: () => Promise<void>): Promise<void>;
  openCopy(): Promise<OpenCopy>;
  /** Removes rows that were staged for other restorations. Reads all staged rows. */
  discardStagedExcept(restoration: string): Promise<void>;
  /** Stores rows in the staging table, which nothing else reads. */
  stage(restoration: string, rows: readonly StagedRow[]): Promise<void>;
  countStaged(restoration: string): Promise<number>;
  /** In one database transaction, which also empties the log, the trees and the versions of projections. */
  replaceRecords(replacement: Replacement): Promise<void>;
}
