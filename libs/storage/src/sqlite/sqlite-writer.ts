/**
 * Writes a store's file on the thread that writes. A job is one SQLite transaction; jobs are carried out
 * in the order of their calls.
 */
import { randomUUID } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { dirname } from 'node:path';
import { KeelsonError } from '@keelson/errors';
import type { StoreFaults } from '../store-faults.ts';
import type { SharedHead, TurnEnd } from './shared-head.ts';
import { fromSqliteError, isFailedDisk } from './sqlite-errors.ts';
import {
  type LogState,
  WriteError,
  type WriteJob,
  type WriteStatement,
  type Written,
  writerThread,
} from './writer-thread.ts';

/** A log of this size is a fault, although every write succeeds. */
const LARGE_LOG_BYTES = 64 * 1024 * 1024;
/**
 * Less than this is a full disk, even if a small write still succeeds, as SQLite has room left in the file of
 * its log.
 */
const FULL_DISK_BYTES = 1024 * 1024;
/** A commit without effect, to try whether there is room. */
const TRIAL: readonly WriteStatement[] = [{ sql: 'UPDATE head SET format = format', rows: [[]] }];

export interface SqliteWriterOptions {
  /** With the schema. */
  readonly file: string;
  readonly head: SharedHead;
  /**
   * Called once, when a write or flush has failed: what the disk holds is unknown then, so nothing more is written
   * until the store is opened again. Without the cause, if it is a write of another thread, which reports it.
   */
  readonly onLost: (error?: Error) => void;
  /** Begin with a refusal of the disk, and end when it writes again. */
  readonly faults: StoreFaults;
}

export class SqliteWriter {
  /** Distinguishes it from the writers that other threads have for the file. */
  readonly #id = randomUUID();
  readonly #file: string;
  readonly #head: SharedHead;
  readonly #thread = writerThread();
  readonly #onLost: (error?: Error) => void;
  readonly #faults: StoreFaults;
  /** Settles when the open transaction of several jobs has ended. */
  #transaction: Promise<void> | undefined;
  /** Set once, when the file may no longer be written. */
  #failure: KeelsonError | undefined;

  constructor({ file, head, onLost, faults }: SqliteWriterOptions) {
    this.#file = file;
    this.#head = head;
    this.#onLost = onLost;
    this.#faults = faults;
    faults.retry = () => this.tryDisk();
  }

  /** @throws KeelsonError `storage.lost` when the file may no longer be written */
  requireIntact(): void {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#head.isLost) throw this.noticeLoss();
  }

  /** Called when a write of any thread has failed. */
  noticeLoss(): KeelsonError {
    return this.#lose();
  }

  /**
   * Carries out all statements in one transaction, and resolves when it is on disk.
   * @param ended the turn that ends then
   * @returns false when a statement that must change a row changed none; nothing is written then
   * @throws KeelsonError with the store's code for SQLite's error: nothing is written, except that after
   *   `storage.lost` the outcome is unknown
   */
  async run(statements: readonly WriteStatement[], ended?: TurnEnd): Promise<boolean> {
    while (this.#transaction !== undefined) await this.#transaction;
    const isWritten = await this.#send({ whole: statements, ended });
    this.#endFull();
    return isWritten;
  }

  /** Tries a commit and a checkpoint, so that the faults are those of this moment. */
  async tryDisk(): Promise<void> {
    if (freeBytesAt(this.#file) < FULL_DISK_BYTES)
      this.#faults.begin('full', new Error('less than 1 MiB is free'));
    try {
      await this.run(TRIAL);
    } finally {
      while (this.#transaction !== undefined) await this.#transaction;
      await this.#send('checkpoint');
    }
  }

  /**
   * Carries out several jobs in one transaction, which becomes visible as a whole. Other jobs wait meanwhile.
   * @throws what `work` throws, and as `run` does; nothing is written then
   */
  async transaction(
    work: (run: (statements: readonly WriteStatement[]) => Promise<unknown>) => Promise<void>,
  ): Promise<void> {
    while (this.#transaction !== undefined) await this.#transaction;
    const ended = Promise.withResolvers<void>();
    this.#transaction = ended.promise;
    try {
      await this.#send('begin');
      try {
        await work((statements) => this.#send({ part: statements }));
        await this.#send('commit');
        this.#endFull();
      } catch (error) {
        if (this.#failure === undefined) await this.#send('rollback');
        throw error;
      }
    } finally {
      this.#transaction = undefined;
      ended.resolve();
    }
  }

  /**
   * Resolves when the jobs before it are done and the connection is closed.
   * @returns why the log could not be copied into the main file, unless that is reported to `onLost`
   */
  async close(): Promise<Error | undefined> {
    this.#faults.close();
    const { log } = await this.#answerTo('close').catch((): Written => ({ isWritten: false }));
    const isLost = this.#failure !== undefined;
    this.#failure ??= new KeelsonError('storage.unavailable');
    return isLost || log?.error === undefined ? undefined : new WriteError(log.error);
  }

  /** Ends the use of a file that another thread closes. */
  leave(): void {
    this.#faults.close();
    this.#failure ??= new KeelsonError('storage.unavailable');
  }

  async #send(job: Exclude<WriteJob, 'close'>): Promise<boolean> {
    this.requireIntact();
    return (await this.#answerTo(job)).isWritten;
  }

  async #answerTo(job: WriteJob): Promise<Written> {
    try {
      const written = await this.#thread.carryOut({ file: this.#file, by: this.#id, job });
      this.requireIntact();
      if (written.log !== undefined) this.#recordLog(written.log);
      return written;
    } catch (error) {
      const isKnown = error instanceof WriteError && !isFailedDisk(error);
      throw isKnown ? this.#faults.note(fromSqliteError(error)) : this.#lose(error as Error);
    }
  }

  #recordLog({ bytes, error }: LogState): void {
    if (error === undefined) this.#faults.end('checkpoint');
    else this.#faults.begin('checkpoint', new WriteError(error));
    if (bytes <= LARGE_LOG_BYTES) this.#faults.end('log');
    else this.#faults.begin('log', new Error(`${bytes} bytes`));
  }

  /** Called after a commit. */
  #endFull(): void {
    if (this.#faults.has('full') && freeBytesAt(this.#file) >= FULL_DISK_BYTES)
      this.#faults.end('full');
  }

  /** @returns the refusal of this job and all that follow */
  #lose(cause?: Error): KeelsonError {
    if (this.#failure === undefined) {
      this.#failure = new KeelsonError('storage.lost', {}, { cause });
      this.#head.lose();
      this.#onLost(cause);
    }
    return this.#failure;
  }
}

/** 0 if it is not known. */
const freeBytesAt = (file: string): number => {
  try {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  } catch {
    return 0;
  }
};
