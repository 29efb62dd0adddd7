/**
 * A store in a PostgreSQL database, shared by any number of replicas. An append holds the lock of
 * the single row in `head`; a read first compares that row (RecordReader).
 */
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode, KeelsonError } from '@keelson/errors';
import { callInSpan } from '@keelson/logging/spans';
import type { CompiledQuery } from 'kysely';
import type { Backend, Batch, GroupCommit } from '../backend.ts';
import type { RecordVersions } from '../collections/record-versions.ts';
import type { OpenCopy, Replacement, StagedRow } from '../copies/copy-rows.ts';
import { type SavedPage, type SavedTrees, TREE_START } from '../merkle/tree-rows.ts';
import { underConstruction } from '../projections/layout.ts';
import { type ProjectedChange, type Projection, rowVersionOf } from '../projections/projection.ts';
import {
  createTable,
  forgetVersion,
  loadTallies,
  loadVersion,
  POSTGRES_DIALECT,
  resetTallies,
  saveVersion,
} from '../projections/projection-sql.ts';
import { postgresTables } from '../projections/table-queries.ts';
import type { Searched } from '../projections/text-search.ts';
import type { PathRange } from '../records/record-path.ts';
import type { CheckedRow, PutRow, Snapshot, StoredRow } from '../records/stored-rows.ts';
import type { PartCount, PartQuery, SubpageIndex, WalEntry } from '../store.ts';
import type { StoreFaults } from '../store-faults.ts';
import type { WalMark } from '../wal/prune.ts';
import { decodeOperations, encodeOperations } from '../wal/wal-codec.ts';
import { bytea, projectedStatements, statementsOf } from './commit-statements.ts';
import type { PostgresConnections } from './postgres-connections.ts';
import { openPostgresCopy, replaceRecords, stageRecords } from './postgres-copy.ts';
import { countByPart, createTextIndex, findByPart } from './postgres-text-search.ts';
import { SharedQuery } from './shared-query.ts';

/** `LIMIT NULL` means no limit. */
const toLimit = (limit: number): number | null => (Number.isFinite(limit) ? limit : null);

interface RecordRow {
  readonly path: Buffer;
  readonly stored: Buffer;
  readonly version: number;
}

const toStoredRow = ({ path, stored, version }: RecordRow): StoredRow => ({
  path: path.toString(),
  stored,
  version,
});

interface HeadRow {
  readonly sequence: number;
  readonly log_bytes: number;
  readonly layout: string;
  readonly record_versions: string;
}

const LOCK_HEAD =
  'SELECT sequence, log_bytes, layout, record_versions FROM head WHERE id = 1 FOR UPDATE';
const READ_SNAPSHOT =
  'SET TRANSACTION ISOLATION LEVEL REPEATABLE READ; SELECT sequence, log_bytes FROM head';

/** Time limit for a standby to take over. */
const OUTCOME_WITHIN_MS = 25_000;
const OUTCOME_EVERY_MS = 200;

const SCAN_ROWS = `SELECT path, stored, version FROM record
  WHERE path >= $1 AND path < $2 ORDER BY path LIMIT $3`;

const scanValues = ({ from, to }: PathRange, limit: number): unknown[] => [
  bytea(from),
  bytea(to),
  toLimit(limit),
];

/** Traces a read of a request; the commit queue traces writes. */
const inSpan = <T>(operation: string, read: () => Promise<T>): Promise<T> =>
  callInSpan(
    `postgresql ${operation}`,
    { 'db.system.name': 'postgresql', 'db.operation.name': operation },
    read,
  );

export class PostgresBackend implements Backend {
  readonly tables = postgresTables<unknown>();
  readonly #connections: PostgresConnections;
  readonly #head: SharedQuery<void, number>;
  readonly #rows: SharedQuery<string, ReadonlyMap<string, StoredRow>>;
  readonly #leaves: SharedQuery<string, ReadonlyMap<string, Uint8Array | undefined>>;
  readonly versions: RecordVersions;
  /** Layout with which this process took over the store; undefined until it writes projections. */
  #ownLayout: string | undefined;
  /** Whether this process builds the tables of its layout. */
  #isBuilding = false;
  #isSuperseded = false;

  constructor(connections: PostgresConnections, versions: RecordVersions) {
    this.#connections = connections;
    this.versions = versions;
    this.faults.retry = async () => {
      await connections.query('UPDATE head SET format = format');
      this.faults.end('full');
    };
    this.#head = new SharedQuery(async () => {
      const [row] = await this.#connections.query<Omit<HeadRow, 'log_bytes'>>(
        'SELECT sequence, layout, record_versions FROM head',
      );
      this.#see(row);
      this.versions.requireKnown();
      return Number(row?.sequence);
    });
    this.#rows = new SharedQuery(async (paths) => {
      const rows = await this.#connections.query<RecordRow>(
        'SELECT path, stored, version FROM record WHERE path = ANY($1::bytea[])',
        [[...new Set(paths)].map(bytea)],
      );
      return new Map(rows.map((row) => [row.path.toString(), toStoredRow(row)]));
    });
    this.#leaves = new SharedQuery(async (paths) => {
      const rows = await this.#connections.query<{ path: Buffer; leaf: Buffer | null }>(
        'SELECT path, leaf FROM record WHERE path = ANY($1::bytea[])',
        [[...new Set(paths)].map(bytea)],
      );
      return new Map(rows.map(({ path, leaf }) => [path.toString(), leaf ?? undefined]));
    });
  }

  /**
   * A process is superseded for as long as the head has another layout. When it has the same again, a process with
   * that layout has built all tables again.
   */
  #see(head: Pick<HeadRow, 'layout' | 'record_versions'> | undefined): void {
    if (head === undefined) return;
    this.versions.see(head.record_versions);
    const own = this.#ownLayout;
    if (own === undefined) return;
    const isOwn =
      head.layout === own || (this.#isBuilding && head.layout === underConstruction(own));
    this.#isSuperseded = !isOwn;
  }

  requireNotSuperseded(): void {
    this.versions.requireKnown();
    if (this.#isSuperseded) throw new KeelsonError('storage.superseded');
  }

  async takeOver(layout: string, projections: readonly Projection[]): Promise<void> {
    await this.#connections.transaction<HeadRow>(LOCK_HEAD, async (client, [head]) => {
      this.#see(head);
      this.versions.requireKnown();
      if (head?.layout === layout) return;
      await client.query('UPDATE head SET layout = $1', [underConstruction(layout)]);
      await client.query('DELETE FROM projection WHERE name <> ALL($1::text[])', [
        projections.map(({ table }) => table),
      ]);
    });
    this.#ownLayout = layout;
    this.#isBuilding = true;
  }

  async completeLayout(layout: string): Promise<void> {
    await this.#connections.query('UPDATE head SET layout = $1 WHERE layout = $2', [
      layout,
      underConstruction(layout),
    ]);
    this.#isBuilding = false;
  }

  async raiseVersions(): Promise<void> {
    await this.#connections.transaction<HeadRow>(LOCK_HEAD, async (client, [head]) => {
      this.#see(head);
      this.requireNotSuperseded();
      await client.query('UPDATE head SET record_versions = $1', [this.versions.raised]);
    });
    await this.headSequence();
  }

  get faults(): StoreFaults {
    return this.#connections.faults;
  }

  headSequence(): Promise<number> {
    return inSpan('head', () => this.#head.join());
  }

  async findRow(path: string): Promise<StoredRow | undefined> {
    return (await inSpan('find', () => this.#rows.join(path))).get(path);
  }

  async findLeaf(path: string): Promise<Uint8Array | undefined> {
    return (await this.#leaves.join(path)).get(path);
  }

  async listSubpage(subpage: SubpageIndex): Promise<readonly string[]> {
    const rows = await this.#connections.query<{ path: Buffer }>(
      'SELECT path FROM record WHERE subpage = $1 ORDER BY path',
      [subpage],
    );
    return rows.map(({ path }) => path.toString());
  }

  async listPaths({ from, to }: PathRange, limit: number): Promise<readonly string[]> {
    const rows = await inSpan('list', () =>
      this.#connections.query<{ path: Buffer }>(
        'SELECT path FROM record WHERE path >= $1 AND path < $2 ORDER BY path LIMIT $3',
        [bytea(from), bytea(to), toLimit(limit)],
      ),
    );
    return rows.map(({ path }) => path.toString());
  }

  async scanRows(range: PathRange, limit: number): Promise<readonly StoredRow[]> {
    const rows = await inSpan('scan', () =>
      this.#connections.query<RecordRow>(SCAN_ROWS, scanValues(range, limit)),
    );
    return rows.map(toStoredRow);
  }

  async scanChecked(range: PathRange, limit: number): Promise<readonly CheckedRow[]> {
    const rows = await this.#connections.query<RecordRow & { readonly leaf: Buffer | null }>(
      `SELECT path, stored, version, leaf FROM record
       WHERE path >= $1 AND path < $2 ORDER BY path LIMIT $3`,
      scanValues(range, limit),
    );
    return rows.map((row) => ({ ...toStoredRow(row), leaf: row.leaf ?? undefined }));
  }

  async restoreRow({ path, stored, version, digest }: PutRow): Promise<void> {
    await this.#connections.query(
      'UPDATE record SET subpage = $1, leaf = $2, stored = $3 WHERE path = $4 AND version = $5',
      [digest?.subpage ?? null, digest?.leaf ?? null, stored, bytea(path), version],
    );
  }

  async readSnapshot(read: (snapshot: Snapshot) => Promise<void>): Promise<void> {
    await this.#connections.transaction<HeadRow>(READ_SNAPSHOT, async (client, [head]) => {
      await read({
        headSequence: Number(head?.sequence),
        scanRows: async (range, limit) => {
          const page = await client.query<RecordRow>(SCAN_ROWS, scanValues(range, limit));
          return page.rows.map(toStoredRow);
        },
      });
    });
  }

  async holdCommits(work: () => Promise<void>): Promise<void> {
    await this.#connections.transaction(LOCK_HEAD, () => work());
  }

  openCopy(): Promise<OpenCopy> {
    return openPostgresCopy(this.#connections);
  }

  async discardStagedExcept(restoration: string): Promise<void> {
    await this.#connections.query('DELETE FROM staged_record WHERE restoration <> $1', [
      restoration,
    ]);
  }

  async stage(restoration: string, rows: readonly StagedRow[]): Promise<void> {
    await stageRecords(this.#connections, restoration, rows);
  }

  async countStaged(restoration: string): Promise<number> {
    const [row] = await this.#connections.query<{ count: number }>(
      'SELECT count(*) AS count FROM staged_record WHERE restoration = $1',
      [restoration],
    );
    return Number(row?.count);
  }

  async replaceRecords(replacement: Replacement): Promise<void> {
    // Takes the lock that every commit takes, so that no commit is in progress on another replica.
    await this.#connections.transaction(LOCK_HEAD, (client) => replaceRecords(client, replacement));
  }

  async firstSequence(): Promise<number | undefined> {
    const [row] = await this.#connections.query<{ sequence: number | null }>(
      'SELECT min(sequence) AS sequence FROM wal',
    );
    return row?.sequence ?? undefined;
  }

  async loadEntries(sequence: number, limit: number): Promise<readonly WalEntry[]> {
    const rows = await this.#connections.query<{
      sequence: number;
      committed_at_ms: number;
      operations: Buffer;
    }>(
      `SELECT sequence, committed_at_ms, operations FROM wal
       WHERE sequence > $1 ORDER BY sequence LIMIT $2`,
      [sequence, limit],
    );
    return rows.map((row) => ({
      sequence: row.sequence,
      committedAtMs: row.committed_at_ms,
      operations: decodeOperations(row.operations),
    }));
  }

  async commit({ prepare, visible }: GroupCommit): Promise<void> {
    let batch: Batch | undefined;
    const write = (): Promise<void> =>
      this.#connections.transaction<HeadRow>(LOCK_HEAD, async (_client, [head]) => {
        this.#see(head);
        this.requireNotSuperseded();
        batch = await prepare(Number(head?.sequence));
        return batch && statementsOf(batch, Number(head?.log_bytes));
      });
    try {
      await write().catch((error: unknown) => {
        // The connection was lost before the commit was sent, so nothing is written.
        if (!hasCode(error, 'storage.unavailable')) throw error;
        return write();
      });
    } catch (error) {
      if (!hasCode(error, 'storage.outcome_unknown') || batch === undefined) throw error;
      if (!(await this.#hasCommitted(batch)))
        throw new KeelsonError('storage.conflict', {}, { cause: error });
    }
    if (batch === undefined) return;
    this.faults.end('full');
    visible();
  }

  /**
   * Looks up in the log whether an unanswered commit took effect. Locking the head row waits for that commit if it
   * is still in progress, and the commit of this look-up waits until the standbys have everything before it.
   * @throws KeelsonError `storage.outcome_unknown` when no server takes writes for too long
   */
  async #hasCommitted({ entries }: Batch): Promise<boolean> {
    const newest = entries.at(-1);
    const { sequence = 0, operations = [] } = newest ?? {};
    const written = encodeOperations(operations);
    const giveUpAtMs = performance.now() + OUTCOME_WITHIN_MS;
    for (;;) {
      let found: Buffer | undefined;
      try {
        await this.#connections.transaction(LOCK_HEAD, async (client) => {
          const { rows } = await client.query<{ operations: Buffer }>(
            'SELECT operations FROM wal WHERE sequence = $1',
            [sequence],
          );
          found = rows[0]?.operations;
        });
        return found?.equals(written) === true;
      } catch (error) {
        if (performance.now() > giveUpAtMs)
          throw new KeelsonError('storage.outcome_unknown', {}, { cause: error });
        await delay(OUTCOME_EVERY_MS);
      }
    }
  }

  async loadMark(sequence: number): Promise<WalMark | undefined> {
    const [mark] = await this.#connections.query<WalMark>(
      `SELECT committed_at_ms AS "committedAtMs", end_bytes AS "endBytes"
       FROM wal WHERE sequence = $1`,
      [sequence],
    );
    return mark;
  }

  async deleteEntriesBefore(sequence: number): Promise<void> {
    await this.#connections.query('DELETE FROM wal WHERE sequence < $1', [sequence]);
  }

  async loadTrees(): Promise<SavedTrees> {
    // A single statement, so that position and pages are consistent.
    const rows = await this.#connections.query<{ position: number } & Partial<SavedPage>>(
      `SELECT tree_position AS position, tree, page, subpage_digests AS "subpageDigests"
       FROM head LEFT JOIN tree_page ON true`,
    );
    return {
      position: rows[0]?.position ?? TREE_START,
      pages: rows.flatMap(({ tree, page, subpageDigests }) =>
        tree != null && page != null && subpageDigests != null
          ? [{ tree, page, subpageDigests }]
          : [],
      ),
    };
  }

  async saveTrees(trees: SavedTrees & { readonly expectedPosition: number }): Promise<boolean> {
    let isSaved = false;
    await this.#connections.transaction(LOCK_HEAD, async (client) => {
      const { rowCount } = await client.query(
        'UPDATE head SET tree_position = $1 WHERE tree_position = $2',
        [trees.position, trees.expectedPosition],
      );
      isSaved = rowCount === 1;
      if (isSaved)
        await client.query(
          `INSERT INTO tree_page (tree, page, subpage_digests)
           SELECT * FROM unnest($1::varchar[], $2::bigint[], $3::bytea[])
           ON CONFLICT (tree, page) DO UPDATE SET subpage_digests = excluded.subpage_digests`,
          [
            trees.pages.map(({ tree }) => tree),
            trees.pages.map(({ page }) => page),
            trees.pages.map(({ subpageDigests }) => Buffer.from(subpageDigests)),
          ],
        );
    });
    return isSaved;
  }

  select<Row>({ sql, parameters }: CompiledQuery<Row>): Promise<readonly Row[]> {
    return inSpan('select', () => this.#connections.query<Row & object>(sql, [...parameters]));
  }

  findByPart(searched: Searched, part: PartQuery): Promise<readonly string[] | undefined> {
    return inSpan('search', () =>
      findByPart((sql, values) => this.#connections.query(sql, values), searched, part),
    );
  }

  countByPart(searched: Searched, part: PartCount): Promise<number | undefined> {
    return inSpan('search', () =>
      countByPart((sql, values) => this.#connections.query(sql, values), searched, part),
    );
  }

  async loadTallies(table: string, keys: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const rows = await this.#connections.query<{ tally_key: string; row_count: number }>(
      loadTallies(keys.length, POSTGRES_DIALECT),
      [table, ...keys],
    );
    return new Map(rows.map((row) => [row.tally_key, Number(row.row_count)]));
  }

  async rebuildProjection(
    projection: Projection,
    changes: AsyncIterable<readonly ProjectedChange[]>,
  ): Promise<void> {
    const { table } = projection;
    const version = rowVersionOf(projection);
    await this.#connections.transaction<HeadRow>(LOCK_HEAD, async (client, [head]) => {
      this.#see(head);
      this.requireNotSuperseded();
      const { rows } = await client.query(loadVersion(POSTGRES_DIALECT), [table]);
      if (rows[0]?.version !== version) {
        const tables = createTable(projection, POSTGRES_DIALECT);
        for (const statement of [...tables, ...createTextIndex(projection)])
          await client.query(statement);
        await client.query(resetTallies(POSTGRES_DIALECT), [table]);
        for await (const page of changes)
          for (const { sql, values } of projectedStatements(page))
            await client.query(sql, [...values]);
        await client.query(saveVersion(POSTGRES_DIALECT), [table, version]);
      }
    });
  }

  async forgetProjections(projections: readonly Projection[]): Promise<void> {
    for (const { table } of projections)
      await this.#connections.query(forgetVersion(POSTGRES_DIALECT), [table]);
  }

  async sizeBytes(): Promise<number> {
    const [row] = await this.#connections.query<{ bytes: string }>(
      'SELECT pg_database_size(current_database()) AS bytes',
    );
    return Number(row?.bytes);
  }

  async logBytes(): Promise<undefined> {
    return undefined;
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}
