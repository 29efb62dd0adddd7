/** Transactions on the one connection that writes a file. */
import type { DatabaseSync } from 'node:sqlite';
import { guarded } from './sqlite-errors.ts';

/** What begins work within a transaction, ends it, and takes it back. */
const ALONE = [undefined, 'COMMIT', 'ROLLBACK'] as const;
const WITHIN_HELD = ['SAVEPOINT work', 'RELEASE work', 'ROLLBACK TO work; RELEASE work'] as const;

export class SqliteTransactions {
  readonly #database: DatabaseSync;
  #isHolding = false;

  constructor(database: DatabaseSync) {
    this.#database = database;
  }

  /** Whether what is done is seen, but not in SQLite's log. */
  get isHolding(): boolean {
    return this.#isHolding;
  }

  /** From now on nothing is written to SQLite's log: all work is in one transaction, until `release`. */
  hold(): void {
    this.#isHolding = true;
  }

  /**
   * Commits what was held.
   * @throws KeelsonError as SQLite's error says; nothing of what was held is in the tables then
   */
  release(): void {
    this.#isHolding = false;
    if (this.#database.isTransaction) guarded(() => this.#database.exec('COMMIT'));
  }

  /**
   * All that `work` does, or nothing of it. When SQLite gives up the whole transaction while it is held, as
   * for an error of the disk, no transaction is open afterwards.
   * @throws KeelsonError as SQLite's error says, and what `work` throws
   */
  run<T>(work: () => T): T {
    const [begin, end, undo] = this.#isHolding ? WITHIN_HELD : ALONE;
    return guarded(() => {
      if (!this.#database.isTransaction) this.#database.exec('BEGIN IMMEDIATE');
      if (begin !== undefined) this.#database.exec(begin);
      try {
        const result = work();
        this.#database.exec(end);
        return result;
      } catch (error) {
        if (this.#database.isTransaction) this.#database.exec(undo);
        throw error;
      }
    });
  }
}
