/**
 * A store in one SQLite file, owned by this process alone. Commits are written on the event loop, which
 * costs tens of microseconds a record; every flush is done on the thread pool. SQLite itself flushes
 * nothing (`synchronous=OFF`), the order is kept here:
 *   a commit is acknowledged after its frames in SQLite's log are flushed;
 *   a checkpoint begins when all frames are flushed, and nothing is written (which could overwrite the
 *   log from its start) until the main file is flushed too.
 * See docs/decisions/0010.
 */
import { closeSync, fdatasync, fsyncSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { KeelsonError } from '@keelson/errors';
import type { CompiledQuery } from 'kysely';
import type {
  Backend,
  Batch,
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
import { type ProjectedChange, type Projection, sumTallies } from '../projections/projection.ts';
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
import { fromSqliteError } from './sqlite-errors.ts';
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

const flush = promisify(fdatasync);

/** Entries removed in one go; the event loop is free in between. */
const DELETE_STEP = 1000;
/** Log bytes after which a checkpoint is made; copying them holds the event loop for some milliseconds. */
const CHECKPOINT_BYTES = 1024 * 1024;
const MAX_COMPILED_STATEMENTS = 500;
/** Of the indexes, with which a commit does not wait for them. */
const MAX_LAG = 2;
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

export class SqliteBackend implements Backend {
  readonly #database: DatabaseSync;
  readonly #fileDescriptor: number;
  readonly #logDescriptor: number;
  #uncheckpointedBytes = 0;
  #checkpoint: Promise<void> | undefined;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #records: SqliteRecords;
  #adding: Promise<void> | undefined;
  #isClosing = false;
  readonly #compiled = new Map<string, StatementSync>();
  readonly #projected = new Map<Projection, ProjectedStatements>();
  readonly tables = sqliteTables<unknown>();
  #headSequence: number;
  #logBytes: number;
  #isBroken = false;
  readonly #pageCacheBytes: number;
  #isLarge: boolean;

  /** @param pageCacheBytes at most, for pages of the file */
  constructor(database: DatabaseSync, file: string, pageCacheBytes: number) {
    this.#database = database;
    this.#pageCacheBytes = pageCacheBytes;
    this.#statements = prepareStatements(database);
    this.#records = new SqliteRecords(database);
    // Closed after the database only: closing any descriptor of a file drops this process's locks on it.
    this.#fileDescriptor = openSync(file, 'r+');
    this.#logDescriptor = openSync(`${file}-wal`, 'r+');
    flushNew(file, this.#fileDescriptor, this.#logDescriptor);
    this.#isLarge = fitPageCache(database, this.#fileDescriptor, pageCacheBytes);
    const head = this.#statements.readHead.get();
    this.#headSequence = Number(head?.['sequence']);
    this.#logBytes = Number(head?.['log_bytes']);
  }

  headSequence(): number {
    if (this.#isBroken) throw new KeelsonError('storage.unavailable');
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
    const { newest } = indexes;
    while (indexes.indexedTo < newest) await this.#addToIndexes();
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

  async commit({ prepare, visible }: GroupCommit): Promise<void> {
    const batch = await prepare(this.headSequence());
    if (batch === undefined) return;
    await this.#untilWritable();
    this.#write(batch);
    visible();
    await this.#flush(this.#logDescriptor);
    this.#checkpointIfDue();
    await this.#keepIndexesNear();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#adding?.catch(() => undefined);
    await this.#untilWritable();
    if (!this.#isBroken) await this.#moveLogToFile();
    this.#database.close();
    closeSync(this.#fileDescriptor);
    closeSync(this.#logDescriptor);
  }

  /** A flush that failed is not repeated: what the disk holds is unknown until the file is opened again. */
  async #flush(descriptor: number): Promise<void> {
    try {
      await flush(descriptor);
    } catch (error) {
      this.#isBroken = true;
      throw new KeelsonError('storage.unavailable', {}, { cause: error });
    }
  }

  async #untilWritable(): Promise<void> {
    while (this.#checkpoint !== undefined) await this.#checkpoint;
    this.headSequence();
  }

  #checkpointIfDue(): void {
    if (this.#uncheckpointedBytes <= CHECKPOINT_BYTES || this.#checkpoint !== undefined) return;
    // One that failed for want of room is tried again after the next commit.
    this.#checkpoint = this.#moveLogToFile()
      .catch(() => undefined)
      .finally(() => {
        this.#checkpoint = undefined;
      });
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
      this.#uncheckpointedBytes += ADDITION_BYTES;
      this.#checkpointIfDue();
      await setImmediate();
    }
  }

  async #moveLogToFile(): Promise<void> {
    await this.#flush(this.#logDescriptor);
    guarded(() => this.#database.exec('PRAGMA wal_checkpoint(PASSIVE)'));
    await this.#flush(this.#fileDescriptor);
    this.#uncheckpointedBytes = 0;
    if (this.#isLarge) return;
    this.#isLarge = guarded(() =>
      fitPageCache(this.#database, this.#fileDescriptor, this.#pageCacheBytes),
    );
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
    const saved = guarded(() => this.#prepared(loadVersion(SQLITE_DIALECT)).get(table));
    if (saved?.['version'] === version) return;
    await this.forgetProjections([projection]);
    await this.#transact(() => {
      const tables = createTable(projection, SQLITE_DIALECT);
      for (const statement of [...tables, ...createTextIndex(projection)])
        this.#database.exec(statement);
      this.#prepared(resetTallies(SQLITE_DIALECT)).run(table);
    });
    for await (const page of changes) await this.#transact(() => this.#project(page));
    await this.#transact(() => this.#prepared(saveVersion(SQLITE_DIALECT)).run(table, version));
  }

  async forgetProjections(projections: readonly Projection[]): Promise<void> {
    await this.#transact(() => {
      for (const { table } of projections) this.#prepared(forgetVersion(SQLITE_DIALECT)).run(table);
    });
  }

  #write({ entries, changes, projected }: Batch): void {
    const { appendEntry, moveHead } = this.#statements;
    const head = this.#headSequence + entries.length;
    let endBytes = this.#logBytes;
    this.#transactNow(() => {
      for (const { sequence, committedAtMs, operations } of entries) {
        const encoded = encodeOperations(operations);
        endBytes += encoded.length;
        appendEntry.run(sequence, committedAtMs, endBytes, encoded);
      }
      this.#records.write(changes);
      moveHead.run(head, endBytes);
      this.#project(projected);
    });
    this.#headSequence = head;
    this.#uncheckpointedBytes += endBytes - this.#logBytes;
    this.#logBytes = endBytes;
  }

  #project(changes: readonly ProjectedChange[]): void {
    const byTable = Map.groupBy(changes, ({ projection }) => projection);
    for (const [projection, ofTable] of byTable) {
      const { putRow, addTally } = this.#statementsOf(projection);
      for (const { path, put } of ofTable)
        for (const { position, row } of put)
          putRow.run(...rowValues(projection, path, position, row));
      for (const [key, difference] of sumTallies(ofTable))
        addTally.run(projection.table, key, difference);
    }
    // Together and last: each other statement in between makes FTS5 write what it holds as a segment.
    for (const [projection, ofTable] of byTable) {
      const { truncate, texts } = this.#statementsOf(projection);
      if (texts !== undefined) for (const change of ofTable) indexTexts(texts, change);
      for (const { path, truncatedTo } of ofTable)
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
    await this.#untilWritable();
    return this.#transactNow(work);
  }

  #transactNow<T>(work: () => T): T {
    return guarded(() => {
      this.#database.exec('BEGIN IMMEDIATE');
      try {
        const result = work();
        this.#database.exec('COMMIT');
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
        this.#records.indexes.reload();
        throw error;
      }
    });
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

/** What opening wrote, and that the files are there at all. */
const flushNew = (file: string, fileDescriptor: number, logDescriptor: number): void => {
  const folder = openSync(dirname(file), 'r');
  for (const descriptor of [logDescriptor, fileDescriptor, folder]) fsyncSync(descriptor);
  closeSync(folder);
};

const guarded = <T>(work: () => T): T => {
  try {
    return work();
  } catch (error) {
    throw fromSqliteError(error);
  }
};
