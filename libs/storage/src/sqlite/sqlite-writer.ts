/**
 * Writes a store's file on the thread that writes. A job is one SQLite transaction; jobs are carried out
 * in the order of their calls.
 */
import { KeelsonError } from '@keelson/errors';
import { fromSqliteError, isFailedDisk } from './sqlite-errors.ts';
import { WriteError, type WriteJob, type WriteStatement, writerThread } from './writer-thread.ts';

export class SqliteWriter {
  readonly #file: string;
  readonly #thread = writerThread();
  readonly #onLost: (error: Error) => void;
  /** Settles when the open transaction of several jobs has ended. */
  #transaction: Promise<void> | undefined;
  /** Set once, when the file may no longer be written. */
  #failure: KeelsonError | undefined;

  /**
   * @param file with the schema
   * @param onLost called once, with the cause, when a write or flush has failed: what the disk holds is
   *   unknown then, so nothing more is written until the store is opened again
   */
  constructor(file: string, onLost: (error: Error) => void) {
    this.#file = file;
    this.#onLost = onLost;
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
      } catch (error) {
        if (this.#failure === undefined) await this.#send('rollback');
        throw error;
      }
    } finally {
      this.#transaction = undefined;
      ended.resolve();
    }
  }

  /** Resolves when the jobs before it are done and the connection is closed. */
  async close(): Promise<void> {
    // A failure is reported to `onLost`; the file is released in either case.
    await this.#carryOut('close').catch(() => undefined);
    this.#failure ??= new KeelsonError('storage.unavailable');
  }

  async #send(job: Exclude<WriteJob, 'close'>): Promise<boolean> {
    this.requireIntact();
    return this.#carryOut(job);
  }

  async #carryOut(job: WriteJob): Promise<boolean> {
    try {
      const isWritten = await this.#thread.carryOut({ file: this.#file, job });
      this.requireIntact();
      return isWritten;
    } catch (error) {
      const isKnown = error instanceof WriteError && !isFailedDisk(error);
      throw isKnown ? fromSqliteError(error) : this.#lose(error as Error);
    }
  }

  /** @returns the refusal of this job and all that follow */
  #lose(cause: Error): KeelsonError {
    if (this.#failure === undefined) {
      this.#failure = new KeelsonError('storage.lost', {}, { cause });
      this.#onLost(cause);
    }
    return this.#failure;
  }
}
