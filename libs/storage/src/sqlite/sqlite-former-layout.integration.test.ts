/** A file as releases before decisions 0087, 0088 and 0096 left it is read, written and compared as a new one. */
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { subpageOf } from '../merkle/record-digest.ts';
import type { Store } from '../store.ts';
import { upgradeFormerLayout } from './sqlite-former-layout.ts';
import { FORMAT_WITHOUT_REDO_LOG } from './sqlite-schema.ts';
import { openSqliteStore } from './sqlite-store.ts';

const RECORDS = 300;
/** Of the log: https://www.sqlite.org/fileformat2.html#walformat, pages of 8 KiB. */
const WAL_HEADER_BYTES = 32;
const FRAME_BYTES = 24 + 8192;
const pathOf = (n: number): string => `shared/rooms/${n}`;

const openStore = async (file: string): Promise<Store> => {
  const barrier = createBarrier();
  const store = await openSqliteStore({ file, barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(2));
  return store;
};

const write = (store: Store, from: number, to: number): Promise<void> =>
  store.transact((tx) => {
    for (let n = from; n < to; n += 1) tx.write(pathOf(n), Buffer.from(`room ${n}`));
  });

/** A path that is UNIQUE, with an index that each commit writes, where there are tables of our own now. */
const toFormerPaths = (database: DatabaseSync): void => {
  database.exec(`
    BEGIN;
    UPDATE head SET format = ${FORMAT_WITHOUT_REDO_LOG};
    DROP TABLE record_path;
    DROP TABLE index_progress;
    CREATE TABLE former (
      path TEXT NOT NULL UNIQUE,
      version INTEGER NOT NULL,
      subpage INTEGER,
      leaf BLOB,
      stored BLOB NOT NULL
    );
    INSERT INTO former (rowid, path, version, subpage, leaf, stored)
      SELECT number, path, version, subpage, leaf, stored FROM record;
    DROP TABLE record;
    ALTER TABLE former RENAME TO record;
    COMMIT`);
};

/** As 0088 left them: some records are in the index of subpages, the others are still to come. */
const toTablesOf0088 = (database: DatabaseSync): void => {
  toFormerPaths(database);
  database.exec(`
    INSERT OR IGNORE INTO subpage_record (subpage, record)
      SELECT subpage, rowid FROM record WHERE rowid <= ${RECORDS / 2} AND subpage IS NOT NULL;
    DELETE FROM subpage_record WHERE record > ${RECORDS / 2};
    CREATE TABLE subpage_progress (
      id INTEGER PRIMARY KEY CHECK (id = 1),
      indexed_to INTEGER NOT NULL
    );
    INSERT INTO subpage_progress (id, indexed_to) VALUES (1, ${RECORDS / 2})`);
};

/** Pages of 8 KiB, an index over a column where there were tables later. */
const toPagesBefore0087 = (database: DatabaseSync): void => {
  toFormerPaths(database);
  database.exec(`
    PRAGMA journal_mode = DELETE;
    DROP TABLE subpage_record;
    CREATE INDEX record_subpage ON record (subpage);
    PRAGMA page_size = 8192;
    VACUUM`);
  expect(database.prepare('PRAGMA page_size').get()).toEqual({ page_size: 8192 });
};

const rewrite = (file: string, change: (database: DatabaseSync) => void): void => {
  const database = new DatabaseSync(file);
  change(database);
  database.close();
};

/** What a resync asks of each record: whether its subpage names it. */
const findUnlisted = async (store: Store): Promise<readonly string[]> => {
  const paths = await store.stored.listPaths('replicated', '', 10_000);
  const unlisted: string[] = [];
  for (const path of paths) {
    const listed = await store.stored.listSubpage('replicated', subpageOf(path));
    if (!listed.includes(path)) unlisted.push(path);
  }
  return unlisted;
};

const makeFile = async (folder: string) => {
  const file = join(folder, 'store.db');
  const made = await openStore(file);
  await write(made, 0, RECORDS);
  const roots = await made.merkle.roots();
  await made.close();
  return { file, roots };
};

test.each([
  { layout: '0088', toFormer: toTablesOf0088 },
  { layout: 'before 0087', toFormer: toPagesBefore0087 },
])('a file as $layout left it keeps its records, trees and subpages', async ({ toFormer }) => {
  await using folder = await temporaryDirectory();
  const { file, roots } = await makeFile(folder.path);
  rewrite(file, toFormer);

  const opened = await openStore(file);
  expect(await opened.merkle.roots()).toEqual(roots);
  expect((await opened.merkle.check()).corrupted_root).toBe(false);
  expect(await findUnlisted(opened)).toEqual([]);

  // It goes on: records that come, change and go beside the old ones.
  await write(opened, RECORDS - 50, RECORDS + 100);
  await opened.transact((tx) => {
    for (let n = 0; n < 100; n += 1) tx.delete(pathOf(n));
  });
  const later = await opened.merkle.roots();
  expect(await findUnlisted(opened)).toEqual([]);
  await opened.close();

  const again = await openStore(file);
  expect(await again.merkle.roots()).toEqual(later);
  expect((await again.merkle.check()).corrupted_root).toBe(false);
  const paths = await again.stored.listPaths('replicated', 'shared/rooms/', 10_000);
  expect(paths).toHaveLength(RECORDS);
  await again.close();

  // What SQLite itself says of the tables, and what an operator may do to make the file small.
  rewrite(file, (database) => {
    expect(database.prepare('PRAGMA integrity_check').all()).toEqual([{ integrity_check: 'ok' }]);
    database.exec('VACUUM');
  });
  const vacuumed = await openStore(file);
  expect((await vacuumed.merkle.check()).corrupted_root).toBe(false);
  expect(await findUnlisted(vacuumed)).toEqual([]);
  expect(await vacuumed.scan('shared/rooms/')).toHaveLength(RECORDS);
  await vacuumed.close();
});

test('a file whose upgrade was cut short at any write is upgraded by the next start', async () => {
  await using folder = await temporaryDirectory();
  const { file, roots } = await makeFile(folder.path);
  rewrite(file, toPagesBefore0087);

  using database = new DatabaseSync(file);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0');
  upgradeFormerLayout(database);
  const log = await readFile(`${file}-wal`);
  expect(log.length).toBeGreaterThan(WAL_HEADER_BYTES + FRAME_BYTES);
  for (let end = WAL_HEADER_BYTES; end <= log.length; end += FRAME_BYTES) {
    const cut = join(folder.path, `${end}.db`);
    await copyFile(file, cut);
    await writeFile(`${cut}-wal`, log.subarray(0, end));
    const opened = await openStore(cut);
    expect(await opened.merkle.roots()).toEqual(roots);
    expect(await opened.scan('shared/rooms/')).toHaveLength(RECORDS);
    expect(await findUnlisted(opened)).toEqual([]);
    await opened.close();
  }
});
