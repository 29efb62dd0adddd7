/**
 * Reads at a known position of the log. Each read first compares the store's head. If another
 * replica moved it, the new entries are applied to the cache, so a cached record, or its absence, is
 * as current as one from the database. Nothing expires by time.
 */
import { hasCode, isDamage, KeelsonError } from '@keelson/errors';
import type { Backend } from '../backend.ts';
import type { Barrier } from '../barrier/barrier.ts';
import { KEYRING_PATH } from '../barrier/keyring.ts';
import { DamagedRecords } from '../records/damaged-records.ts';
import { listNames } from '../records/listing.ts';
import { ParsedRecord } from '../records/parsed-record.ts';
import { firstAfter, type PathRange, scopeOf } from '../records/record-path.ts';
import type { StoredRow } from '../records/stored-rows.ts';
import type { RecordDecoder, WalEntry } from '../store.ts';
import type { CacheShares } from './cache-shares.ts';
import { ListCache } from './list-cache.ts';
import { RecentChanges } from './recent-changes.ts';
import { RecordCache } from './record-cache.ts';

/** A replica further behind than this forgets its cache instead of reading the entries. */
const MAX_CATCH_UP_ENTRIES = 1000;

export interface RecordScan {
  readonly decoder?: RecordDecoder<unknown> | undefined;
  readonly onDamaged?: ((path: string) => void) | undefined;
}

export class RecordReader {
  readonly changes: RecentChanges;
  readonly damaged = new DamagedRecords();
  /** Called when entries of other replicas could not be followed one by one. */
  onGap: () => void = () => undefined;
  readonly #backend: Backend;
  readonly #barrier: Barrier;
  readonly #cache: RecordCache;
  readonly #lists: ListCache;
  #position: number;
  #gaps = 0;
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

  /**
   * Number of times that entries of other replicas could not be followed one by one. The records may have been
   * replaced then, so a value encrypted before must not be written.
   */
  get gaps(): number {
    return this.#gaps;
  }

  /**
   * Brings this replica to the head and returns the position; reads after it are linearizable.
   * @throws KeelsonError `storage.rolled_back`
   */
  async refresh(): Promise<number> {
    const known = this.#position;
    const head = await this.#backend.headSequence();
    requireKnown(known, head);
    if (head > this.#position) await this.catchUp(head);
    return this.#position;
  }

  /** The same for a head that cannot move, because this replica holds the right to append. */
  async catchUpFinally(headSequence: number): Promise<void> {
    requireKnown(this.#position, headSequence);
    await this.catchUp(headSequence);
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
      this.damaged.forgetAll();
      this.changes.reset(headSequence);
      await this.#reloadKeyring();
      this.#gaps += 1;
      this.onGap();
    }
    this.#position = headSequence;
  }

  /** The records may come from a restored copy with another or an older keyring. */
  async #reloadKeyring(): Promise<void> {
    const keyring = await this.#backend.findRow(KEYRING_PATH);
    if (keyring !== undefined) this.#barrier.replaceKeyring(keyring.stored);
  }

  #forgetChanged(entry: WalEntry): void {
    const { sequence, operations } = entry;
    this.changes.add(
      sequence,
      operations.map(({ path }) => path),
    );
    for (const { path } of operations) {
      this.#cache.delete(path);
      this.damaged.forget(path);
    }
  }

  /**
   * Applies a local commit that became visible. Only reads add records to the cache, because records that
   * are only written would evict those in use.
   */
  applyOwn(entry: WalEntry, values: ReadonlyMap<string, Uint8Array | undefined>): void {
    const { sequence, operations } = entry;
    // Already applied, possibly with later entries, if this replica caught up before the commit was
    // confirmed.
    if (sequence <= this.#position) return;
    this.changes.add(
      sequence,
      operations.map(({ path }) => path),
    );
    for (const { path } of operations) {
      this.damaged.forget(path);
      const value = values.get(path);
      const isRead = this.#cache.has(path);
      this.#cache.delete(path);
      if (isRead && value !== undefined) this.#cache.put(new ParsedRecord(path, value, sequence));
    }
    this.#position = sequence;
  }

  /** @param position what `refresh` returned */
  async read(path: string, position: number): Promise<ParsedRecord | undefined> {
    this.#requireUnsealed(path);
    const cached = this.#cache.find(path);
    if (cached !== undefined || this.#cache.isAbsent(path)) return cached;
    const row = await this.#backend.findRow(path);
    const record = row && (await this.#decrypt(row));
    if (this.changes.hasChangedSince(path, position)) return record;
    if (record === undefined) this.#cache.putAbsent(path);
    else this.#cache.put(record);
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

  /**
   * The value of a record. One that does not decode is damaged.
   * @throws KeelsonError `storage.damaged_record`, `storage.newer_record`
   */
  decode<T>(record: ParsedRecord, decoder: RecordDecoder<T>): T {
    try {
      return record.as(decoder);
    } catch (error) {
      if (isDamage(error)) this.damaged.add(record.path, error);
      throw error;
    }
  }

  /**
   * @param decoder of the records; without it, they are only decrypted
   * @param onDamaged see `ScanOptions`
   */
  readonly scan = async (
    range: PathRange,
    limit: number,
    { decoder, onDamaged }: RecordScan = {},
  ): Promise<readonly ParsedRecord[]> => {
    const records: ParsedRecord[] = [];
    for (let from = range; ; ) {
      const wanted = limit - records.length;
      const rows = await this.#backend.scanRows(from, wanted);
      for (const row of rows) {
        this.#requireUnsealed(row.path);
        try {
          const record = await this.#decrypt(row);
          if (decoder !== undefined) this.decode(record, decoder);
          records.push(record);
        } catch (error) {
          if (onDamaged === undefined || !isDamage(error)) throw error;
          onDamaged(row.path);
        }
      }
      const last = rows.at(-1)?.path;
      if (last === undefined || rows.length < wanted || records.length === limit) return records;
      from = { ...range, from: firstAfter(last) };
    }
  };

  async #decrypt({ path, stored, version }: StoredRow): Promise<ParsedRecord> {
    try {
      return new ParsedRecord(path, await this.decryptValue(path, stored), version);
    } catch (error) {
      if (isDamage(error)) this.damaged.add(path);
      throw error;
    }
  }

  reportUnprojected(path: string, cause: unknown): void {
    this.damaged.add(path, cause);
  }

  async decryptValue(path: string, stored: Uint8Array): Promise<Uint8Array> {
    if (scopeOf(path) === 'node') return stored;
    try {
      return this.#barrier.decrypt(path, stored);
    } catch (error) {
      if (!hasCode(error, 'barrier.unknown_term') && !hasCode(error, 'barrier.damaged_value'))
        throw error;
    }
    // Another replica may have rotated or replaced the keyring after this one read it: a value is damaged only if
    // the keyring on disk does not open it.
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

/**
 * After a failover to a server without the newest commits, the database would give their sequence numbers to
 * other commits, and caches and followers could not distinguish the two.
 */
const requireKnown = (known: number, head: number): void => {
  if (head < known) throw new KeelsonError('storage.rolled_back', { known, head });
};
