/**
 * A store in one SQLite file, owned by this process alone. Commits are written on the event loop, which
 * costs tens of microseconds a record; what they wait for on disk is in sqlite-files.ts.
 */
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { KeelsonError } from '@keelson/errors';
import type { CompiledQuery } from 'kysely';
import type {
  Backend,
  CheckedRow,
  GroupCommit,
  PartQuery,
  PutRow,
  SavedPage,
  SavedTrees,
  Searched,
  Snapshot,
  StoredRow,
} from '../backend.ts';
import type { SubpageIndex } from '../merkle/record-digest.ts';
import type { ProjectedChange, Projection } from '../projections/projection.ts';
import {
  addTallies,
  createTable,
  forgetVersion,
  loadTallies,
  loadVersion,
  putRows,
  resetTallies,
  rowValues,
  SQLITE_DIALECT,
  saveVersion,
  truncateRows,
} from '../projections/projection-sql.ts';
import { sqliteTables } from '../projections/table-queries.ts';
import { toRowKeys } from '../projections/text-search.ts';
import type { PathRange } from '../record-path.ts';
import type { WalEntry } from '../store.ts';
import type { WalMark } from '../wal/prune.ts';
import { decodeOperations, encodeOperations } from '../wal/wal-codec.ts';
import {
  decodeBatch,
  type EncodedBatch,
  encodeBatch,
  type TableChanges,
  toTableChanges,
} from './redo-batch.ts';
import type { LogPosition } from './redo-log.ts';
import { guarded } from './sqlite-errors.ts';
import { CHECKPOINT_BYTES, type OnLost, SqliteFiles } from './sqlite-files.ts';
import { fitPageCache } from './sqlite-page-cache.ts';
import { SqliteRecords } from './sqlite-records.ts';
import { prepareStatements } from './sqlite-statements.ts';
import {
  countByPart,
  createTextIndex,
  findByPart,
  indexTexts,
  prepareTextIndex,
  type TextStatements,
} from './sqlite-text-search.ts';

/** Entries removed in one go; the event loop is free in between. */
const DELETE_STEP = 1000;
const MAX_COMPILED_STATEMENTS = 500;
/** Of the indexes, with which a commit does not wait for them. */
const MAX_LAG = 2;
/** Log bytes that a commit is counted as beside its own: it changes some 25 pages however small it is. */
const COMMIT_BYTES = CHECKPOINT_BYTES / 128;
/** Log bytes that a step of what the indexes are behind with is counted as. */
const ADDITION_BYTES = CHECKPOINT_BYTES / 4;

interface WalRow {
  readonly sequence: number;
  readonly committed_at_ms: number;
  readonly operations: Uint8Array;
}

interface ProjectedStatements {
  readonly putRow: StatementSync;
  readonly truncate: StatementSync;
  readonly addTally: StatementSync;
  readonly texts: TextStatements | undefined;
}

export interface SqliteBackendOptions {
  readonly file: string;
  /** At most, for pages of the file. */
  readonly pageCacheBytes: number;
  readonly projections: readonly Projection[];
  readonly maxRecentRecords?: number | undefined;
  readonly maxRedoBytes?: number | undefined;
  readonly onLost?: OnLost | undefined;
}

export class SqliteBackend implements Backend {
  readonly #database: DatabaseSync;
  readonly #files: SqliteFiles;
  readonly #projections: readonly Projection[];
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #records: SqliteRecords;
  #adding: Promise<void> | undefined;
  #isClosing = false;
  readonly #compiled = new Map<string, StatementSync>();
  readonly #projected = new Map<Projection, ProjectedStatements>();
  readonly tables = sqliteTables<unknown>();
  #headSequence = 0;
  #logBytes = 0;

  /** @param database with the schema, opened just now; what its last process acknowledged is carried out */
  static async open(database: DatabaseSync, options: SqliteBackendOptions): Promise<SqliteBackend> {
    const backend = new SqliteBackend(database, options);
    try {
      await backend.#recover();
    } catch (error) {
      backend.#files.abandon();
      throw error;
    }
    return backend;
  }

  private constructor(
    database: DatabaseSync,
    {
      file,
      pageCacheBytes,
      projections,
      maxRecentRecords,
      maxRedoBytes,
      onLost,
    }: SqliteBackendOptions,
  ) {
    this.#database = database;
    this.#projections = projections;
    this.#statements = prepareStatements(database);
    this.#records = new SqliteRecords(database, { maxRecentRecords });
    let isLarge = false;
    const onCheckpoint = (fileDescriptor: number): void => {
      isLarge ||= fitPageCache(database, fileDescriptor, pageCacheBytes);
    };
    const onRolledBack = (): void => this.#carryOutCommitted();
    this.#files = new SqliteFiles(database, {
      file,
      maxRedoBytes,
      onCheckpoint,
      onRolledBack,
      onLost,
    });
    this.#loadHead();
  }

  #loadHead(): void {
    const head = this.#statements.readHead.get();
    this.#headSequence = Number(head?.['sequence']);
    this.#logBytes = Number(head?.['log_bytes']);
  }

  headSequence(): number {
    this.#files.requireIntact();
    return this.#headSequence;
  }

  findRow(path: string): StoredRow | undefined {
    return guarded(() => this.#records.findRow(path));
  }

  findLeaf(path: string): Uint8Array | undefined {
    return guarded(() => this.#records.findLeaf(path));
  }

  async listSubpage(subpage: SubpageIndex): Promise<readonly string[]> {
    const { indexes } = this.#records;
    for (const step of indexes.staging()) {
      await this.#transact(step);
      await setImmediate();
    }
    return guarded(() => indexes.list(subpage));
  }

  async listPaths(range: PathRange, limit: number): Promise<readonly string[]> {
    return guarded(() => this.#records.listPaths(range, limit));
  }

  async scanRows(range: PathRange, limit: number): Promise<readonly StoredRow[]> {
    return guarded(() => this.#records.scanRows(range, limit));
  }

  async scanChecked(range: PathRange, limit: number): Promise<readonly CheckedRow[]> {
    return guarded(() => this.#records.scanChecked(range, limit));
  }

  async restoreRow(row: PutRow): Promise<void> {
    await this.#transact(() => this.#records.restore(row));
  }

  async readSnapshot(read: (snapshot: Snapshot) => Promise<void>): Promise<void> {
    // Nobody else writes the file.
    await read({
      headSequence: this.headSequence(),
      scanRows: (range, limit) => this.scanRows(range, limit),
    });
  }

  async firstSequence(): Promise<number | undefined> {
    const row = guarded(() => this.#statements.firstSequence.get());
    return (row?.['sequence'] as number | null) ?? undefined;
  }

  async loadEntries(sequence: number, limit: number): Promise<readonly WalEntry[]> {
    const rows = guarded(() => this.#statements.loadEntries.all(sequence, limit));
    return (rows as unknown as WalRow[]).map((row) => ({
      sequence: row.sequence,
      committedAtMs: row.committed_at_ms,
      operations: decodeOperations(row.operations),
    }));
  }

  async #recover(): Promise<void> {
    if (!this.#files.isUnfinished) return;
    this.#carryOutCommitted();
    await this.#files.checkpoint();
  }

  /** Carries out what was committed and is not in the tables. */
  #carryOutCommitted(): void {
    this.#loadHead();
    for (const content of this.#files.committedAfter(() => this.#position())) {
      const batch = decodeBatch(content, this.#headSequence, (table) => this.#projectionOf(table));
      for (const { path } of batch.changes) this.findLeaf(path);
      this.#write(batch);
    }
  }

  /** One whose table is of its version; any other is built anew before it is used. */
  #projectionOf(table: string): Projection | undefined {
    const projection = this.#projections.find((known) => known.table === table);
    if (projection !== undefined && this.#isCurrent(projection)) return projection;
    this.#prepared(forgetVersion(SQLITE_DIALECT)).run(table);
    return undefined;
  }

  #position(): LogPosition {
    return { sequence: this.#headSequence, logBytes: this.#logBytes };
  }

  async commit({ prepare, visible }: GroupCommit): Promise<void> {
    const batch = await prepare(this.headSequence());
    if (batch === undefined) return;
    const encoded: EncodedBatch = {
      entries: batch.entries.map(({ sequence, committedAtMs, operations }) => ({
        sequence,
        committedAtMs,
        operations: encodeOperations(operations),
      })),
      changes: batch.changes,
      tables: toTableChanges(batch.projected),
    };
    const bytesBefore = this.#logBytes;
    await this.#files.commit(this.#position(), encodeBatch(encoded), () => {
      this.#write(encoded);
      visible();
    });
    this.#files.wrote(this.#logBytes - bytesBefore + COMMIT_BYTES);
    await this.#keepIndexesNear();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#adding?.catch(() => undefined);
    await this.#files.close();
  }

  /** Commits wait for it only when more is written than is added meanwhile. */
  async #keepIndexesNear(): Promise<void> {
    const { lag } = this.#records.indexes;
    if (lag <= 1) return;
    // Tried again after the next commit when it fails; the indexes say how far they are.
    const added = this.#addToIndexes().catch(() => undefined);
    if (lag > MAX_LAG) await added;
  }

  /** Adds to the indexes what they are behind with, between commits. */
  #addToIndexes(): Promise<void> {
    this.#adding ??= this.#runAdditions().finally(() => {
      this.#adding = undefined;
    });
    return this.#adding;
  }

  async #runAdditions(): Promise<void> {
    for (const step of this.#records.indexes.additions()) {
      if (this.#isClosing) throw new KeelsonError('storage.unavailable');
      await this.#transact(step);
      this.#files.wrote(ADDITION_BYTES);
      await setImmediate();
    }
  }

  async loadMark(sequence: number): Promise<WalMark | undefined> {
    return guarded(() => this.#statements.loadMark.get(sequence) as WalMark | undefined);
  }

  async deleteEntriesBefore(sequence: number): Promise<void> {
    for (;;) {
      const first = await this.firstSequence();
      if (first === undefined || first >= sequence) return;
      await this.#transact(() =>
        this.#statements.deleteEntries.run(Math.min(first + DELETE_STEP, sequence)),
      );
      await setImmediate();
    }
  }

  async loadTrees(): Promise<SavedTrees> {
    return guarded(() => ({
      position: Number(this.#statements.readHead.get()?.['tree_position']),
      pages: this.#statements.loadPages.all() as unknown as SavedPage[],
    }));
  }

  async saveTrees(trees: SavedTrees & { readonly expectedPosition: number }): Promise<boolean> {
    const { moveTrees, savePage } = this.#statements;
    return this.#transact(() => {
      if (moveTrees.run(trees.position, trees.expectedPosition).changes === 0) return false;
      for (const { tree, page, subpageDigests } of trees.pages)
        savePage.run(tree, page, subpageDigests);
      return true;
    });
  }

  async select<Row>({ sql, parameters }: CompiledQuery<Row>): Promise<readonly Row[]> {
    this.headSequence();
    return guarded(() => this.#prepared(sql).all(...(parameters as SQLInputValue[])) as Row[]);
  }

  async findByPart(searched: Searched, part: PartQuery): Promise<readonly string[] | undefined> {
    this.headSequence();
    return guarded(() => findByPart((sql) => this.#prepared(sql), searched, part));
  }

  async countByPart(
    searched: Searched,
    part: Omit<PartQuery, 'limit'>,
  ): Promise<number | undefined> {
    const keys = toRowKeys(part.scope);
    const tallies = await this.loadTallies(searched.table, keys);
    const [all, sharing, own] = keys.map((key) => tallies.get(key) ?? 0);
    if (sharing !== own) return undefined;
    const scope = all === own ? undefined : part.scope;
    return guarded(() => countByPart((sql) => this.#prepared(sql), searched, { ...part, scope }));
  }

  async loadTallies(table: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    this.headSequence();
    const rows = guarded(() =>
      this.#prepared(loadTallies(keys.length, SQLITE_DIALECT)).all(table, ...keys),
    );
    return new Map(rows.map((row) => [row['tally_key'] as string, row['row_count'] as number]));
  }

  async rebuildProjection(
    projection: Projection,
    changes: AsyncIterable<readonly ProjectedChange[]>,
  ): Promise<void> {
    const { table, version } = projection;
    if (this.#isCurrent(projection)) return;
    await this.forgetProjections([projection]);
    await this.#transact(() => {
      const tables = createTable(projection, SQLITE_DIALECT);
      for (const statement of [...tables, ...createTextIndex(projection)])
        this.#database.exec(statement);
      this.#prepared(resetTallies(SQLITE_DIALECT)).run(table);
    });
    for await (const page of changes)
      await this.#transact(() => this.#project(toTableChanges(page)));
    await this.#transact(() => this.#prepared(saveVersion(SQLITE_DIALECT)).run(table, version));
  }

  #isCurrent({ table, version }: Projection): boolean {
    const saved = guarded(() => this.#prepared(loadVersion(SQLITE_DIALECT)).get(table));
    return saved?.['version'] === version;
  }

  async forgetProjections(projections: readonly Projection[]): Promise<void> {
    await this.#transact(() => {
      for (const { table } of projections) this.#prepared(forgetVersion(SQLITE_DIALECT)).run(table);
    });
  }

  #write({ entries, changes, tables }: EncodedBatch): void {
    const { appendEntry, moveHead } = this.#statements;
    const head = this.#headSequence + entries.length;
    let endBytes = this.#logBytes;
    const carryOut = (): void => {
      for (const { sequence, committedAtMs, operations } of entries) {
        endBytes += operations.length;
        appendEntry.run(sequence, committedAtMs, endBytes, operations);
      }
      this.#records.write(changes);
      moveHead.run(head, endBytes);
      this.#project(tables);
    };
    try {
      this.#files.carryOut(carryOut);
    } catch (error) {
      this.#records.indexes.reload();
      throw error;
    }
    this.#headSequence = head;
    this.#logBytes = endBytes;
  }

  #project(tables: readonly TableChanges[]): void {
    for (const { projection, changes, tallies } of tables) {
      const { putRow, addTally } = this.#statementsOf(projection);
      for (const { path, put } of changes)
        for (const { position, row } of put)
          putRow.run(...rowValues(projection, path, position, row));
      for (const [key, difference] of tallies) addTally.run(projection.table, key, difference);
    }
    // Together and last: each other statement in between makes FTS5 write what it holds as a segment.
    for (const { projection, changes } of tables) {
      const { truncate, texts } = this.#statementsOf(projection);
      if (texts !== undefined) for (const change of changes) indexTexts(texts, change);
      for (const { path, truncatedTo } of changes)
        if (truncatedTo !== undefined) truncate.run(path, truncatedTo);
    }
  }

  #statementsOf(projection: Projection): ProjectedStatements {
    const known = this.#projected.get(projection);
    if (known !== undefined) return known;
    const prepare = (sql: string): StatementSync => this.#database.prepare(sql);
    const statements: ProjectedStatements = {
      putRow: prepare(putRows(projection, 1, SQLITE_DIALECT)),
      truncate: prepare(truncateRows(projection, SQLITE_DIALECT)),
      addTally: prepare(addTallies(1, SQLITE_DIALECT)),
      texts: projection.search && prepareTextIndex(prepare, projection),
    };
    this.#projected.set(projection, statements);
    return statements;
  }

  async #transact<T>(work: () => T): Promise<T> {
    try {
      return await this.#files.transact(work);
    } catch (error) {
      this.#records.indexes.reload();
      throw error;
    }
  }

  #prepared(sql: string): StatementSync {
    const known = this.#compiled.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#compiled.set(sql, statement);
    for (const oldest of this.#compiled.keys()) {
      if (this.#compiled.size <= MAX_COMPILED_STATEMENTS) break;
      this.#compiled.delete(oldest);
    }
    return statement;
  }
}
