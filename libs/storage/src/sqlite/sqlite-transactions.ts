/** The transaction that is open on the one connection that writes a file, until it is committed. */
import type { DatabaseSync } from 'node:sqlite';
import { guarded } from './sqlite-errors.ts';

export class SqliteTransactions {
  readonly #database: DatabaseSync;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Whether it is open: what is done in it is seen, but not in SQLite's log. */
  get isOpen(): boolean {
    return this.#database.isTransaction;
  }

  /**
   * All that `work` does, or nothing of it. When SQLite gives up the whole transaction, as for an error of
   * the disk, none is open afterwards.
   * @throws KeelsonError as SQLite's error says, and what `work` throws
   */
  run<T>(work: () => T): T {
    return guarded(() => {
      if (!this.isOpen) this.#database.exec('BEGIN IMMEDIATE');
      this.#database.exec('SAVEPOINT work');
      try {
        const result = work();
        this.#database.exec('RELEASE work');
        return result;
      } catch (error) {
        if (this.isOpen) this.#database.exec('ROLLBACK TO work; RELEASE work');
        throw error;
      }
    });
  }

  /**
   * Writes what was done to SQLite's log.
   * @throws KeelsonError as SQLite's error says; nothing of it is in the tables then
   */
  commit(): void {
    if (this.isOpen) guarded(() => this.#database.exec('COMMIT'));
  }
}
