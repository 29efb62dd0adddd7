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

/** @returns false, and nothing is written, when a statement that must change a row changed none */
const transact = (statements: readonly WriteStatement[]): boolean => {
  database.exec('BEGIN IMMEDIATE');
  try {
    for (const statement of statements)
      if (execute(statement) === 0 && statement.mustChange === true) {
        database.exec('ROLLBACK');
        return false;
      }
    database.exec('COMMIT');
    return true;
  } catch (error) {
    // SQLite itself rolls back after some errors of the disk.
    if (database.isTransaction) database.exec('ROLLBACK');
    throw error;
  }
};

const answer = (statements: readonly WriteStatement[]): WriteAnswer => {
  try {
    return { isWritten: transact(statements) };
  } catch (error) {
    const { message } = error as Error;
    return {
      isWritten: false,
      error: { message, errcode: Number(Reflect.get(error as object, 'errcode')) },
    };
  }
};

parentPort?.on('message', (job: WriteJob) => {
  if (job === 'close') {
    database.close();
    parentPort?.close();
  } else parentPort?.postMessage(answer(job));
});
