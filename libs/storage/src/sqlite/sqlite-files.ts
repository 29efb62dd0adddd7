/**
 * The files of a store, and the order in which they are written and flushed. SQLite itself flushes nothing
 * (`synchronous=OFF`); flushes are made on the thread pool:
 *   a commit is flushed to the redo log, then written to the tables, which makes it visible, then
 *   acknowledged: what is read is on disk, and no read waits for a disk;
 *   the tables are written in one transaction until a checkpoint commits it: a page that many commits
 *   change comes into SQLite's log once;
 *   a checkpoint flushes that log, copies its pages into the main file, flushes that and makes the log
 *   void. Commits wait only for the rest of the first flush and for the copying. Nothing of them comes into
 *   the log while its frames count: the next one overwrites the first.
 * See docs/decisions/0010, 0097, 0100 and 0102.
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
/** What comes after the name of a store, in the names of its files. */
type Suffix = '' | '-wal' | '-redo';
/** Of SQLite's log: without it, none of its frames counts. */
const LOG_HEADER_BYTES = 32;

/** @param error the cause, with the `code` of the operating system or the `errcode` of SQLite */
export type OnLost = (error: Error, file: string) => void;

export interface SqliteFilesOptions {
  readonly file: string;
  /** Of the redo log, after which a checkpoint lets no commit through, so that it can begin anew; 16 MiB. */
  readonly maxRedoBytes?: number | undefined;
  /** Called when the main file may have grown. */
  readonly onCheckpoint: (fileDescriptor: number) => void;
  /** Called when the tables have lost commits, to carry out again what follows their position. */
  readonly onRolledBack: () => void;
  /** Called once, with the failed write after which nothing is served any more. */
  readonly onLost?: OnLost | undefined;
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
  #checkpointing: Promise<void> | undefined;
  /** The part of it in which nothing is written. */
  #copying: Promise<void> | undefined;
  /** While a commit is in the redo log and not in the tables yet, or on the way there. */
  #committing: Promise<void> | undefined;
  /** What the tables have did not fit into SQLite's log. */
  #isFull = false;
  #isClosing = false;
  /** What the disk holds is unknown until the files are opened again. */
  #isLost = false;
  readonly #file: string;
  readonly #onLost: OnLost | undefined;

  /** @param database opened just now, in exclusive mode and with a write-ahead log */
  constructor(database: DatabaseSync, options: SqliteFilesOptions) {
    const { file, maxRedoBytes = MAX_REDO_BYTES, onCheckpoint, onRolledBack, onLost } = options;
    this.#file = file;
    this.#onLost = onLost;
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

  /** @throws KeelsonError `storage.lost` */
  requireIntact(): void {
    if (this.#isLost) throw new KeelsonError('storage.lost');
  }

  /** @returns what a caller is told of it */
  #lose(cause: unknown, suffix: Suffix = ''): KeelsonError {
    if (!this.#isLost) {
      this.#isLost = true;
      const reported = cause instanceof KeelsonError ? cause.cause : cause;
      this.#onLost?.(
        reported instanceof Error ? reported : new Error(String(cause)),
        this.#file + suffix,
      );
    }
    return new KeelsonError('storage.lost', {}, { cause });
  }

  /** Contents of what was committed after `position`, which moves as they are carried out. */
  committedAfter(position: () => LogPosition): Generator<Buffer> {
    return this.#redo.after(position);
  }

  /**
   * Has `content` on disk, then has it carried out in the tables.
   * @throws what `carryOut` throws, `storage.full`: nothing is committed; `storage.lost`: unknown
   */
  async commit(
    position: LogPosition,
    content: readonly Uint8Array[],
    carryOut: () => void,
  ): Promise<void> {
    while (this.#mustWait) await (this.#copying ?? this.#checkpointing);
    this.requireIntact();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#committing = promise;
    try {
      if (this.#isFull) await this.#makeRoom();
      await this.#unlessLost(this.#redo.append(position, content), '-redo');
      try {
        carryOut();
      } catch (error) {
        await this.#unlessLost(this.#redo.retract(), '-redo');
        throw error;
      }
    } finally {
      this.#committing = undefined;
      resolve();
    }
  }

  /** All that `work` does in the tables, or nothing of it; it cannot wait. */
  carryOut<T>(work: () => T): T {
    const hadOthers = this.#transactions.isOpen;
    try {
      return this.#transactions.run(work);
    } catch (error) {
      if (hadOthers && !this.#transactions.isOpen) throw this.#lose(error);
      throw error;
    }
  }

  /** The same, when the tables may be written; a power cut may take it back. */
  async transact<T>(work: () => T): Promise<T> {
    for (;;) {
      const busy = this.#checkpointing ?? this.#committing;
      if (busy === undefined) break;
      await busy;
    }
    this.requireIntact();
    this.#release();
    const result = this.#transactions.run(work);
    this.#release();
    return result;
  }

  /** Commits, while a checkpoint is made. */
  get #mustWait(): boolean {
    if (this.#copying !== undefined) return true;
    return (
      this.#checkpointing !== undefined && (this.#isDue || this.#redo.bytes > this.#maxRedoBytes)
    );
  }

  get #isDue(): boolean {
    return this.#uncheckpointedBytes > CHECKPOINT_BYTES;
  }

  /** So much was written to the tables, in bytes of the store's log. Makes a checkpoint when it is time. */
  wrote(bytes: number): void {
    this.#uncheckpointedBytes += bytes;
    if (!this.#isDue || this.#checkpointing !== undefined) return;
    if (this.#committing !== undefined || this.#isClosing || this.#isLost) return;
    const written = this.#uncheckpointedBytes;
    this.#checkpointing = this.checkpoint()
      .catch(() => {
        // One that failed for want of room is tried again after the next commit.
        this.#uncheckpointedBytes += written;
      })
      .finally(() => {
        this.#checkpointing = undefined;
      });
  }

  /** To be called while no commit is under way; those that come wait only while it copies. */
  async checkpoint(): Promise<void> {
    this.#uncheckpointedBytes = 0;
    this.#release();
    // Most of what is to be flushed, so that commits wait for the rest alone.
    await this.#unlessLost(flush(this.#logDescriptor), '-wal');
    const copied = this.#copy();
    this.#copying = copied
      .catch(() => undefined)
      .finally(() => {
        this.#copying = undefined;
      });
    await copied;
    await this.#settle();
  }

  async #copy(): Promise<void> {
    await this.#committing;
    this.requireIntact();
    this.#release();
    await this.#unlessLost(flush(this.#logDescriptor), '-wal');
    try {
      guarded(() => this.#copyFrames());
    } catch (error) {
      throw hasCode(error, 'storage.full') ? error : this.#lose(error);
    }
    this.#uncheckpointedBytes = 0;
  }

  async #settle(): Promise<void> {
    const { bytes } = this.#redo;
    await this.#unlessLost(flush(this.#fileDescriptor), '');
    await this.#voidLog();
    if (this.#committing === undefined && this.#redo.bytes === bytes) this.#redo.restart();
    guarded(() => this.#onCheckpoint(this.#fileDescriptor));
  }

  /**
   * Commits what the tables have; to be called while the redo log has nothing that they have not. When
   * there is no room for it, it is carried out again, and held on.
   * @throws KeelsonError `storage.full`, `storage.lost`
   */
  #release(): void {
    try {
      this.#transactions.commit();
      this.#isFull = false;
    } catch (error) {
      this.#isFull = hasCode(error, 'storage.full');
      const refusal = this.#isFull ? error : this.#lose(error, '-wal');
      try {
        this.#onRolledBack();
      } catch (failure) {
        throw this.#lose(failure);
      }
      throw refusal;
    }
  }

  /** Rolling back and carrying out again takes long: before it is risked, the log is made longer. */
  async #makeRoom(): Promise<void> {
    const { size } = fstatSync(this.#logDescriptor);
    const room = Buffer.alloc(CHECKPOINT_BYTES);
    const { bytesWritten } = await write(this.#logDescriptor, room, 0, room.length, size).catch(
      (cause: unknown) => {
        throw new KeelsonError('storage.full', {}, { cause });
      },
    );
    if (bytesWritten < room.length) throw new KeelsonError('storage.full');
    this.#release();
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
    await this.#unlessLost(write(this.#logDescriptor, nothing, 0, LOG_HEADER_BYTES, 0), '-wal');
    await this.#unlessLost(flush(this.#logDescriptor), '-wal');
  }

  /** A write or a flush that failed is not repeated. */
  async #unlessLost(written: Promise<unknown>, suffix: Suffix): Promise<void> {
    try {
      await written;
    } catch (error) {
      if (hasCode(error, 'storage.full')) throw error;
      throw this.#lose(error, suffix);
    }
  }

  /** Closes the database too. */
  async close(): Promise<void> {
    this.#isClosing = true;
    await this.#checkpointing;
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
