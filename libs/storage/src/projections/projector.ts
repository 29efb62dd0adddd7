/**
 * Maintains the tables of a store's projections: updates them with every commit, and rebuilds them
 * when a version was raised.
 */
import { isDamage } from '@keelson/errors';
import type { Kysely } from 'kysely';
import { currentPath, formerPath, readPlaces } from '../collections/moves.ts';
import { unlessDamaged } from '../records/readable-records.ts';
import { comparePaths, firstAfter, type PathRange, rangeBelow } from '../records/record-path.ts';
import type { StoredRecord } from '../store.ts';
import { layoutDigest, partsOf } from './layout.ts';
import {
  type ColumnValue,
  decideProjectedChange,
  type Parts,
  type ProjectedChange,
  type Projection,
  type ProjectionRow,
  projectedRows,
  type RowSource,
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

  isConcernedBy(changed: string): boolean {
    const path = currentPath(changed);
    return this.#projections.some(
      ({ source, parts = {} }) =>
        path.startsWith(source.prefix) ||
        Object.values(parts).some(({ prefix }) => path.startsWith(prefix)),
    );
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
      for await (const page of this.#pagesOf(projection))
        await check.compare(page, await this.#partsOfPage(projection, page));
    } catch (error) {
      if (isDamage(error)) return true;
      throw error;
    }
    return check.findsDamage();
  }

  /**
   * The rows that follow from one record, in all tables. A record that is still at the former place of its kind has
   * the rows of its current path, which do not change when it moves.
   * @param changedPath of a record that has changed
   * @param read values after the change
   * @returns by the path of the record that has the rows: the changed one, or one of which it is a part and which
   *   can be read
   * @throws Error of a projection that cannot read the value
   */
  async rowsOf(changedPath: string, readOne: ReadValue): Promise<ReadonlyMap<string, RecordRows>> {
    const path = currentPath(changedPath);
    const read: ReadValue = (one) => readPlaces(one, readOne);
    const readable: ReadPart = (source, part) => unlessDamaged(readPart(read)(source, part));
    const changed = new Map<string, RecordRows>();
    const own = this.#projectionsOf(path);
    if (own.length > 0) changed.set(path, await rowsOfRecord(own, path, read, readable));
    for (const projection of this.#projections)
      for (const { prefix } of Object.values(projection.parts ?? NO_PARTS)) {
        if (!path.startsWith(prefix)) continue;
        const whole = projection.source.prefix + path.slice(prefix.length);
        const rows = await unlessDamaged(rowsOfRecord([projection], whole, read, readable));
        if (rows !== undefined) changed.set(whole, withRows(changed.get(whole), rows));
      }
    return changed;
  }

  #projectionsOf(path: string): readonly Projection[] {
    return this.#projections.filter(({ source }) => path.startsWith(source.prefix));
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
      const isNew = created.has(path) && formerPath(path) === undefined;
      const rowsBefore = isNew ? NO_ROWS : await this.#rowsBefore(path);
      for (const [projection, rowsAfter] of rows) {
        const before = await rowsBefore(projection);
        const change = decideProjectedChange(projection, path, before, rowsAfter);
        if (change !== undefined) changes.push(change);
      }
    }
    return changes;
  }

  /**
   * The rows of a record before a change: computed from its value, or read from the table if the record or a part
   * cannot be decrypted or a projection cannot read it.
   */
  async #rowsBefore(path: string): Promise<RowsBefore> {
    const { position } = this.#records;
    const readOne: ReadValue = async (one) => (await this.#records.read(one, position))?.value;
    const read: ReadValue = (one) => readPlaces(one, readOne);
    try {
      await read(path);
    } catch (error) {
      if (!isDamage(error)) throw error;
      return (projection) => this.#storedRows(projection, path);
    }
    try {
      const rows = await rowsOfRecord(this.#projectionsOf(path), path, read, readPart(read));
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
    for await (const page of pages) {
      const partsOf = await this.#partsOfPage(projection, page);
      yield page.flatMap(({ path, storedAt, value }) => {
        try {
          const decoded = codec.decode(storedAt, value);
          return added(path, projectedRows(projection, path, decoded, partsOf(path)));
        } catch (error) {
          // One record must not keep the table from being built for all others.
          this.#records.reportUnprojected(storedAt, error);
          damaged.add(path);
          return [];
        }
      });
    }
    yield [...damaged].flatMap((path) =>
      added(path, projection.rowsOfDamaged?.(path.slice(prefix.length)) ?? []),
    );
  }

  /** The readable parts of the records of a page. */
  async #partsOfPage(
    { source, parts = NO_PARTS }: Projection,
    page: readonly StoredRecord[],
  ): Promise<(path: string) => Parts> {
    const keyOf = (path: string) => path.slice(source.prefix.length);
    const found = new Map<string, Record<string, unknown>>();
    const [first, last] = [page[0], page.at(-1)];
    if (first === undefined || last === undefined) return () => NO_PARTS;
    for (const [name, { prefix, codec }] of Object.entries(parts)) {
      const rangeOf = (place: string): PathRange => ({
        from: place + keyOf(first.path),
        to: firstAfter(place + keyOf(last.path)),
      });
      const records = await this.#scan(prefix, rangeOf, {
        limit: Number.POSITIVE_INFINITY,
        onDamaged: () => undefined,
      });
      for (const { path, storedAt, value } of records) {
        const decoded = await unlessDamaged(decode(codec, storedAt, value));
        const key = path.slice(prefix.length);
        if (decoded !== undefined) found.set(key, { ...found.get(key), [name]: decoded });
      }
    }
    return (path) => found.get(keyOf(path)) ?? NO_PARTS;
  }

  async *#pagesOf(
    { source: { prefix } }: Projection,
    onDamaged?: (path: string) => void,
  ): AsyncIterable<readonly PlacedRecord[]> {
    for (let after = ''; ; ) {
      const rangeOf = (place: string): PathRange =>
        rangeBelow(place, after === '' ? undefined : place + after);
      const limit = REBUILD_PAGE;
      const page = await this.#scan(prefix, rangeOf, { limit, ...(onDamaged && { onDamaged }) });
      const last = page.at(-1);
      if (last === undefined) return;
      yield page;
      after = last.path.slice(prefix.length);
    }
  }

  /**
   * Records of a collection by their current paths, also those that are still at the former place of their kind.
   * @param rangeOf the range at each of the two places, whose prefix it is given
   */
  async #scan(
    prefix: string,
    rangeOf: (place: string) => PathRange,
    { limit, onDamaged }: PageOptions,
  ): Promise<readonly PlacedRecord[]> {
    const placed = async (place: string): Promise<readonly PlacedRecord[]> => {
      const records = await this.#records.scan(
        rangeOf(place),
        limit,
        onDamaged && { onDamaged: (path) => onDamaged(currentPath(path)) },
      );
      return records.map(({ path, value, version }) => ({
        path: currentPath(path),
        storedAt: path,
        value,
        version,
      }));
    };
    const records = await placed(prefix);
    const former = formerPath(prefix);
    if (former === undefined) return records;
    return [...records, ...(await placed(former))]
      .sort((a, b) => comparePaths(a.path, b.path))
      .slice(0, limit);
  }
}

/** A record under its current path, which is not where it is stored before its kind has moved. */
interface PlacedRecord extends StoredRecord {
  readonly storedAt: string;
}

interface PageOptions {
  readonly limit: number;
  readonly onDamaged?: (path: string) => void;
}

/** Rows of one record, by projection. */
export type RecordRows = ReadonlyMap<Projection, readonly ProjectionRow[]>;

/** The value of a record; undefined if there is none. */
export type ReadValue = (path: string) => Promise<Uint8Array | undefined>;

type ReadPart = (source: RowSource<unknown>, path: string) => Promise<unknown>;

const NO_PARTS: Readonly<Record<string, never>> = {};

/** The rows of a record after those of an earlier change, of the same record or a part of it. */
export const withRows = (earlier: RecordRows | undefined, later: RecordRows): RecordRows =>
  earlier === undefined ? later : new Map([...earlier, ...later]);

const decode = async (
  codec: RowSource<unknown>['codec'],
  path: string,
  value: Uint8Array | undefined,
): Promise<unknown> => value && codec.decode(path, value);

const readPart =
  (read: ReadValue): ReadPart =>
  async ({ codec }, path) =>
    decode(codec, path, await read(path));

const rowsOfRecord = async (
  projections: readonly Projection[],
  path: string,
  read: ReadValue,
  part: ReadPart,
): Promise<RecordRows> => {
  const decoded = decodingOnce(path, await read(path));
  const rows = new Map<Projection, readonly ProjectionRow[]>();
  for (const projection of projections) {
    const { source, parts = NO_PARTS } = projection;
    const key = path.slice(source.prefix.length);
    const found: Record<string, unknown> = {};
    for (const [name, one] of Object.entries(parts)) {
      const value = await part(one, one.prefix + key);
      if (value !== undefined) found[name] = value;
    }
    rows.set(projection, projectedRows(projection, path, decoded(source.codec), found));
  }
  return rows;
};

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
