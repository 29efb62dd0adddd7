import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { fromSqliteError } from './sqlite-errors.ts';

/** What SQLite itself says when a statement fails. */
const failureOf = (database: DatabaseSync, sql: string): unknown => {
  try {
    database.exec(sql);
  } catch (error) {
    return fromSqliteError(error);
  }
  return undefined;
};

test('a file that may not grow is a full store', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('CREATE TABLE t (x BLOB); PRAGMA max_page_count = 3');
  expect(failureOf(database, 'INSERT INTO t VALUES (zeroblob(100000))')).toEqual(
    expect.objectContaining({ code: 'storage.full' }),
  );
});

test('writing what was opened for reading is a read-only store', () => {
  const database = new DatabaseSync(':memory:');
  database.exec('PRAGMA query_only = true');
  expect(failureOf(database, 'CREATE TABLE t (x)')).toEqual(
    expect.objectContaining({ code: 'storage.read_only' }),
  );
});

test('a statement that is wrong stays the bug it is', () => {
  const failure = failureOf(new DatabaseSync(':memory:'), 'SELECT * FROM nowhere');
  expect(failure).toEqual(expect.objectContaining({ errcode: 1 }));
});
