/** Database access of projections: their tables, and statements in the SQL of the database. */
import type { CompiledQuery, Kysely } from 'kysely';
import type { PathRange } from '../records/record-path.ts';
import type { ScanOptions, StoredRecord } from '../store.ts';
import type { ProjectedChange, Projection } from './projection.ts';

export interface ProjectionTables {
  /** A writer of queries over the projections, in the SQL of this database. */
  readonly tables: Kysely<unknown>;
  select<Row>(query: CompiledQuery<Row>): Promise<readonly Row[]>;
  /**
   * Makes the layout of this process that of the store. From then on, commits and rebuilds of processes that
   * have taken it over with another layout fail with `storage.superseded`. Tables that the layout lacks, and to
   * which nobody writes any more, are forgotten.
   * @param projections those of the layout
   */
  takeOver(layout: string, projections: readonly Projection[]): Promise<void>;
  /** Called when the tables of the layout are built: other processes with the same layout may write from now on. */
  completeLayout(layout: string): Promise<void>;
  /** @throws KeelsonError `storage.superseded` if a process with another layout was seen to take over */
  requireNotSuperseded(): void;
  /**
   * Drops, recreates and fills the table with `changes`, unless it has this version. Readers see
   * the previous table, or wait, until the new one is complete.
   */
  rebuildProjection(
    projection: Projection,
    changes: AsyncIterable<readonly ProjectedChange[]>,
  ): Promise<void>;
  /** Makes the next `rebuildProjection` rebuild these, even if their version is unchanged. */
  forgetProjections(projections: readonly Projection[]): Promise<void>;
}

/** The records from which the projector computes rows. */
export interface ProjectedRecords {
  /** Newest commit that reads see. */
  readonly position: number;
  read(path: string, position: number): Promise<StoredRecord | undefined>;
  scan(
    range: PathRange,
    limit: number,
    options?: Pick<ScanOptions, 'onDamaged'>,
  ): Promise<readonly StoredRecord[]>;
  /** Reports a record that can be decrypted and from which no rows can be computed. */
  reportUnprojected(path: string, cause: unknown): void;
}
