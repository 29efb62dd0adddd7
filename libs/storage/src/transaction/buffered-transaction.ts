/**
 * One run of a transaction's body: reads go to the store and are recorded with their log position;
 * writes are buffered until the commit, and later reads see them. The run is current as long as
 * nothing it read, and nothing below a prefix it listed, has changed since.
 */
import { KeelsonError } from '@keelson/errors';
import type { RecordVersions } from '../collections/record-versions.ts';
import type { RecordReader } from '../reading/record-reader.ts';
import { listNames } from '../records/listing.ts';
import { ParsedRecord } from '../records/parsed-record.ts';
import {
  comparePaths,
  type PathRange,
  rangeBelow,
  requirePrefix,
  requireRecordPath,
  scopeOf,
} from '../records/record-path.ts';
import type {
  ListOptions,
  RecordDecoder,
  RecordEncoder,
  ScanOptions,
  StoredRecord,
  Transaction,
  WalOperation,
} from '../store.ts';

export const MAX_VALUE_BYTES = 4 * 1024 * 1024;
export const MAX_TRANSACTION_BYTES = 16 * 1024 * 1024;

/** Version of a record that its own transaction has written and not yet committed. */
export const UNCOMMITTED = 0;

export class BufferedTransaction implements Transaction {
  readonly #reader: RecordReader;
  readonly #versions: RecordVersions;
  /** Paths and prefixes read, with the position of the first read. */
  readonly #readAt = new Map<string, number>();
  /** Records already read, so that repeated reads in a run return the same. */
  readonly #found = new Map<string, ParsedRecord | undefined>();
  readonly #writes = new Map<string, Uint8Array | undefined>();
  readonly #stored = new Map<string, WalOperation>();
  /** The versions that were writable at the first write; undefined before it. */
  #writtenAs: string | undefined;
  #bytes = 0;
  #isOpen = true;

  constructor(reader: RecordReader, versions: RecordVersions) {
    this.#reader = reader;
    this.#versions = versions;
  }

  get writes(): ReadonlyMap<string, Uint8Array | undefined> {
    return this.#writes;
  }

  /** Paths of all records that the transaction changes. */
  get paths(): readonly string[] {
    return [...this.#stored.keys(), ...this.#writes.keys()];
  }

  /** The changes of the transaction, encrypted for storage. */
  operations(encrypt: (path: string, value: Uint8Array) => Uint8Array): readonly WalOperation[] {
    const written = Array.from(this.#writes, ([path, value]) => ({
      path,
      stored: value === undefined || scopeOf(path) === 'node' ? value : encrypt(path, value),
    }));
    return [...this.#stored.values(), ...written];
  }

  /** A change as another store encrypted it, which reads of this transaction do not see. */
  putStored(operation: WalOperation): void {
    requireRecordPath(operation.path);
    this.#stored.set(operation.path, operation);
  }

  /** Whether everything that was read is unchanged at the reader's position, and so are the writable versions. */
  isCurrent(): boolean {
    if (this.#writtenAs !== undefined && this.#writtenAs !== this.#versions.text) return false;
    for (const [key, position] of this.#readAt)
      if (this.#reader.changes.hasChangedSince(key, position)) return false;
    return true;
  }

  /** Whether it read one of these records, or listed a prefix of theirs. */
  hasReadAny(pathsAndPrefixes: ReadonlySet<string>): boolean {
    if (pathsAndPrefixes.size === 0) return false;
    for (const key of this.#readAt.keys()) if (pathsAndPrefixes.has(key)) return true;
    return false;
  }

  /** Ends the run; a body that uses it after it has returned is a bug. */
  end(): void {
    this.#isOpen = false;
  }

  async readAs<T>(path: string, decoder: RecordDecoder<T>): Promise<T | undefined> {
    const record = await this.read(path);
    return record && this.#reader.decode(record, decoder);
  }

  async read(path: string): Promise<ParsedRecord | undefined> {
    if (this.#writes.has(path)) {
      const value = this.#writes.get(path);
      return value && new ParsedRecord(path, value, UNCOMMITTED);
    }
    if (this.#found.has(path)) return this.#found.get(path);
    requireRecordPath(path);
    const record = await this.#reader.read(path, await this.#track(path));
    this.#found.set(path, record);
    return record;
  }

  async list(prefix: string, options?: ListOptions): Promise<readonly string[]> {
    requirePrefix(prefix);
    const position = await this.#track(prefix);
    if (options === undefined && this.#writtenIn(rangeBelow(prefix)).length === 0)
      return this.#reader.list(prefix, position);
    return listNames((range, limit) => this.#listPaths(range, limit), prefix, options);
  }

  scan(prefix: string, options: ScanOptions = {}): Promise<readonly StoredRecord[]> {
    return this.#scan(prefix, options);
  }

  async scanAs<T>(
    prefix: string,
    decoder: RecordDecoder<T>,
    options: ScanOptions = {},
  ): Promise<readonly (readonly [string, T])[]> {
    const records = await this.#scan(prefix, options, decoder);
    return records.map((record) => [record.path, record.as(decoder)]);
  }

  /** @param decoder without it, the records are only decrypted */
  async #scan(
    prefix: string,
    { after, limit = Number.POSITIVE_INFINITY, onDamaged }: ScanOptions,
    decoder?: RecordDecoder<unknown>,
  ): Promise<readonly ParsedRecord[]> {
    requirePrefix(prefix);
    await this.#track(prefix);
    const range = rangeBelow(prefix, after);
    const written = this.#writtenIn(range);
    const stored = await this.#reader.scan(range, limit + written.length, {
      decoder,
      // Records that the transaction overwrites are not read.
      onDamaged: onDamaged && ((path) => this.#writes.has(path) || onDamaged(path)),
    });
    return stored
      .filter(({ path }) => !this.#writes.has(path))
      .concat(
        written.flatMap((path) => {
          const value = this.#writes.get(path);
          return value === undefined ? [] : [new ParsedRecord(path, value, UNCOMMITTED)];
        }),
      )
      .sort((a, b) => comparePaths(a.path, b.path))
      .slice(0, limit);
  }

  write(path: string, value: Uint8Array): void {
    if (value.length > MAX_VALUE_BYTES)
      throw new KeelsonError('storage.too_large', { what: 'record', limitBytes: MAX_VALUE_BYTES });
    this.#put(path, value);
  }

  writeAs<T>(path: string, encoder: RecordEncoder<T>, value: T): void {
    const writable = this.writableVersion(encoder.kind);
    const replaced = this.#found.get(path);
    this.write(path, encoder.encode(path, value, { writable, replaced }));
  }

  writableVersion(kind: string): number {
    this.#writtenAs ??= this.#versions.text;
    return this.#versions.writable(kind);
  }

  delete(path: string): void {
    this.#put(path, undefined);
  }

  writesVersion(kind: string, version: number): boolean {
    return this.#versions.writable(kind) >= version;
  }

  #put(path: string, value: Uint8Array | undefined): void {
    if (!this.#isOpen) throw new Error('a transaction is used after its body has returned');
    requireRecordPath(path);
    this.#bytes += (value?.length ?? 0) - (this.#writes.get(path)?.length ?? 0);
    if (this.#bytes > MAX_TRANSACTION_BYTES)
      throw new KeelsonError('storage.too_large', {
        what: 'transaction',
        limitBytes: MAX_TRANSACTION_BYTES,
      });
    this.#writes.set(path, value);
  }

  async #track(pathOrPrefix: string): Promise<number> {
    const position = await this.#reader.refresh();
    if (!this.#readAt.has(pathOrPrefix)) this.#readAt.set(pathOrPrefix, position);
    return position;
  }

  #writtenIn({ from, to }: PathRange): string[] {
    return [...this.#writes.keys()].filter(
      (path) => comparePaths(path, from) >= 0 && comparePaths(path, to) < 0,
    );
  }

  /**
   * Stored and written paths as one ordered page. Reads as many extra paths as may be dropped, so
   * that a written path past the end of a full page is never returned before paths that were not
   * read.
   */
  async #listPaths(range: PathRange, limit: number): Promise<readonly string[]> {
    const written = this.#writtenIn(range);
    const stored = await this.#reader.listPaths(range, limit + written.length);
    return stored
      .filter((path) => !this.#writes.has(path))
      .concat(written.filter((path) => this.#writes.get(path) !== undefined))
      .sort(comparePaths)
      .slice(0, limit);
  }
}
