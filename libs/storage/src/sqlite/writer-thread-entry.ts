/** Owns the writing connection of each SQLite file of the process. Run by writer-thread.ts. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort } from 'node:worker_threads';
import { CONNECTION_PRAGMAS } from './sqlite-schema.ts';
import type { WriteAnswer, WriteJob, WriteRequest, WriteStatement } from './writer-thread.ts';

class WritingConnection {
  readonly #database: DatabaseSync;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#database.exec(CONNECTION_PRAGMAS);
  }

  /** @returns false, and nothing is written, when a statement that must change a row changed none */
  carryOut(job: Exclude<WriteJob, 'close'>): boolean {
    if (job === 'begin') this.#database.exec('BEGIN IMMEDIATE');
    else if (job === 'commit') this.#database.exec('COMMIT');
    else if (job === 'rollback') this.#rollBack();
    else return 'whole' in job ? this.#transact(job.whole) : this.#executeAll(job.part);
    return true;
  }

  close(): void {
    this.#database.close();
  }

  #transact(statements: readonly WriteStatement[]): boolean {
    this.#database.exec('BEGIN IMMEDIATE');
    try {
      const isWritten = this.#executeAll(statements);
      this.#database.exec(isWritten ? 'COMMIT' : 'ROLLBACK');
      return isWritten;
    } catch (error) {
      this.#rollBack();
      throw error;
    }
  }

  /**
   * @returns false when a statement that must change a row changed none; later statements are then
   * skipped
   */
  #executeAll(statements: readonly WriteStatement[]): boolean {
    return statements.every(
      (statement) => this.#execute(statement) > 0 || statement.mustChange !== true,
    );
  }

  #execute({ sql, rows }: WriteStatement): number {
    const statement = this.#prepare(sql);
    let changes = 0;
    for (const row of rows) changes += Number(statement.run(...row).changes);
    return changes;
  }

  #prepare(sql: string): StatementSync {
    const known = this.#prepared.get(sql);
    if (known !== undefined) return known;
    const statement = this.#database.prepare(sql);
    this.#prepared.set(sql, statement);
    return statement;
  }

  /** SQLite itself rolls back after some errors of the disk. */
  #rollBack(): void {
    if (this.#database.isTransaction) this.#database.exec('ROLLBACK');
  }
}

const connections = new Map<string, WritingConnection>();

/** Opens the file for its first job. */
const connect = (file: string): WritingConnection => {
  const connection = connections.get(file) ?? new WritingConnection(file);
  connections.set(file, connection);
  return connection;
};

const carryOut = ({ file, job }: WriteRequest): boolean => {
  if (job !== 'close') return connect(file).carryOut(job);
  const connection = connections.get(file);
  connections.delete(file);
  connection?.close();
  return true;
};

const answer = (request: WriteRequest): WriteAnswer => {
  try {
    return { isWritten: carryOut(request) };
  } catch (error) {
    const { message } = error as Error;
    const errcode = Number(Reflect.get(error as object, 'errcode'));
    return { isWritten: false, error: { message, errcode } };
  }
};

parentPort?.on('message', (request: WriteRequest) => {
  parentPort?.postMessage(answer(request));
});
