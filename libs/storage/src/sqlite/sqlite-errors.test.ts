import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { fromSqliteError, isFailedDisk } from './sqlite-errors.ts';

/** The error with which SQLite rejects a statement. */
const failureOf = (database: DatabaseSync, sql: string): unknown => {
  try {
    database.exec(sql);
  } catch (error) {
    return fromSqliteError(error);
  }
  return undefined;
};

test('a file that may not grow means a full store', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE t (x BLOB); PRAGMA max_page_count = 3');
  expect(failureOf(database, 'INSERT INTO t VALUES (zeroblob(100000))')).toEqual(
    expect.objectContaining({ code: 'storage.full' }),
  );
});

test('an index of the log that cannot grow means a full store too, of which nothing is lost', () => {
  const error = Object.assign(new Error('disk I/O error'), { errcode: 4874 });
  expect(fromSqliteError(error)).toEqual(expect.objectContaining({ code: 'storage.full' }));
  expect(isFailedDisk(error)).toBe(false);
});

test('a write through a read-only connection means a read-only store', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('PRAGMA query_only = true');
  expect(failureOf(database, 'CREATE TABLE t (x)')).toEqual(
    expect.objectContaining({ code: 'storage.read_only' }),
  );
});

test('an invalid statement remains an unexpected error', () => {
  const failure = failureOf(new DatabaseSync(':memory:'), 'SELECT * FROM nowhere');
  expect(failure).toEqual(expect.objectContaining({ errcode: 1 }));
});
