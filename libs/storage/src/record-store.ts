/** The Store over any Backend: encryption, optimistic transactions, group commit, cache and log. */
import type { Clock } from '@keelson/clock';
import { isDamage, KeelsonError } from '@keelson/errors';
import type { Kysely } from 'kysely';
import type { Backend } from './backend.ts';
import type { Barrier } from './barrier/barrier.ts';
import { formerPath } from './collections/moves.ts';
import { storeCopies } from './copies/store-copies.ts';
import { TreeKeeper } from './merkle/tree-keeper.ts';
import type { Projection } from './projections/projection.ts';
import { Projector } from './projections/projector.ts';
import type { Searched } from './projections/text-search.ts';
import type { CacheShares } from './reading/cache-shares.ts';
import { RecordReader } from './reading/record-reader.ts';
import { storedReadsOf } from './reading/stored-reads.ts';
import { requireRecordPath, scopeOf } from './records/record-path.ts';
import type {
  AppliedPosition,
  ApplyOptions,
  Contention,
  DamageListener,
  Fence,
  ListOptions,
  Merkle,
  PartCount,
  PartQuery,
  RecordDecoder,
  ScanOptions,
  Store,
  StoreCopies,
  StoredReads,
  StoredRecord,
  TableQuery,
  Transaction,
  TransactOptions,
  WalEntry,
  WalOperation,
  WalReader,
} from './store.ts';
import type { FaultListener, StoreFault } from './store-faults.ts';
import { BufferedTransaction } from './transaction/buffered-transaction.ts';
import { CommitQueue } from './transaction/commit-queue.ts';
import { holdFence } from './transaction/fence.ts';
import {
  decideFreshEntries,
  findAppliedPosition,
  writeAppliedPosition,
} from './wal/applied-entries.ts';
import type { LogGrowth } from './wal/log-growth.ts';
import { WalLog } from './wal/wal-log.ts';

/**
 * Each refusal of a run means that another commit succeeded, so only many simultaneous changes of the same record
 * reach this limit.
 */
const MAX_RUNS = 200;

export interface RecordStoreOptions {
  readonly backend: Backend;
  readonly barrier: Barrier;
  readonly clock: Clock;
  readonly projections: readonly Projection[];
  readonly cache: CacheShares;
  /** Woken when the log may have grown, here or on another replica. */
  readonly grown: LogGrowth;
}

export class RecordStore implements Store {
  readonly wal: WalReader;
  readonly merkle: Merkle;
  readonly stored: StoredReads;
  readonly copies: StoreCopies;
  readonly #backend: Backend;
  readonly #barrier: Barrier;
  readonly #reader: RecordReader;
  readonly #queue: CommitQueue;
  readonly #projector: Projector;
  readonly #trees: TreeKeeper;
  #contention: Contention = { repeats: 0, conflicts: 0 };
  #preparation: Promise<void> | undefined;
  readonly #closed = new AbortController();
  /** Transactions in progress, counted: a Set of them, of which old copies survive, would keep their garbage. */
  #running = 0;
  readonly #drained = Promise.withResolvers<void>();

  /** @param headSequence position of the log when the backend was opened */
  constructor(options: RecordStoreOptions, headSequence: number) {
    const { backend, barrier, clock, projections, cache, grown } = options;
    this.#backend = backend;
    this.#barrier = barrier;
    this.#reader = new RecordReader(backend, barrier, headSequence, cache);
    const projector = new Projector(backend, this.#reader, projections);
    // The records may come from a restored copy, for which the tables are not built yet.
    this.#reader.onGap = () => projector.checkAgain();
    this.#queue = new CommitQueue({
      backend,
      reader: this.#reader,
      clock,
      projector,
      onCommitted: (entries) => {
        grown.wake();
        this.#trees.note(entries);
        // A failure only delays saving: the next start counts from the position that was saved
        // last.
        this.#trees.follow(this.#reader.position).catch(() => undefined);
      },
    });
    this.#projector = projector;
    const head = () => this.#reader.refresh();
    const exclusively = (work: () => Promise<void>) => this.#queue.exclusively(work);
    const opens = async (path: string, stored: Uint8Array): Promise<boolean> => {
      try {
        await this.#reader.decryptValue(path, stored);
        return true;
      } catch (error) {
        if (!isDamage(error)) throw error;
        return false;
      }
    };
    const announce = async (restored: readonly WalOperation[]): Promise<void> => {
      for (const row of restored) await this.#transact((tx) => tx.putStored(row));
    };
    this.#trees = new TreeKeeper({ backend, head, exclusively, opens, announce });
    this.merkle = this.#trees;
    this.stored = storedReadsOf(backend, () => this.#requireOpen());
    this.copies = storeCopies({
      rows: backend,
      clock,
      versions: backend.versions,
      exclusively,
      head,
      onReplaced: async (sequence) => {
        await this.#reader.catchUp(sequence);
        grown.wake();
      },
    });
    const closed = this.#closed.signal;
    const beforePruning = () => this.#trees.save();
    this.wal = new WalLog({
      backend,
      grown,
      clock,
      closed,
      head,
      exclusively,
      beforePruning,
      hasChangedSince: (keys, position) => this.hasChangedSince(keys, position),
    });
  }

  async read(path: string): Promise<StoredRecord | undefined> {
    this.#requireOpen();
    requireRecordPath(path);
    return this.#reader.read(path, await this.#reader.refresh());
  }

  async readAs<T>(path: string, decoder: RecordDecoder<T>): Promise<T | undefined> {
    this.#requireOpen();
    requireRecordPath(path);
    const record = await this.#reader.read(path, await this.#reader.refresh());
    return record && this.#reader.decode(record, decoder);
  }

  async list(prefix: string, options?: ListOptions): Promise<readonly string[]> {
    return this.transact((tx) => tx.list(prefix, options));
  }

  async scan(prefix: string, options: ScanOptions = {}): Promise<readonly StoredRecord[]> {
    return this.transact((tx) => tx.scan(prefix, options));
  }

  async scanAs<T>(
    prefix: string,
    decoder: RecordDecoder<T>,
    options: ScanOptions = {},
  ): Promise<readonly (readonly [string, T])[]> {
    return this.transact((tx) => tx.scanAs(prefix, decoder, options));
  }

  async transact<T>(
    body: (tx: Transaction) => T | Promise<T>,
    { fence }: TransactOptions = {},
  ): Promise<T> {
    return this.#transact(body, fence);
  }

  async #transact<T>(body: (tx: BufferedTransaction) => T | Promise<T>, fence?: Fence): Promise<T> {
    this.#requireOpen();
    this.#running += 1;
    try {
      return await this.#runUntilSettled(body, fence);
    } finally {
      this.#running -= 1;
      if (this.#running === 0 && this.#closed.signal.aborted) this.#drained.resolve();
    }
  }

  async #runUntilSettled<T>(
    body: (tx: BufferedTransaction) => T | Promise<T>,
    fence: Fence | undefined,
  ): Promise<T> {
    for (let refusals = 0; refusals < MAX_RUNS; refusals += 1) {
      if (refusals > 0) this.#count('repeats');
      const run = new BufferedTransaction(this.#reader, this.#backend.versions);
      let result: T;
      try {
        if (fence !== undefined) await holdFence(run, fence);
        result = await body(run);
      } catch (error) {
        // The body may have failed because its reads were inconsistent; in that case it runs again.
        if (await this.#isStillCurrent(run)) throw error;
        continue;
      } finally {
        run.end();
      }
      if (await this.#settle(run, refusals)) return result;
    }
    this.#count('conflicts');
    throw new KeelsonError('storage.conflict');
  }

  #count(what: keyof Contention): void {
    this.#contention = { ...this.#contention, [what]: this.#contention[what] + 1 };
  }

  contention(): Contention {
    return this.#contention;
  }

  select<Tables, Row>(build: (tables: Kysely<Tables>) => TableQuery<Row>): Promise<readonly Row[]> {
    return this.#readProjections(() =>
      this.#backend.select(build(this.#backend.tables as unknown as Kysely<Tables>).compile()),
    );
  }

  async findByPart(table: string, query: PartQuery): Promise<readonly string[] | undefined> {
    const { prefix } = this.#projector.require(table).source;
    const searched = this.#requireSearched(table);
    const paths = await this.#readProjections(() => this.#backend.findByPart(searched, query));
    return paths?.map((path) => path.slice(prefix.length));
  }

  async countByPart(table: string, query: PartCount): Promise<number | undefined> {
    const searched = this.#requireSearched(table);
    return this.#readProjections(() => this.#backend.countByPart(searched, query));
  }

  #requireSearched(table: string): Searched {
    const { search } = this.#projector.require(table);
    if (search === undefined) throw new Error(`${table} has no searched text`);
    return { table, search };
  }

  async tallies(table: string, keys: readonly string[]): Promise<readonly number[]> {
    if (keys.length === 0) return [];
    this.#projector.require(table);
    const counts = await this.#readProjections(() => this.#backend.loadTallies(table, keys));
    return keys.map((key) => counts.get(key) ?? 0);
  }

  async #readProjections<T>(read: () => Promise<T>): Promise<T> {
    this.#requireOpen();
    if (this.#barrier.isSealed) throw new KeelsonError('storage.sealed');
    await this.#prepareProjections();
    this.#projector.requireNotSuperseded();
    try {
      return await read();
    } catch (error) {
      // The tables may be those of another version by now.
      await this.requireUsable();
      throw error;
    }
  }

  async rebuildProjections(): Promise<void> {
    await this.#queue.exclusively(() => this.#projector.rebuildAll());
  }

  async findDamagedProjections(): Promise<readonly string[]> {
    await this.#prepareProjections();
    let damaged: readonly string[] = [];
    await this.#queue.exclusively(async () => {
      damaged = await this.#projector.findDamaged();
    });
    return damaged;
  }

  async appliedSequence(source: string): Promise<number> {
    return (await this.appliedPosition(source))?.sequence ?? 0;
  }

  async appliedPosition(source: string): Promise<AppliedPosition | undefined> {
    return findAppliedPosition(this, source);
  }

  async applyEntries(
    source: string,
    entries: readonly WalEntry[],
    { fence, cursor }: ApplyOptions = {},
  ): Promise<void> {
    await this.#transact(async (tx) => {
      const applied = await findAppliedPosition(tx, source);
      const fresh = decideFreshEntries(entries, applied?.sequence ?? 0);
      for (const { operations } of fresh)
        for (const operation of operations) tx.putStored(operation);
      const last = fresh.at(-1);
      if (last === undefined) return;
      const { sequence } = last;
      writeAppliedPosition(tx, source, { sequence, cursor: cursor ?? applied?.cursor ?? 0 });
    }, fence);
  }

  async applyRecords(
    source: string,
    operations: readonly WalOperation[],
    { fence, cursor = 0, sequence }: ApplyOptions & { readonly sequence?: number } = {},
  ): Promise<void> {
    await this.#transact((tx) => {
      for (const operation of operations) tx.putStored(operation);
      if (sequence !== undefined) writeAppliedPosition(tx, source, { sequence, cursor });
    }, fence);
  }

  async position(): Promise<number> {
    this.#requireOpen();
    return this.#reader.refresh();
  }

  pendingUpgrades(): readonly string[] {
    return this.#backend.versions.pending;
  }

  async raiseVersions(): Promise<void> {
    this.#requireOpen();
    await this.#backend.raiseVersions();
  }

  async requireUsable(): Promise<void> {
    await this.position();
    this.#projector.requireNotSuperseded();
  }

  hasChangedSince(pathsOrPrefixes: readonly string[], position: number): boolean {
    const { changes } = this.#reader;
    return pathsOrPrefixes.some((key) => {
      const former = formerPath(key);
      return (
        changes.hasChangedSince(key, position) ||
        (former !== undefined && changes.hasChangedSince(former, position))
      );
    });
  }

  damagedPaths(): readonly string[] {
    return this.#reader.damaged.paths;
  }

  onDamaged(listener: DamageListener): void {
    this.#reader.damaged.onFound = listener;
  }

  faults(): readonly StoreFault[] {
    return this.#backend.faults.present;
  }

  onFault(listener: FaultListener): void {
    this.#backend.faults.onChange = listener;
  }

  encrypt(path: string, value: Uint8Array): Uint8Array {
    this.#requireOpen();
    requireRecordPath(path);
    return this.#barrier.encrypt(path, value);
  }

  async decrypt(path: string, stored: Uint8Array): Promise<Uint8Array> {
    this.#requireOpen();
    return this.#reader.decryptValue(path, stored);
  }

  async sizeBytes(): Promise<number> {
    this.#requireOpen();
    return this.#backend.sizeBytes();
  }

  async logBytes(): Promise<number | undefined> {
    this.#requireOpen();
    return this.#backend.logBytes();
  }

  async close(): Promise<void> {
    if (this.#closed.signal.aborted) return;
    this.#closed.abort();
    if (this.#running > 0) await this.#drained.promise;
    await this.#trees.save().catch(() => undefined);
    await this.#backend.close();
  }

  /** Whether the run took effect; false: something it read has changed. */
  async #settle(run: BufferedTransaction, refusals: number): Promise<boolean> {
    if (run.paths.length > 0) {
      if (run.paths.some((path) => this.#needsTables(path))) await this.#prepareProjections();
      const { gaps } = this.#reader;
      const operations = run.operations((path, value) => this.#barrier.encrypt(path, value));
      return this.#queue.commit({
        transaction: run,
        operations,
        values: run.writes,
        gaps,
        refusals,
      });
    }
    return this.#isStillCurrent(run);
  }

  /**
   * Tables of another version may follow from records that concern none of this process, so it takes the store over
   * before it writes. While the barrier is sealed, it can only write records that no table follows from.
   */
  #needsTables(path: string): boolean {
    if (this.#projector.isConcernedBy(path)) return true;
    return scopeOf(path) !== 'node' && !this.#barrier.isSealed;
  }

  async #isStillCurrent(run: BufferedTransaction): Promise<boolean> {
    await this.#reader.refresh();
    return run.isCurrent();
  }

  /** Projections are checked late: building one needs the barrier, which opens after the store. */
  async #prepareProjections(): Promise<void> {
    if (this.#projector.isReady) return;
    this.#preparation ??= this.#queue
      .exclusively(() => this.#projector.rebuild())
      .finally(() => {
        this.#preparation = undefined;
      });
    await this.#preparation;
  }

  #requireOpen(): void {
    if (this.#closed.signal.aborted) throw new KeelsonError('storage.unavailable');
  }
}
