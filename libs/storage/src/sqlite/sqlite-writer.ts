/**
 * Writes a store's file on a separate thread, so that no read and no other work of the process waits
 * for a disk. A job is one SQLite transaction; jobs are carried out in the order of their calls.
 */
import type { SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import { KeelsonError } from '@keelson/errors';
import { fromSqliteError, isFailedDisk } from './sqlite-errors.ts';

/** A statement that is run once for each row of parameters. */
export interface WriteStatement {
  readonly sql: string;
  readonly rows: readonly (readonly SQLInputValue[])[];
  /** The transaction is rolled back when this statement changes no row. */
  readonly mustChange?: boolean;
}

/** Statements of a separate transaction, or of the open one; the steps of the latter. */
export type WriteJob =
  | { readonly whole: readonly WriteStatement[] }
  | { readonly part: readonly WriteStatement[] }
  | 'begin'
  | 'commit'
  | 'rollback'
  | 'close';

export interface WriteAnswer {
  readonly isWritten: boolean;
  readonly error?: { readonly message: string; readonly errcode: number };
}

export class SqliteWriter {
  readonly #worker: Worker;
  /** Jobs whose answers are awaited, oldest first. */
  readonly #pending: PromiseWithResolvers<boolean>[] = [];
  readonly #ended: Promise<void>;
  readonly #onLost: (error: Error) => void;
  /** Settled when the transaction of several jobs that is open has ended. */
  #transaction: Promise<void> | undefined;
  /** Set once, when the file may no longer be written. */
  #failure: KeelsonError | undefined;

  /**
   * @param file with the schema
   * @param onLost called once, with the cause, when a write or flush has failed: what the disk holds is
   *   unknown then, so nothing more is written until the store is opened again
   */
  constructor(file: string, onLost: (error: Error) => void) {
    this.#onLost = onLost;
    const worker = new Worker(new URL('./sqlite-writer-thread.ts', import.meta.url), {
      workerData: file,
      name: 'sqlite-writer',
    });
    this.#worker = worker;
    worker.on('message', (answer: WriteAnswer) => this.#settle(answer));
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#ended = promise;
    worker.on('error', (error) => this.#lose(error));
    worker.on('exit', () => {
      this.#failure ??= new KeelsonError('storage.unavailable');
      resolve();
    });
    worker.unref();
  }

  /** @throws KeelsonError `storage.lost` when the file may no longer be written */
  requireIntact(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }

  /**
   * Carries out all statements in one transaction, and resolves when it is on disk.
   * @returns false when a statement that must change a row changed none; nothing is written then
   * @throws KeelsonError with the store's code for SQLite's error: nothing is written, except that after
   *   `storage.lost` the outcome is unknown
   */
  async run(statements: readonly WriteStatement[]): Promise<boolean> {
    while (this.#transaction !== undefined) await this.#transaction;
    return this.#send({ whole: statements });
  }

  /**
   * Carries out several jobs in one transaction, which readers see when it is committed as a whole. Jobs of
   * others wait meanwhile.
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
      } catch (error) {
        if (this.#failure === undefined) await this.#send('rollback');
        throw error;
      }
    } finally {
      this.#transaction = undefined;
      ended.resolve();
    }
  }

  async #send(job: Exclude<WriteJob, 'close'>): Promise<boolean> {
    this.requireIntact();
    const answer = Promise.withResolvers<boolean>();
    this.#pending.push(answer);
    // A process that waits for nothing else must not end before the answer.
    this.#worker.ref();
    this.#worker.postMessage(job);
    return answer.promise;
  }

  /** Resolves when the jobs before it are done and the connection is closed. */
  async close(): Promise<void> {
    this.#worker.ref();
    this.#worker.postMessage('close' satisfies WriteJob);
    await this.#ended;
  }

  #settle({ isWritten, error }: WriteAnswer): void {
    const job = this.#pending.shift();
    if (this.#pending.length === 0) this.#worker.unref();
    if (error === undefined) return job?.resolve(isWritten);
    const cause = Object.assign(new Error(error.message), { errcode: error.errcode });
    job?.reject(isFailedDisk(cause) ? this.#lose(cause) : fromSqliteError(cause));
  }

  /** @returns the refusal of this job and all that follow */
  #lose(cause: Error): KeelsonError {
    if (this.#failure === undefined) {
      this.#failure = new KeelsonError('storage.lost', {}, { cause });
      this.#onLost(cause);
    }
    for (const job of this.#pending.splice(0)) job.reject(this.#failure);
    return this.#failure;
  }
}
