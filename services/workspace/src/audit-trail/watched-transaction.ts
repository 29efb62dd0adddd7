import type {
  ListOptions,
  RecordDecoder,
  RecordEncoder,
  ScanOptions,
  Transaction,
} from '@keelson/storage';

/** A transaction that remembers which records it has written and deleted. */
export class WatchedTransaction implements Transaction {
  readonly #tx: Transaction;
  /** By path: the value; undefined for a deleted record. */
  readonly written = new Map<string, unknown>();

  constructor(tx: Transaction) {
    this.#tx = tx;
  }

  read(path: string) {
    return this.#tx.read(path);
  }

  readAs<T>(path: string, decoder: RecordDecoder<T>) {
    return this.#tx.readAs(path, decoder);
  }

  list(prefix: string, options?: ListOptions) {
    return this.#tx.list(prefix, options);
  }

  scan(prefix: string, options?: ScanOptions) {
    return this.#tx.scan(prefix, options);
  }

  scanAs<T>(prefix: string, decoder: RecordDecoder<T>, options?: ScanOptions) {
    return this.#tx.scanAs(prefix, decoder, options);
  }

  /** Bytes are rows of indexes or contents; a kind with events writes values. */
  write(path: string, value: Uint8Array): void {
    this.#tx.write(path, value);
  }

  writeAs<T>(path: string, encoder: RecordEncoder<T>, value: T): void {
    this.#tx.writeAs(path, encoder, value);
    this.written.set(path, value);
  }

  delete(path: string): void {
    this.#tx.delete(path);
    this.written.set(path, undefined);
  }

  writableVersion(kind: string): number {
    return this.#tx.writableVersion(kind);
  }

  writesVersion(kind: string, version: number): boolean {
    return this.#tx.writesVersion(kind, version);
  }
}
