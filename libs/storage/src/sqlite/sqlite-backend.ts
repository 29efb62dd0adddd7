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
import { prepareStatements } from './sqlite-statements.ts';
import { SqliteSubpages } from './sqlite-subpages.ts';
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
/** Records after which the index of subpages catches up: more at once write fewer of its pages. */
const MAX_RECORDS_BEHIND = 50_000;

/** SQLite's "no limit". */
const toLimit = (limit: number): number => (Number.isFinite(limit) ? limit : -1);

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
  readonly #subpages: SqliteSubpages;
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
    this.#subpages = new SqliteSubpages(database);
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
    return guarded(() => this.#statements.findRow.get(path) as unknown as StoredRow | undefined);
  }

  findLeaf(path: string): Uint8Array | undefined {
    return guarded(
      () => (this.#statements.findLeaf.get(path)?.['leaf'] as Uint8Array | null) ?? undefined,
    );
  }

  async listSubpage(subpage: SubpageIndex): Promise<readonly string[]> {
    while (this.#subpages.behind > 0) {
      await this.#transact(() => this.#subpages.addNext());
      await setImmediate();
    }
    return guarded(() => this.#subpages.list(subpage));
  }

  async listPaths({ from, to }: PathRange, limit: number): Promise<readonly string[]> {
    return guarded(() => {
      const rows = this.#statements.listPaths.all(from, to, toLimit(limit));
      return rows.map((row) => row['path'] as string);
    });
  }

  async scanRows({ from, to }: PathRange, limit: number): Promise<readonly StoredRow[]> {
    return guarded(
      () => this.#statements.scanRows.all(from, to, toLimit(limit)) as unknown as StoredRow[],
    );
  }

  async scanChecked({ from, to }: PathRange, limit: number): Promise<readonly CheckedRow[]> {
    const rows = guarded(() => this.#statements.scanChecked.all(from, to, toLimit(limit)));
    return (rows as unknown as (StoredRow & { readonly leaf: Uint8Array | null })[]).map((row) => ({
      ...row,
      leaf: row.leaf ?? undefined,
    }));
  }

  async restoreRow({ path, stored, version, digest }: PutRow): Promise<void> {
    const subpage = digest?.subpage ?? null;
    await this.#transact(() => {
      this.#statements.restoreRow.run(subpage, digest?.leaf ?? null, stored, path, version);
      this.#subpages.restored(path);
    });
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
    if (this.#uncheckpointedBytes > CHECKPOINT_BYTES) this.#startCheckpoint();
    if (this.#subpages.behind > MAX_RECORDS_BEHIND) this.#startAdding();
  }

  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#adding;
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

  #startCheckpoint(): void {
    // One that failed for want of room is tried again after the next commit.
    this.#checkpoint = this.#moveLogToFile()
      .catch(() => undefined)
      .finally(() => {
        this.#checkpoint = undefined;
      });
  }

  /** Adds to the index of subpages what it is behind with, between commits. */
  #startAdding(): void {
    this.#adding ??= this.#addToSubpages()
      // Tried again after the next commit; the index says how far it is.
      .catch(() => undefined)
      .finally(() => {
        this.#adding = undefined;
      });
  }

  async #addToSubpages(): Promise<void> {
    for (const step of this.#subpages.additions()) {
      if (this.#isClosing) return;
      await this.#transact(step);
      this.#uncheckpointedBytes += CHECKPOINT_BYTES / 8;
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
    const { appendEntry, putRow, moveHead } = this.#statements;
    const head = this.#headSequence + entries.length;
    let endBytes = this.#logBytes;
    this.#transactNow(() => {
      for (const { sequence, committedAtMs, operations } of entries) {
        const encoded = encodeOperations(operations);
        endBytes += encoded.length;
        appendEntry.run(sequence, committedAtMs, endBytes, encoded);
      }
      this.#subpages.deleteRecords(
        changes.filter(({ stored }) => stored === undefined).map(({ path }) => path),
      );
      for (const change of changes) {
        if (change.stored === undefined) continue;
        const { path, version, digest, stored } = change;
        putRow.run(path, version, digest?.subpage ?? null, digest?.leaf ?? null, stored);
      }
      this.#subpages.noteNew();
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
        this.#subpages.reload();
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
