/**
 * A store in one SQLite file, owned by this process alone: a separate thread writes (sqlite-writer.ts),
 * and a connection of each event loop reads what is committed, which with `synchronous=FULL` is on
 * disk. See docs/decisions/0004.
 */
import { statSync } from 'node:fs';
import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite';
import { KeelsonError } from '@keelson/errors';
import type { CompiledQuery } from 'kysely';
import { LRUCache } from 'lru-cache';
import type { Backend, GroupCommit } from '../backend.ts';
import type { RecordVersions } from '../collections/record-versions.ts';
import type { OpenCopy, Replacement, StagedRow } from '../copies/copy-rows.ts';
import type { SavedPage, SavedTrees } from '../merkle/tree-rows.ts';
import {
  type ProjectedChange,
  type Projection,
  rowVersionOf,
  sumTallies,
} from '../projections/projection.ts';
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
import type { Searched } from '../projections/text-search.ts';
import type { PathRange } from '../records/record-path.ts';
import type { CheckedRow, PutRow, Snapshot, StoredRow } from '../records/stored-rows.ts';
import type { PartCount, PartQuery, SubpageIndex, WalEntry } from '../store.ts';
import type { StoreFaults } from '../store-faults.ts';
import type { WalMark } from '../wal/prune.ts';
import { decodeOperations, encodeOperations } from '../wal/wal-codec.ts';
import type { FileLock } from './file-lock.ts';
import type { SharedHead } from './shared-head.ts';
import {
  discardStagedExcept,
  openSqliteCopy,
  replaceRecords,
  stageRecords,
} from './sqlite-copy.ts';
import { guarded } from './sqlite-errors.ts';
import { restoreRecord, SqliteRecords, writeRecords } from './sqlite-records.ts';
import { prepareStatements } from './sqlite-statements.ts';
import { countByPart, createTextIndex, findByPart, indexTexts } from './sqlite-text-search.ts';
import type { SqliteWriter } from './sqlite-writer.ts';
import type { WriteStatement } from './writer-thread.ts';

/** Entries removed in one go; the event loop is free in between. */
const DELETE_STEP = 1000;
const MAX_COMPILED_STATEMENTS = 500;

interface WalRow {
  readonly sequence: number;
  readonly committed_at_ms: number;
  readonly operations: Uint8Array;
}

export interface SqliteConnections {
  readonly file: string;
  /** For reads; with the schema. */
  readonly database: DatabaseSync;
  readonly writer: SqliteWriter;
  readonly faults: StoreFaults;
  readonly head: SharedHead;
  /**
   * Keeps other processes away from the file until it is closed. Absent if another thread has opened the file before;
   * that one closes it.
   */
  readonly lock: FileLock | undefined;
  readonly versions: RecordVersions;
}

export class SqliteBackend implements Backend {
  readonly #file: string;
  readonly #database: DatabaseSync;
  readonly #writer: SqliteWriter;
  readonly #lock: FileLock | undefined;
  readonly #head: SharedHead;
  readonly #statements: ReturnType<typeof prepareStatements>;
  readonly #records: SqliteRecords;
  readonly #compiled = new LRUCache<string, StatementSync>({ max: MAX_COMPILED_STATEMENTS });
  readonly tables = sqliteTables<unknown>();
  readonly faults: StoreFaults;
  readonly versions: RecordVersions;
  readonly #closed = new AbortController();
  /** Sequence of the commit after which `#logBytes` was known. */
  #knownSequence = 0;
  #logBytes = 0;
  /** The commit that is being written, which its head shows. */
  #unseen: { readonly head: number; readonly show: () => void } | undefined;

  /** Takes ownership of the connections; `close` closes them. */
  constructor({ file, database, writer, faults, lock, head, versions }: SqliteConnections) {
    this.#file = file;
    this.#database = database;
    this.#writer = writer;
    this.faults = faults;
    this.#lock = lock;
    this.#head = head;
    this.#statements = prepareStatements(database);
    this.#records = new SqliteRecords(database);
    this.versions = versions;
    this.#readHead();
    if (lock !== undefined) head.advance(this.#knownSequence);
  }

  headSequence(): number {
    this.#writer.requireIntact();
    this.#showUnseen();
    return this.#head.sequence;
  }

  /** Calls `notice` after commits of all threads, so that also a loss that another one noticed is reported here. */
  onCommitElsewhere(notice: () => void): void {
    void this.#head.watch(() => {
      notice();
      if (this.#head.isLost) this.#writer.noticeLoss();
    }, this.#closed.signal);
  }

  findRow(path: string): StoredRow | undefined {
    return this.#guarded(() => this.#records.findRow(path));
  }

  findLeaf(path: string): Uint8Array | undefined {
    return this.#guarded(() => this.#records.findLeaf(path));
  }

  async listSubpage(subpage: SubpageIndex): Promise<readonly string[]> {
    return this.#guarded(() => this.#records.listSubpage(subpage));
  }

  async listPaths(range: PathRange, limit: number): Promise<readonly string[]> {
    return this.#guarded(() => this.#records.listPaths(range, limit));
  }

  async scanRows(range: PathRange, limit: number): Promise<readonly StoredRow[]> {
    return this.#guarded(() => this.#records.scanRows(range, limit));
  }

  async scanChecked(range: PathRange, limit: number): Promise<readonly CheckedRow[]> {
    return this.#guarded(() => this.#records.scanChecked(range, limit));
  }

  async restoreRow(row: PutRow): Promise<void> {
    await this.#writer.run([restoreRecord(row)]);
  }

  async readSnapshot(read: (snapshot: Snapshot) => Promise<void>): Promise<void> {
    const copy = await this.openCopy();
    try {
      await read(copy);
    } finally {
      await copy.close();
    }
  }

  async holdCommits(work: () => Promise<void>): Promise<void> {
    await this.#head.inTurn(work);
  }

  async openCopy(): Promise<OpenCopy> {
    return this.#guarded(() => openSqliteCopy(this.#file, this.faults));
  }

  async discardStagedExcept(restoration: string): Promise<void> {
    await this.#writer.run(discardStagedExcept(restoration));
  }

  async stage(restoration: string, rows: readonly StagedRow[]): Promise<void> {
    await this.#writer.run(stageRecords(restoration, rows));
  }

  async countStaged(restoration: string): Promise<number> {
    const sql = 'SELECT count(*) AS count FROM staged_record WHERE restoration = ?';
    return this.#guarded(() => Number(this.#prepared(sql).get(restoration)?.['count']));
  }

  async replaceRecords(replacement: Replacement): Promise<void> {
    await this.#head.inTurn(async () => {
      await this.#writer.run(replaceRecords(replacement));
      this.#head.advance(replacement.headSequence);
    });
  }

  async firstSequence(): Promise<number | undefined> {
    const row = this.#guarded(() => this.#statements.firstSequence.get());
    return (row?.['sequence'] as number | null) ?? undefined;
  }

  async loadEntries(sequence: number, limit: number): Promise<readonly WalEntry[]> {
    const rows = this.#guarded(() => this.#statements.loadEntries.all(sequence, limit));
    return (rows as unknown as WalRow[]).map((row) => ({
      sequence: row.sequence,
      committedAtMs: row.committed_at_ms,
      operations: decodeOperations(row.operations),
    }));
  }

  async commit(group: GroupCommit): Promise<void> {
    await this.#head.inTurn((turn) => this.#commitInTurn(group, turn));
  }

  async #commitInTurn({ prepare, visible }: GroupCommit, turn: number): Promise<void> {
    const before = this.headSequence();
    if (before !== this.#knownSequence) this.#readHead();
    const batch = await prepare(before);
    if (batch === undefined) return;
    const { entries, changes, projected } = batch;
    const head = before + entries.length;
    let endBytes = this.#logBytes;
    const appended = entries.map(({ sequence, committedAtMs, operations }) => {
      const encoded = encodeOperations(operations);
      endBytes += encoded.length;
      return [sequence, committedAtMs, endBytes, encoded];
    });
    const ended = this.#head.isShared ? { memory: this.#head.memory, turn, head } : undefined;
    this.#unseen = { head, show: visible };
    try {
      const isWritten = await this.#writer.run(
        [
          {
            sql: 'UPDATE head SET sequence = ?, log_bytes = ? WHERE sequence = ?',
            rows: [[head, endBytes, before]],
            mustChange: true,
          },
          {
            sql: 'INSERT INTO wal (sequence, committed_at_ms, end_bytes, operations) VALUES (?, ?, ?, ?)',
            rows: appended,
          },
          ...writeRecords(changes),
          ...project(projected),
        ],
        ended,
      );
      if (!isWritten)
        throw new KeelsonError('storage.unavailable', { reason: 'the file was changed' });
      this.#knownSequence = head;
      this.#logBytes = endBytes;
      if (ended === undefined) this.#head.advance(head);
      this.#showUnseen();
    } finally {
      this.#unseen = undefined;
    }
  }

  /** Shows an own commit that is on disk, also before its confirmation has arrived. */
  #showUnseen(): void {
    if (this.#unseen === undefined || this.#head.sequence < this.#unseen.head) return;
    const { show } = this.#unseen;
    this.#unseen = undefined;
    show();
  }

  async sizeBytes(): Promise<number> {
    const mainBytes = this.#guarded(() => this.#statements.sizeBytes.get())?.['bytes'];
    return Number(mainBytes) + (await this.logBytes());
  }

  async logBytes(): Promise<number> {
    return statSync(this.#logFile, { throwIfNoEntry: false })?.size ?? 0;
  }

  /** The last connection that is closed copies SQLite's log into the main file and deletes it. */
  async close(): Promise<void> {
    this.#closed.abort();
    if (this.#lock === undefined) {
      this.#writer.leave();
      this.#database.close();
      return;
    }
    const cause = await this.#writer.close();
    this.#database.close();
    this.#lock.close();
    if (cause !== undefined)
      throw new Error(
        `${this.#file}: the write-ahead log could not be copied into the file (${cause.message}). Nothing is lost: ${this.#logFile} belongs to it, and the next start reads both`,
        { cause },
      );
  }

  async loadMark(sequence: number): Promise<WalMark | undefined> {
    return this.#guarded(() => this.#statements.loadMark.get(sequence) as WalMark | undefined);
  }

  async deleteEntriesBefore(sequence: number): Promise<void> {
    for (;;) {
      const first = await this.firstSequence();
      if (first === undefined || first >= sequence) return;
      const end = Math.min(first + DELETE_STEP, sequence);
      await this.#writer.run([{ sql: 'DELETE FROM wal WHERE sequence < ?', rows: [[end]] }]);
    }
  }

  async loadTrees(): Promise<SavedTrees> {
    return this.#guarded(() => ({
      position: Number(this.#statements.readHead.get()?.['tree_position']),
      pages: this.#statements.loadPages.all() as unknown as SavedPage[],
    }));
  }

  saveTrees({
    position,
    expectedPosition,
    pages,
  }: SavedTrees & { readonly expectedPosition: number }): Promise<boolean> {
    return this.#writer.run([
      {
        sql: 'UPDATE head SET tree_position = ? WHERE tree_position = ?',
        rows: [[position, expectedPosition]],
        mustChange: true,
      },
      {
        sql: `INSERT INTO tree_page (tree, page, subpage_digests) VALUES (?, ?, ?)
              ON CONFLICT (tree, page) DO UPDATE SET subpage_digests = excluded.subpage_digests`,
        rows: pages.map(({ tree, page, subpageDigests }) => [tree, page, subpageDigests]),
      },
    ]);
  }

  async select<Row>({ sql, parameters }: CompiledQuery<Row>): Promise<readonly Row[]> {
    return this.#guarded(
      () => this.#prepared(sql).all(...(parameters as SQLInputValue[])) as Row[],
    );
  }

  async findByPart(searched: Searched, part: PartQuery): Promise<readonly string[] | undefined> {
    return this.#guarded(() => findByPart((sql) => this.#prepared(sql), searched, part));
  }

  async countByPart(searched: Searched, part: PartCount): Promise<number | undefined> {
    return this.#guarded(() => countByPart((sql) => this.#prepared(sql), searched, part));
  }

  async loadTallies(table: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = this.#guarded(() =>
      this.#prepared(loadTallies(keys.length, SQLITE_DIALECT)).all(table, ...keys),
    );
    return new Map(rows.map((row) => [row['tally_key'] as string, row['row_count'] as number]));
  }

  async rebuildProjection(
    projection: Projection,
    changes: AsyncIterable<readonly ProjectedChange[]>,
  ): Promise<void> {
    await this.#head.inTurn(async () => {
      if (!this.#isCurrent(projection)) await this.#buildProjection(projection, changes);
    });
  }

  async #buildProjection(
    projection: Projection,
    changes: AsyncIterable<readonly ProjectedChange[]>,
  ): Promise<void> {
    const { table } = projection;
    const definitions = [
      ...createTable(projection, SQLITE_DIALECT),
      ...createTextIndex(projection),
    ];
    await this.#writer.transaction(async (run) => {
      await run([
        ...definitions.map((sql) => ({ sql, rows: [[]] })),
        { sql: resetTallies(SQLITE_DIALECT), rows: [[table]] },
      ]);
      for await (const page of changes) await run(project(page));
      await run([{ sql: saveVersion(SQLITE_DIALECT), rows: [[table, rowVersionOf(projection)]] }]);
    });
  }

  async takeOver(layout: string, projections: readonly Projection[]): Promise<void> {
    const tables = JSON.stringify(projections.map(({ table }) => table));
    await this.#writer.run([
      { sql: 'UPDATE head SET layout = ?', rows: [[layout]] },
      {
        sql: 'DELETE FROM projection WHERE name NOT IN (SELECT value FROM json_each(?))',
        rows: [[tables]],
      },
    ]);
  }

  async completeLayout(): Promise<void> {
    // Nobody else waits for it.
  }

  async raiseVersions(): Promise<void> {
    const { raised } = this.versions;
    await this.#writer.run([{ sql: 'UPDATE head SET record_versions = ?', rows: [[raised]] }]);
    this.versions.see(raised);
  }

  requireNotSuperseded(): void {
    // No other process can have the file open; an older one is refused when it opens the file.
  }

  /** Reads what other threads may have changed with their commits. */
  #readHead(): void {
    const head = this.#guarded(() => this.#statements.readHead.get());
    this.#knownSequence = Number(head?.['sequence']);
    this.#logBytes = Number(head?.['log_bytes']);
    this.versions.see(String(head?.['record_versions']));
  }

  get #logFile(): string {
    return `${this.#file}-wal`;
  }

  #guarded<T>(work: () => T): T {
    return guarded(work, this.faults);
  }

  #isCurrent(projection: Projection): boolean {
    const saved = this.#guarded(() =>
      this.#prepared(loadVersion(SQLITE_DIALECT)).get(projection.table),
    );
    return saved?.['version'] === rowVersionOf(projection);
  }

  async forgetProjections(projections: readonly Projection[]): Promise<void> {
    const rows = projections.map(({ table }) => [table]);
    await this.#writer.run([{ sql: forgetVersion(SQLITE_DIALECT), rows }]);
  }

  #prepared(sql: string): StatementSync {
    const known = this.#compiled.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#compiled.set(sql, statement);
    return statement;
  }
}

/** Changes of the tables of projections. */
const project = (projected: readonly ProjectedChange[]): readonly WriteStatement[] => {
  const byProjection = [...Map.groupBy(projected, ({ projection }) => projection)];
  const puts = byProjection.flatMap(([projection, changes]) => [
    {
      sql: putRows(projection, 1, SQLITE_DIALECT),
      rows: changes.flatMap(({ path, put }) =>
        put.map(({ position, row }) => rowValues(projection, path, position, row)),
      ),
    },
    {
      sql: addTallies(1, SQLITE_DIALECT),
      rows: Array.from(sumTallies(changes), (tally) => [projection.table, ...tally]),
    },
  ]);
  // Grouped and executed last, because any other statement in between makes FTS5 write its buffer
  // as a segment.
  const texts = byProjection.flatMap(([projection, changes]) => [
    ...(projection.search === undefined ? [] : indexTexts(projection, changes)),
    {
      sql: truncateRows(projection, SQLITE_DIALECT),
      rows: changes.flatMap(({ path, truncatedTo }) =>
        truncatedTo === undefined ? [] : [[path, truncatedTo]],
      ),
    },
  ]);
  return [...puts, ...texts];
};
