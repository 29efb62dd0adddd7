/** The thread that owns the one writing connection of a store's file. Run by sqlite-writer.ts. */
import { DatabaseSync, type StatementSync } from 'node:sqlite';
import { parentPort, workerData } from 'node:worker_threads';
import { CONNECTION_PRAGMAS } from './sqlite-schema.ts';
import type { WriteAnswer, WriteJob, WriteStatement } from './sqlite-writer.ts';

const database = new DatabaseSync(workerData as string);
database.exec(CONNECTION_PRAGMAS);
const prepared = new Map<string, StatementSync>();

const prepare = (sql: string): StatementSync => {
  const known = prepared.get(sql);
  if (known !== undefined) return known;
  const statement = database.prepare(sql);
  prepared.set(sql, statement);
  return statement;
};

const execute = ({ sql, rows }: WriteStatement): number => {
  const statement = prepare(sql);
  let changes = 0;
  for (const row of rows) changes += Number(statement.run(...row).changes);
  return changes;
};

/**
 * @returns false when a statement that must change a row changed none; later statements are then
 * skipped
 */
const executeAll = (statements: readonly WriteStatement[]): boolean =>
  statements.every((statement) => execute(statement) > 0 || statement.mustChange !== true);

/** SQLite itself rolls back after some errors of the disk. */
const rollBack = (): void => {
  if (database.isTransaction) database.exec('ROLLBACK');
};

/** @returns false, and nothing is written, when a statement that must change a row changed none */
const transact = (statements: readonly WriteStatement[]): boolean => {
  database.exec('BEGIN IMMEDIATE');
  try {
    const isWritten = executeAll(statements);
    database.exec(isWritten ? 'COMMIT' : 'ROLLBACK');
    return isWritten;
  } catch (error) {
    rollBack();
    throw error;
  }
};

const carryOut = (job: Exclude<WriteJob, 'close'>): boolean => {
  if (job === 'begin') database.exec('BEGIN IMMEDIATE');
  else if (job === 'commit') database.exec('COMMIT');
  else if (job === 'rollback') rollBack();
  else return 'whole' in job ? transact(job.whole) : executeAll(job.part);
  return true;
};

const answer = (job: Exclude<WriteJob, 'close'>): WriteAnswer => {
  try {
    return { isWritten: carryOut(job) };
  } catch (error) {
    const { message } = error as Error;
    const errcode = Number(Reflect.get(error as object, 'errcode'));
    return { isWritten: false, error: { message, errcode } };
  }
};

parentPort?.on('message', (job: WriteJob) => {
  if (job === 'close') {
    database.close();
    parentPort?.close();
  } else parentPort?.postMessage(answer(job));
});
