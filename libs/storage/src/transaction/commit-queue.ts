/**
 * Group commit. Transactions that finished their bodies wait here; all that wait when the previous
 * group is on disk become one database transaction with one flush, each with its own log entry. The
 * transaction refused most often goes first, so that contention for a record is fair.
 */
import { setImmediate } from 'node:timers/promises';
import type { Clock } from '@keelson/clock';
import { hasCode, isDamage } from '@keelson/errors';
import { callInSpan } from '@keelson/logging/spans';
import type { Backend, Batch } from '../backend.ts';
import { currentPath } from '../collections/moves.ts';
import { type Projector, type RecordRows, withRows } from '../projections/projector.ts';
import type { RecordReader } from '../reading/record-reader.ts';
import { digestRecord, treeTypeOf } from '../records/record-digest.ts';
import { prefixesOf } from '../records/record-path.ts';
import type { CommittedEntry, CommittedOperation, RowChange } from '../records/stored-rows.ts';
import type { WalEntry, WalOperation } from '../store.ts';
import type { BufferedTransaction } from './buffered-transaction.ts';

const MAX_GROUP_SIZE = 256;
const MAX_GROUP_BYTES = 16 * 1024 * 1024;

export interface CommitRequest {
  readonly transaction: BufferedTransaction;
  /** The writes, encrypted for storage. */
  readonly operations: readonly WalOperation[];
  /** The decrypted values of `operations`, as far as they are known. */
  readonly values: ReadonlyMap<string, Uint8Array | undefined>;
  /** `RecordReader.gaps` when the writes were encrypted. */
  readonly gaps: number;
  /** Number of earlier refusals. */
  readonly refusals: number;
}

interface Waiting extends CommitRequest {
  readonly settle: (isCommitted: boolean) => void;
  readonly fail: (error: unknown) => void;
}

interface Accepted {
  readonly waiting: Waiting;
  readonly entry: WalEntry;
  readonly rows: RowsAfter;
}

/**
 * Rows of the records that a transaction writes, or of which it writes parts; undefined for one that nothing can be
 * computed from.
 */
type RowsAfter = ReadonlyMap<string, RecordRows | undefined>;

/** Decrypted values of the written records that tables follow from. */
type WrittenValues = Map<string, Uint8Array | undefined>;

export interface CommitQueueOptions {
  readonly backend: Backend;
  readonly reader: RecordReader;
  readonly clock: Clock;
  readonly projector: Projector;
  /** Called with the entries of a group when it is visible. */
  readonly onCommitted: (entries: readonly CommittedEntry[]) => void;
}

export class CommitQueue {
  readonly #options: CommitQueueOptions;
  #waiting: Waiting[] = [];
  readonly #jobs: (() => Promise<void>)[] = [];
  #isRunning = false;

  constructor(options: CommitQueueOptions) {
    this.#options = options;
  }

  /**
   * @returns once it is on disk: true; or false when something the transaction read has changed
   * @throws when the database refused the whole group
   */
  commit(request: CommitRequest): Promise<boolean> {
    return callInSpan('database commit', { 'db.operation.name': 'commit' }, () => {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>();
      this.#waiting.push({ ...request, settle: resolve, fail: reject });
      if (!this.#isRunning) void this.#run();
      return promise;
    });
  }

  /** Runs `work` while no group is being written. */
  async exclusively(work: () => Promise<void>): Promise<void> {
    const done = Promise.withResolvers<void>();
    this.#jobs.push(() => work().then(done.resolve, done.reject));
    if (!this.#isRunning) void this.#run();
    await done.promise;
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    // Lets other transactions from this turn of the event loop join the first group.
    await setImmediate();
    while (this.#waiting.length + this.#jobs.length > 0) {
      const job = this.#jobs.shift();
      await (job?.() ?? this.#commitGroup(this.#takeGroup()));
    }
    this.#isRunning = false;
  }

  #takeGroup(): Waiting[] {
    this.#waiting.sort((a, b) => b.refusals - a.refusals);
    let count = 0;
    for (let bytes = 0; count < Math.min(this.#waiting.length, MAX_GROUP_SIZE); count += 1) {
      for (const { stored } of this.#waiting[count]?.operations ?? []) bytes += stored?.length ?? 0;
      if (bytes > MAX_GROUP_BYTES && count > 0) break;
    }
    return this.#waiting.splice(0, count);
  }

  async #commitGroup(group: readonly Waiting[]): Promise<void> {
    const { backend, reader, onCommitted } = this.#options;
    let accepted: Accepted[] = [];
    let entries: readonly CommittedEntry[] = [];
    try {
      await backend.commit({
        prepare: async (head) => {
          // Both at once, because a database holds its lock meanwhile.
          const [leaves] = await Promise.all([
            this.#leavesBefore(group),
            reader.catchUpFinally(head),
          ]);
          accepted = await this.#accept(group, head);
          const batch = await this.#toBatch(accepted, leaves);
          entries = batch?.entries ?? [];
          return batch;
        },
        visible: () => {
          for (const [at, entry] of entries.entries())
            reader.applyOwn(entry, accepted[at]?.waiting.values ?? new Map());
        },
      });
    } catch (error) {
      for (const { settle, fail } of group)
        if (hasCode(error, 'storage.conflict')) settle(false);
        else fail(error);
      return;
    }
    const committed = new Set(accepted.map(({ waiting }) => waiting));
    for (const waiting of group) waiting.settle(committed.has(waiting));
    onCommitted(entries);
  }

  /**
   * The transactions whose reads are still current, also after those accepted before them. One from whose
   * records a projection cannot compute rows fails alone.
   */
  async #accept(group: readonly Waiting[], head: number): Promise<Accepted[]> {
    const committedAtMs = this.#options.clock.nowMs();
    const accepted: Accepted[] = [];
    const changed = new Set<string>();
    const written: WrittenValues = new Map();
    for (const waiting of group) {
      const { transaction, operations, gaps } = waiting;
      if (gaps !== this.#options.reader.gaps) continue;
      if (!transaction.isCurrent() || transaction.hasReadAny(changed)) continue;
      const own: WrittenValues = new Map();
      const rows = await this.#rowsAfter(waiting, own, written).catch(waiting.fail);
      if (rows === undefined) continue;
      for (const [path, value] of own) written.set(path, value);
      const sequence = head + accepted.length + 1;
      for (const { path } of operations) {
        changed.add(path);
        for (const prefix of prefixesOf(path)) changed.add(prefix);
      }
      accepted.push({ waiting, entry: { sequence, committedAtMs, operations }, rows });
    }
    return accepted;
  }

  /**
   * The rows of each record that a transaction writes, in the tables that it concerns. The value of a record
   * from another store may be damaged, or of a version that a projection cannot read; the tables then keep the
   * rows of its former version, and the record is reported.
   * @param own receives the values of the transaction
   * @param earlier values of the transactions before it in the group
   */
  async #rowsAfter(
    { operations, values }: Waiting,
    own: WrittenValues,
    earlier: WrittenValues,
  ): Promise<RowsAfter> {
    const { projector, reader } = this.#options;
    const rows = new Map<string, RecordRows | undefined>();
    for (const { path, stored } of operations) {
      if (!projector.isConcernedBy(path)) continue;
      if (values.has(path)) own.set(path, values.get(path));
      else
        try {
          own.set(path, stored && (await reader.decryptValue(path, stored)));
        } catch (error) {
          if (!isDamage(error)) throw error;
          rows.set(currentPath(path), undefined);
        }
    }
    const read = async (path: string): Promise<Uint8Array | undefined> => {
      if (own.has(path)) return own.get(path);
      if (earlier.has(path)) return earlier.get(path);
      return (await reader.read(path, reader.position))?.value;
    };
    for (const path of own.keys())
      try {
        for (const [whole, after] of await projector.rowsOf(path, read))
          rows.set(whole, withRows(rows.get(whole), after));
      } catch (error) {
        if (values.has(path)) throw error;
        reader.reportUnprojected(path, error);
        rows.set(currentPath(path), undefined);
      }
    return rows;
  }

  async #toBatch(
    accepted: readonly Accepted[],
    leaves: ReadonlyMap<string, Leaf>,
  ): Promise<Batch | undefined> {
    if (accepted.length === 0) return undefined;
    const { projector } = this.#options;
    const changes = new Map<string, RowChange>();
    const after = new Map<string, RecordRows>();
    const created = new Set<string>();
    const entries: CommittedEntry[] = [];
    for (const { entry, rows } of accepted) {
      const operations: CommittedOperation[] = [];
      for (const { path, stored } of entry.operations) {
        const tree = treeTypeOf(path);
        const replaced = tree && leafAfter(changes.get(path), leaves.get(path));
        if (tree !== undefined && replaced === undefined && !changes.has(path)) created.add(path);
        const digest = tree && stored ? digestRecord(path, stored) : undefined;
        operations.push({ path, stored, replaced, digest });
        changes.set(
          path,
          stored ? { path, stored, version: entry.sequence, digest } : { path, stored },
        );
      }
      for (const [path, ofRecord] of rows)
        if (ofRecord === undefined) after.delete(path);
        else after.set(path, withRows(after.get(path), ofRecord));
      entries.push({ ...entry, operations });
    }
    const projected = await projector.changesOf(after, created);
    return { entries, changes: [...changes.values()], projected };
  }

  /** The stored leaves of all records that the group would change, looked up together. */
  async #leavesBefore(group: readonly Waiting[]): Promise<ReadonlyMap<string, Leaf>> {
    const paths = new Set(group.flatMap(({ operations }) => operations.map(({ path }) => path)));
    const inTrees = [...paths].filter((path) => treeTypeOf(path) !== undefined);
    const leaves = inTrees.map(
      async (path): Promise<readonly [string, Leaf]> => [
        path,
        await this.#options.backend.findLeaf(path),
      ],
    );
    return new Map(await Promise.all(leaves));
  }
}

type Leaf = Uint8Array | undefined;

/** Leaf of a record after the changes of the group so far. @param stored the leaf before the group */
const leafAfter = (inGroup: RowChange | undefined, stored: Leaf): Leaf => {
  if (inGroup === undefined) return stored;
  return inGroup.stored === undefined ? undefined : inGroup.digest?.leaf;
};
