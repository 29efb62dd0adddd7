/**
 * Reads at a known position of the log. Before anything is served the store's head is compared; when
 * another replica moved it, the entries in between are applied to the cache first, so a cached record
 * is as current as one from the database. Nothing expires by time.
 */
import { hasCode, KeelsonError } from '@keelson/errors';
import type { Backend, StoredRow } from './backend.ts';
import type { Barrier } from './barrier/barrier.ts';
import { KEYRING_PATH } from './barrier/keyring.ts';
import type { CacheShares } from './cache-shares.ts';
import { ListCache } from './list-cache.ts';
import { listNames } from './listing.ts';
import { RecordCache } from './record-cache.ts';
import type { PathRange } from './record-path.ts';
import { scopeOf } from './record-path.ts';
import { StoredRecord } from './records/stored-record.ts';
import type { WalEntry } from './store.ts';
import { RecentChanges } from './transaction/recent-changes.ts';

/** A replica further behind than this forgets its cache instead of reading the entries. */
const MAX_CATCH_UP_ENTRIES = 1000;

export class RecordReader {
  readonly changes: RecentChanges;
  readonly #backend: Backend;
  readonly #barrier: Barrier;
  readonly #cache: RecordCache;
  readonly #lists: ListCache;
  #position: number;
  #catchingUp: Promise<void> = Promise.resolve();

  constructor(
    backend: Backend,
    barrier: Barrier,
    headSequence: number,
    { recordBytes, changeBytes }: CacheShares,
  ) {
    this.#backend = backend;
    this.#barrier = barrier;
    this.#cache = new RecordCache(recordBytes);
    this.changes = new RecentChanges(headSequence, changeBytes);
    this.#lists = new ListCache(this.changes);
    this.#position = headSequence;
  }

  /** Newest commit this replica has applied, which is on disk. */
  get position(): number {
    return this.#position;
  }

  /** Brings this replica to the head and returns the position; reads after it are linearizable. */
  async refresh(): Promise<number> {
    const head = await this.#backend.headSequence();
    if (head > this.#position) await this.catchUp(head);
    return this.#position;
  }

  /** Applies the entries of other replicas up to `headSequence`. */
  async catchUp(headSequence: number): Promise<void> {
    const turn = this.#catchingUp.then(() => this.#catchUpInTurn(headSequence));
    this.#catchingUp = turn.catch(() => undefined);
    await turn;
  }

  async #catchUpInTurn(headSequence: number): Promise<void> {
    const from = this.#position;
    if (headSequence <= from) return;
    const count = headSequence - from;
    const entries =
      count > MAX_CATCH_UP_ENTRIES ? [] : await this.#backend.loadEntries(from, count);
    if (entries.length === count) {
      for (const entry of entries) this.#forgetChanged(entry);
    } else {
      this.#cache.clear();
      this.changes.reset(headSequence);
    }
    this.#position = headSequence;
  }

  #forgetChanged(entry: WalEntry): void {
    const { sequence, operations } = entry;
    this.changes.add(
      sequence,
      operations.map(({ path }) => path),
    );
    for (const { path } of operations) this.#cache.delete(path);
  }

  /**
   * A local commit became visible. A record enters the cache by being read: what is only ever written would
   * drive out what is used.
   */
  applyOwn(entry: WalEntry, values: ReadonlyMap<string, Uint8Array | undefined>): void {
    const { sequence, operations } = entry;
    // Applied already, and perhaps others on top, where this replica caught up before it heard back.
    if (sequence <= this.#position) return;
    this.changes.add(
      sequence,
      operations.map(({ path }) => path),
    );
    for (const { path } of operations) {
      const value = values.get(path);
      if (value === undefined) this.#cache.delete(path);
      else if (this.#cache.has(path)) this.#cache.put(new StoredRecord(path, value, sequence));
    }
    this.#position = sequence;
  }

  /** @param position what `refresh` returned */
  async read(path: string, position: number): Promise<StoredRecord | undefined> {
    this.#requireUnsealed(path);
    const cached = this.#cache.find(path);
    if (cached !== undefined) return cached;
    const row = await this.#backend.findRow(path);
    if (row === undefined) return undefined;
    const record = await this.#decrypt(row);
    if (!this.changes.hasChangedSince(path, position)) this.#cache.put(record);
    return record;
  }

  /**
   * All names directly below a prefix.
   * @param position what `refresh` returned
   */
  async list(prefix: string, position: number): Promise<readonly string[]> {
    const cached = this.#lists.find(prefix, position);
    if (cached !== undefined) return cached;
    const names = await listNames(this.listPaths, prefix);
    if (!this.changes.hasChangedSince(prefix, position)) this.#lists.put(prefix, names, position);
    return names;
  }

  readonly listPaths = (range: PathRange, limit: number): Promise<readonly string[]> =>
    this.#backend.listPaths(range, limit);

  readonly scan = async (range: PathRange, limit: number): Promise<readonly StoredRecord[]> => {
    const records: StoredRecord[] = [];
    for (const row of await this.#backend.scanRows(range, limit)) {
      this.#requireUnsealed(row.path);
      records.push(await this.#decrypt(row));
    }
    return records;
  };

  async #decrypt({ path, stored, version }: StoredRow): Promise<StoredRecord> {
    return new StoredRecord(path, await this.decryptValue(path, stored), version);
  }

  async decryptValue(path: string, stored: Uint8Array): Promise<Uint8Array> {
    if (scopeOf(path) === 'node') return stored;
    try {
      return this.#barrier.decrypt(path, stored);
    } catch (error) {
      if (!hasCode(error, 'barrier.unknown_term')) throw error;
    }
    // Another replica has rotated the keyring since this one read it.
    const keyring = await this.#backend.findRow(KEYRING_PATH);
    if (keyring !== undefined) this.#barrier.adopt(keyring.stored);
    return this.#barrier.decrypt(path, stored);
  }

  /** A sealed store keeps no plaintext and serves none. */
  #requireUnsealed(path: string): void {
    if (!this.#barrier.isSealed || scopeOf(path) === 'node') return;
    this.#cache.clear();
    throw new KeelsonError('storage.sealed');
  }
}
