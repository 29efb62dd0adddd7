/** Owns the writing connection of each SQLite file of the process. Run by writer-thread.ts. */
import { statSync } from 'node:fs';
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { type MessagePort, parentPort } from 'node:worker_threads';
import { endTurn } from './shared-head.ts';
import { CONNECTION_PRAGMAS } from './sqlite-schema.ts';
import type {
  LogState,
  WriteAnswer,
  WriteJob,
  WriteOrder,
  WriteRequest,
  WriteStatement,
  Written,
} from './writer-thread.ts';

/** Twice what SQLite lets the log become before it makes a checkpoint of its own. */
const SUSPICIOUS_LOG_BYTES = 8 * 1024 * 1024;
const LOG_STEP_BYTES = 1024 * 1024;

const toError = (error: unknown): NonNullable<WriteAnswer['error']> => {
  const { message } = error as Error;
  return { message, errcode: Number(Reflect.get(error as object, 'errcode')) };
};

class WritingConnection {
  readonly #database: DatabaseSync;
  readonly #logFile: string;
  readonly #prepared = new Map<string, StatementSync>();
  /** Size of the log after the last checkpoint made here. */
  #checkedBytes = 0;
  /** The writer that has a transaction of several jobs open. */
  #heldBy: string | undefined;

  constructor(file: string) {
    this.#database = new DatabaseSync(file);
    this.#logFile = `${file}-wal`;
    this.#database.exec(CONNECTION_PRAGMAS);
  }

  isHeldFrom(writer: string): boolean {
    return this.#heldBy !== undefined && this.#heldBy !== writer;
  }

  /** @returns false, and nothing is written, when a statement that must change a row changed none */
  carryOut(job: Exclude<WriteJob, 'close' | 'checkpoint'>, writer: string): boolean {
    if (job === 'begin') this.#begin(writer);
    else if (job === 'commit') this.#commit();
    else if (job === 'rollback') this.#rollBack();
    else return 'whole' in job ? this.#transact(job.whole) : this.#executeAll(job.part);
    return true;
  }

  #begin(writer: string): void {
    this.#database.exec('BEGIN IMMEDIATE');
    this.#heldBy = writer;
  }

  /** One that fails is followed by a rollback. */
  #commit(): void {
    this.#database.exec('COMMIT');
    this.#heldBy = undefined;
  }

  /**
   * SQLite makes checkpoints by itself after commits, and tells nobody if they fail. The log then grows, which is
   * how it is noticed here.
   */
  checkLog(): LogState | undefined {
    const bytes = this.#logBytes();
    this.#checkedBytes = Math.min(this.#checkedBytes, bytes);
    const isSuspicious =
      bytes >= Math.max(SUSPICIOUS_LOG_BYTES, this.#checkedBytes + LOG_STEP_BYTES);
    return isSuspicious && !this.#database.isTransaction ? this.checkpoint() : undefined;
  }

  /** Copies the log into the main file, as far as no read needs the former pages. */
  checkpoint(): LogState {
    let error: LogState['error'];
    try {
      this.#database.prepare('PRAGMA wal_checkpoint(PASSIVE)').get();
    } catch (thrown) {
      error = toError(thrown);
    }
    const bytes = this.#logBytes();
    this.#checkedBytes = bytes;
    return error === undefined ? { bytes } : { bytes, error };
  }

  close(): void {
    this.#database.close();
  }

  #logBytes(): number {
    return statSync(this.#logFile, { throwIfNoEntry: false })?.size ?? 0;
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
    this.#heldBy = undefined;
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

/** SQLite makes a checkpoint when a file is closed too, and tells nobody if it fails. */
const close = (file: string): Written => {
  const connection = connections.get(file);
  connections.delete(file);
  if (connection === undefined) return { isWritten: true };
  const log = connection.checkpoint();
  connection.close();
  return { isWritten: true, log };
};

const carryOut = ({ file, by, job }: WriteOrder): Written => {
  if (job === 'close') return close(file);
  const connection = connect(file);
  if (job === 'checkpoint') return { isWritten: true, log: connection.checkpoint() };
  const isWritten = connection.carryOut(job, by);
  if (isWritten && typeof job === 'object' && 'whole' in job && job.ended !== undefined)
    endTurn(job.ended);
  const log = connection.checkLog();
  return log === undefined ? { isWritten } : { isWritten, log };
};

type Order = Exclude<WriteRequest, { readonly port: MessagePort }>;

const answerOf = (order: Order): WriteAnswer => {
  try {
    return { id: order.id, ...carryOut(order) };
  } catch (error) {
    return { id: order.id, isWritten: false, error: toError(error) };
  }
};

/** Orders that wait for the end of a transaction of another writer, oldest first. */
let waiting: { readonly port: MessagePort; readonly order: Order }[] = [];

const execute = (port: MessagePort, order: Order): void => {
  if (connections.get(order.file)?.isHeldFrom(order.by) === true) {
    waiting.push({ port, order });
    return;
  }
  port.postMessage(answerOf(order));
  if (waiting.length === 0 || (order.job !== 'commit' && order.job !== 'rollback')) return;
  const released = waiting;
  waiting = [];
  for (const one of released) execute(one.port, one.order);
};

const serve = (port: MessagePort): void => {
  port.on('message', (request: WriteRequest) => {
    if ('port' in request) serve(request.port);
    else execute(port, request);
  });
};

if (parentPort !== null) serve(parentPort);
