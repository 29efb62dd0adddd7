/**
 * Maintains the tables of a store's projections: updates them with every commit, and rebuilds them
 * when a version was raised.
 */
import { isDamage } from '@keelson/errors';
import type { Kysely } from 'kysely';
import { rangeBelow } from '../records/record-path.ts';
import type { StoredRecord } from '../store.ts';
import { layoutDigest, partsOf } from './layout.ts';
import {
  type ColumnValue,
  decideProjectedChange,
  type ProjectedChange,
  type Projection,
  type ProjectionRow,
  projectedRows,
} from './projection.ts';
import { ProjectionCheck } from './projection-check.ts';
import type { ProjectedRecords, ProjectionTables } from './projection-tables.ts';

/** Records of one step of a rebuild; the event loop is free between steps. */
const REBUILD_PAGE = 200;

export class Projector {
  readonly #tables: ProjectionTables;
  readonly #records: ProjectedRecords;
  readonly #projections: readonly Projection[];
  /** Projections whose tables are not yet known to have the version of this process. */
  #unchecked: readonly Projection[];
  /** Once only: a process that another one has superseded must not take the store back. */
  #hasTakenOver = false;

  constructor(
    tables: ProjectionTables,
    records: ProjectedRecords,
    projections: readonly Projection[],
  ) {
    this.#tables = tables;
    this.#records = records;
    this.#projections = projections;
    this.#unchecked = projections;
  }

  get isReady(): boolean {
    return this.#unchecked.length === 0;
  }

  /** Compares the versions of all tables again before they are used next. */
  checkAgain(): void {
    this.#unchecked = this.#projections;
  }

  require(table: string): Projection {
    const found = this.#projections.find((projection) => projection.table === table);
    if (found === undefined) throw new Error(`the store has no projection ${table}`);
    return found;
  }

  isConcernedBy(path: string): boolean {
    return this.#projections.some(({ source }) => path.startsWith(source.prefix));
  }

  /** @throws KeelsonError `storage.superseded` when tables are those of a newer version */
  requireNotSuperseded(): void {
    this.#tables.requireNotSuperseded();
  }

  /**
   * Builds tables that are missing or have another version. The caller holds the right to append.
   * @throws KeelsonError `storage.sealed`, `storage.superseded`
   */
  async rebuild(projections: readonly Projection[] = this.#unchecked): Promise<void> {
    // First, so that no process with another layout commits while the tables are built, or afterwards.
    const layout = layoutDigest(partsOf(this.#projections));
    if (!this.#hasTakenOver) await this.#tables.takeOver(layout, this.#projections);
    this.#hasTakenOver = true;
    for (const projection of projections)
      await this.#tables.rebuildProjection(projection, this.#changesOfAll(projection));
    await this.#tables.completeLayout(layout);
    this.#unchecked = [];
  }

  rebuildAll(): Promise<void> {
    return this.#tables
      .forgetProjections(this.#projections)
      .then(() => this.rebuild(this.#projections));
  }

  /**
   * Compares the tables with the records. The caller holds the right to append.
   * @returns names of the tables whose rows or tallies differ, or whose records cannot be read
   * @throws KeelsonError `storage.sealed`
   */
  async findDamaged(): Promise<readonly string[]> {
    const damaged: string[] = [];
    for (const projection of this.#projections)
      if (await this.#isDamaged(projection)) damaged.push(projection.table);
    return damaged;
  }

  async #isDamaged(projection: Projection): Promise<boolean> {
    const check = new ProjectionCheck(this.#tables, projection);
    try {
      for await (const page of this.#pagesOf(projection)) await check.compare(page);
    } catch (error) {
      if (isDamage(error)) return true;
      throw error;
    }
    return check.findsDamage();
  }

  /**
   * The rows of one record in all tables.
   * @param value undefined if the record does not exist
   * @throws Error of a projection that cannot read the value
   */
  rowsOf(path: string, value: Uint8Array | undefined): RecordRows {
    const decoded = decodingOnce(path, value);
    const concerned = this.#projections.filter(({ source }) => path.startsWith(source.prefix));
    return new Map(
      concerned.map((projection) => [
        projection,
        projectedRows(projection, path, decoded(projection.source.codec)),
      ]),
    );
  }

  /**
   * Computes the changes of a group of commits to the tables.
   * @param after rows of each record after the group
   * @param created paths of records that are known to be new
   */
  async changesOf(
    after: ReadonlyMap<string, RecordRows>,
    created: ReadonlySet<string>,
  ): Promise<readonly ProjectedChange[]> {
    const changes: ProjectedChange[] = [];
    for (const [path, rows] of after) {
      const rowsBefore = created.has(path) ? NO_ROWS : await this.#rowsBefore(path);
      for (const [projection, rowsAfter] of rows) {
        const before = await rowsBefore(projection);
        const change = decideProjectedChange(projection, path, before, rowsAfter);
        if (change !== undefined) changes.push(change);
      }
    }
    return changes;
  }

  /**
   * The rows of a record before a change: computed from its value, or read from the table if the record cannot
   * be decrypted or a projection cannot read it.
   */
  async #rowsBefore(path: string): Promise<RowsBefore> {
    let old: StoredRecord | undefined;
    try {
      old = await this.#records.read(path, this.#records.position);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return (projection) => this.#storedRows(projection, path);
    }
    try {
      const rows = this.rowsOf(path, old?.value);
      return (projection) => rows.get(projection) ?? [];
    } catch {
      // The record is being replaced, so nobody needs to know.
      return (projection) => this.#storedRows(projection, path);
    }
  }

  async #storedRows(
    { table, columns }: Projection,
    path: string,
  ): Promise<readonly ProjectionRow[]> {
    const tables = this.#tables.tables as unknown as Kysely<StoredTables>;
    const rows = await this.#tables.select(
      tables
        .selectFrom(table)
        .select(Object.keys(columns))
        .where('record_path', '=', path)
        .orderBy('position')
        .compile(),
    );
    return rows as readonly ProjectionRow[];
  }

  async *#changesOfAll(projection: Projection): AsyncIterable<readonly ProjectedChange[]> {
    const { prefix, codec } = projection.source;
    const added = (path: string, rows: readonly ProjectionRow[]) =>
      decideProjectedChange(projection, path, [], rows) ?? [];
    const damaged = new Set<string>();
    const pages = this.#pagesOf(projection, (path) => damaged.add(path));
    for await (const page of pages)
      yield page.flatMap(({ path, value }) => {
        try {
          return added(path, projectedRows(projection, path, codec.decode(path, value)));
        } catch (error) {
          // One record must not keep the table from being built for all others.
          this.#records.reportUnprojected(path, error);
          damaged.add(path);
          return [];
        }
      });
    yield [...damaged].flatMap((path) =>
      added(path, projection.rowsOfDamaged?.(path.slice(prefix.length)) ?? []),
    );
  }

  async *#pagesOf(
    { source }: Projection,
    onDamaged?: (path: string) => void,
  ): AsyncIterable<readonly StoredRecord[]> {
    for (let after: string | undefined; ; ) {
      const range = rangeBelow(source.prefix, after);
      const page = await this.#records.scan(range, REBUILD_PAGE, onDamaged && { onDamaged });
      if (page.length === 0) return;
      yield page;
      after = page.at(-1)?.path;
    }
  }
}

/** Rows of one record, by projection. */
export type RecordRows = ReadonlyMap<Projection, readonly ProjectionRow[]>;

type RowsBefore = (
  projection: Projection,
) => readonly ProjectionRow[] | Promise<readonly ProjectionRow[]>;

const NO_ROWS: RowsBefore = () => [];

interface StoredTables {
  readonly [table: string]: {
    readonly record_path: string;
    readonly position: number;
    readonly [column: string]: ColumnValue;
  };
}

/** Decodes a value once for all projections of the same records. */
const decodingOnce = (path: string, value: Uint8Array | undefined) => {
  const known = new Map<Projection['source']['codec'], unknown>();
  return (codec: Projection['source']['codec']): unknown => {
    if (value !== undefined && !known.has(codec)) known.set(codec, codec.decode(path, value));
    return known.get(codec);
  };
};
