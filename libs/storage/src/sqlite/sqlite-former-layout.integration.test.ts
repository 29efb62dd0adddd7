/** A file as releases before decisions 0087 and 0088 left it is read, written and compared as a new one. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { temporaryDirectory } from '@keelson/testkit';
import { expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { subpageOf } from '../merkle/record-digest.ts';
import type { Store } from '../store.ts';
import { openSqliteStore } from './sqlite-store.ts';

const RECORDS = 300;
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

/** Pages of 8 KiB, an index over a column where there are tables of its own now. */
const toFormerLayout = (file: string): void => {
  const database = new DatabaseSync(file);
  database.exec(`
    PRAGMA journal_mode = DELETE;
    DROP TABLE subpage_record;
    DROP TABLE subpage_progress;
    CREATE INDEX record_subpage ON record (subpage);
    PRAGMA page_size = 8192;
    VACUUM`);
  expect(database.prepare('PRAGMA page_size').get()).toEqual({ page_size: 8192 });
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

test('a file of the former layout keeps its records, its trees and its subpages', async () => {
  await using folder = await temporaryDirectory();
  const file = join(folder.path, 'store.db');
  const made = await openStore(file);
  await write(made, 0, RECORDS);
  const roots = await made.merkle.roots();
  await made.close();
  toFormerLayout(file);

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
});
