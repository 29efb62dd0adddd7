/**
 * The files of a store, and the order in which they are written and flushed. SQLite itself flushes nothing
 * (`synchronous=OFF`); flushes are made on the thread pool:
 *   a commit is flushed to the redo log, then written to the tables, which makes it visible, then
 *   acknowledged: what is read is on disk, and no read waits for a disk;
 *   a checkpoint flushes SQLite's log and copies its pages into the main file; meanwhile nothing is
 *   written. Then it flushes that and makes SQLite's log void; meanwhile commits go on, in a transaction
 *   that is held open, so that nothing of them comes into SQLite's log before.
 * See docs/decisions/0010, 0097 and 0100.
 */
import { closeSync, fdatasync, fstatSync, fsyncSync, openSync, write as writeTo } from 'node:fs';
import { dirname } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { hasCode, KeelsonError } from '@keelson/errors';
import { type LogPosition, RedoLog } from './redo-log.ts';
import { guarded } from './sqlite-errors.ts';
import { SqliteTransactions } from './sqlite-transactions.ts';

const flush = promisify(fdatasync);
const write = promisify(writeTo);

/** Log bytes after which a checkpoint is made; copying them holds the event loop for some milliseconds. */
export const CHECKPOINT_BYTES = 1024 * 1024;
const MAX_REDO_BYTES = 16 * CHECKPOINT_BYTES;
/** Of SQLite's log: without it, none of its frames counts. */
const LOG_HEADER_BYTES = 32;

export interface SqliteFilesOptions {
  readonly file: string;
  /** Of the redo log, after which a checkpoint lets no commit through, so that it can begin anew; 16 MiB. */
  readonly maxRedoBytes?: number | undefined;
  /** Called when the main file may have grown. */
  readonly onCheckpoint: (fileDescriptor: number) => void;
  /** Called when the tables have lost commits, to carry out again what follows their position. */
  readonly onRolledBack: () => void;
}

export class SqliteFiles {
  readonly #database: DatabaseSync;
  readonly #transactions: SqliteTransactions;
  readonly #onCheckpoint: SqliteFilesOptions['onCheckpoint'];
  readonly #onRolledBack: SqliteFilesOptions['onRolledBack'];
  readonly #fileDescriptor: number;
  readonly #logDescriptor: number;
  readonly #redo: RedoLog;
  readonly #maxRedoBytes: number;
  #uncheckpointedBytes = 0;
  /** The part of a checkpoint in which nothing is written. */
  #copying: Promise<void> | undefined;
  /** The part after it. */
  #settling: Promise<void> | undefined;
  /** A commit is in the redo log and not in the tables yet, or on the way there. */
  #isCommitting = false;
  #isClosing = false;
  /** What the disk holds is unknown until the files are opened again. */
  #isLost = false;

  /** @param database opened just now, in exclusive mode and with a write-ahead log */
  constructor(database: DatabaseSync, options: SqliteFilesOptions) {
    const { file, maxRedoBytes = MAX_REDO_BYTES, onCheckpoint, onRolledBack } = options;
    this.#database = database;
    this.#transactions = new SqliteTransactions(database);
    this.#maxRedoBytes = maxRedoBytes;
    this.#onCheckpoint = onCheckpoint;
    this.#onRolledBack = onRolledBack;
    // Closed after the database only: closing any descriptor of a file drops this process's locks on it.
    this.#fileDescriptor = openSync(file, 'r+');
    this.#logDescriptor = openSync(`${file}-wal`, 'r+');
    this.#redo = new RedoLog(`${file}-redo`, fstatSync(this.#fileDescriptor).mode);
    flushNew(file, this.#fileDescriptor, this.#logDescriptor);
    onCheckpoint(this.#fileDescriptor);
  }

  /** Whether the last process ended without closing them, or they are new. */
  get isUnfinished(): boolean {
    return fstatSync(this.#logDescriptor).size > 0 || !this.#redo.isEmpty;
  }

  /** @throws KeelsonError `storage.unavailable` */
  requireIntact(): void {
    if (this.#isLost) throw new KeelsonError('storage.unavailable');
  }

  /** Contents of what was committed after `position`, which moves as they are carried out. */
  committedAfter(position: () => LogPosition): Generator<Buffer> {
    return this.#redo.after(position);
  }

  /**
   * Has `content` on disk, then has it carried out in the tables.
   * @throws what `carryOut` throws, `storage.full`: nothing is committed; `storage.unavailable`: unknown
   */
  async commit(
    position: LogPosition,
    content: readonly Uint8Array[],
    carryOut: () => void,
  ): Promise<void> {
    while (this.#copying !== undefined || (this.#settling !== undefined && this.#isDue))
      await this.#checkpoint;
    this.requireIntact();
    if (this.#settling === undefined) this.#release();
    this.#isCommitting = true;
    try {
      await this.#unlessLost(this.#redo.append(position, content));
      try {
        carryOut();
      } catch (error) {
        await this.#unlessLost(this.#redo.retract());
        throw error;
      }
    } finally {
      this.#isCommitting = false;
    }
  }

  /** All that `work` does in the tables, or nothing of it; it cannot wait. */
  carryOut<T>(work: () => T): T {
    try {
      return this.#transactions.run(work);
    } catch (error) {
      if (this.#transactions.isHolding && !this.#database.isTransaction) this.#isLost = true;
      throw error;
    }
  }

  /** The same, when the tables may be written; a power cut may take it back. */
  async transact<T>(work: () => T): Promise<T> {
    while (this.#checkpoint !== undefined) await this.#checkpoint;
    this.requireIntact();
    this.#release();
    return this.#transactions.run(work);
  }

  get #checkpoint(): Promise<void> | undefined {
    return this.#copying ?? this.#settling;
  }

  get #isDue(): boolean {
    return this.#uncheckpointedBytes > CHECKPOINT_BYTES;
  }

  /** So much was written to the tables, in bytes of the store's log. Makes a checkpoint when it is time. */
  wrote(bytes: number): void {
    this.#uncheckpointedBytes += bytes;
    if (!this.#isDue || this.#checkpoint !== undefined) return;
    if (this.#isCommitting || this.#isClosing || this.#isLost) return;
    this.#copying = this.#copy()
      .then(() => {
        this.#settling = this.#settle()
          .catch(() => undefined)
          .finally(() => {
            this.#settling = undefined;
          });
        return this.#redo.bytes > this.#maxRedoBytes ? this.#settling : undefined;
      })
      // One that failed for want of room is tried again after the next commit.
      .catch(() => undefined)
      .finally(() => {
        this.#copying = undefined;
      });
  }

  /** To be called while nothing else is written. */
  async checkpoint(): Promise<void> {
    await this.#copy();
    await this.#settle();
  }

  async #copy(): Promise<void> {
    this.#release();
    await this.#unlessLost(flush(this.#logDescriptor));
    guarded(() => this.#copyFrames());
    this.#uncheckpointedBytes = 0;
  }

  async #settle(): Promise<void> {
    this.#transactions.hold();
    const { bytes } = this.#redo;
    await this.#unlessLost(flush(this.#fileDescriptor));
    await this.#voidLog();
    if (!this.#isCommitting && this.#redo.bytes === bytes) this.#redo.restart();
    this.#release();
    guarded(() => this.#onCheckpoint(this.#fileDescriptor));
  }

  /**
   * When there is no room for what was held, it is held on.
   * @throws KeelsonError `storage.full`, `storage.unavailable`
   */
  #release(): void {
    if (!this.#transactions.isHolding) return;
    try {
      this.#transactions.release();
    } catch (error) {
      this.#transactions.hold();
      try {
        this.#onRolledBack();
      } catch {
        this.#isLost = true;
      }
      throw error;
    }
  }

  /** All of them: those that were left would be lost with the log. */
  #copyFrames(): void {
    const { busy, log, checkpointed } =
      this.#database.prepare('PRAGMA wal_checkpoint(RESTART)').get() ?? {};
    if (busy !== 0 || log !== checkpointed)
      throw new KeelsonError('storage.unavailable', { reason: 'the checkpoint is not complete' });
  }

  /**
   * The next frames overwrite those at the start of SQLite's log, and the disk may take some pages of it
   * before others: what is left of the old ones must not count.
   */
  async #voidLog(): Promise<void> {
    const nothing = Buffer.alloc(LOG_HEADER_BYTES);
    await this.#unlessLost(write(this.#logDescriptor, nothing, 0, LOG_HEADER_BYTES, 0));
    await this.#unlessLost(flush(this.#logDescriptor));
  }

  /** A write or a flush that failed is not repeated. */
  async #unlessLost(written: Promise<unknown>): Promise<void> {
    try {
      await written;
    } catch (error) {
      if (hasCode(error, 'storage.full')) throw error;
      this.#isLost = true;
      throw new KeelsonError('storage.unavailable', {}, { cause: error });
    }
  }

  /** Closes the database too. */
  async close(): Promise<void> {
    this.#isClosing = true;
    while (this.#checkpoint !== undefined) await this.#checkpoint;
    // When it fails, as for want of room, the redo log has what the main file has not.
    const isDone =
      !this.#isLost &&
      (await this.checkpoint().then(
        () => true,
        () => false,
      ));
    this.#closeAll({ isDone });
  }

  /** Closes all, for the next start to carry out what this one could not. */
  abandon(): void {
    this.#closeAll({ isDone: false });
  }

  #closeAll(redo: { readonly isDone: boolean }): void {
    this.#database.close();
    this.#redo.close(redo);
    closeSync(this.#fileDescriptor);
    closeSync(this.#logDescriptor);
  }
}

/** What opening wrote, and that the files are there at all. */
const flushNew = (file: string, fileDescriptor: number, logDescriptor: number): void => {
  const folder = openSync(dirname(file), 'r');
  for (const descriptor of [logDescriptor, fileDescriptor, folder]) fsyncSync(descriptor);
  closeSync(folder);
};
