/** A store whose process ended, or whose machine lost its power, before a commit was in the tables. */
import { copyFile, readdir, readFile, readlink, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { findDamage, halfWords, halves, ROOT_KEY, wordsOf } from '../crash/crash-records.ts';
import type { Store } from '../store.ts';
import { SqliteFiles } from './sqlite-files.ts';
import { openSqliteStore } from './sqlite-store.ts';

let folder: TemporaryDirectory;
let file: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder.path, 'store.db');
});
afterEach(() => folder[Symbol.asyncDispose]());

const openStore = async (from = file, projections = [halfWords]): Promise<Store> => {
  const barrier = createBarrier();
  const store = await openSqliteStore({ file: from, barrier, projections });
  await openBarrierFor(store, barrier, ROOT_KEY);
  return store;
};

const write = (store: Store, id: string, words: readonly string[]): Promise<void> =>
  store.transact((tx) => {
    for (const side of ['left', 'right'])
      halves.write(tx, `${side}/${id}`, { id, words, filler: 'x'.repeat(300) });
  });

const remove = (store: Store, id: string): Promise<void> =>
  store.transact((tx) => {
    for (const side of ['left', 'right']) halves.delete(tx, `${side}/${id}`);
  });

/** A store's file as a checkpoint left it, with the redo log of what was committed since. */
const makeUnfinished = async (): Promise<{ readonly after: string; readonly names: string[] }> => {
  const first = await openStore();
  await write(first, 'a', ['one', 'two']);
  await write(first, 'b', ['one']);
  await first.close();
  const after = join(folder.path, 'after.db');
  await copyFile(file, after);
  const second = await openStore();
  await write(second, 'a', ['three']);
  await remove(second, 'b');
  await Promise.all(['c', 'd', 'e'].map((id) => write(second, id, [id])));
  await copyFile(`${file}-redo`, `${after}-redo`);
  const names = [...(await second.list('shared/halves/left/'))];
  await second.close();
  return { after, names };
};

describe('what the redo log alone has', () => {
  test('is carried out by the next start: records, log, trees, projections', async () => {
    const { after, names } = await makeUnfinished();
    const whole = await openStore();
    const store = await openStore(after);
    expect(await store.list('shared/halves/left/')).toEqual(names);
    expect(await store.wal.headSequence()).toBe(await whole.wal.headSequence());
    expect(await wordsOf(store)).toEqual(await wordsOf(whole));
    expect(await findDamage(store, [])).toEqual([]);
    await write(store, 'f', ['goes on']);
    await store.close();
    await whole.close();
    const again = await openStore(after);
    expect(await again.list('shared/halves/left/')).toEqual([...names, 'f']);
    await again.close();
  });

  test('reaches a projection of another version, which is built anew', async () => {
    const { after } = await makeUnfinished();
    const raised = {
      ...halfWords,
      version: 2,
      columns: { ...halfWords.columns, side: 'text' as const },
    };
    const store = await openStore(after, [raised]);
    const ids = new Set((await wordsOf(store)).map(({ id }) => id));
    expect([...ids]).toEqual(['a', 'c', 'd', 'e']);
    await store.close();
  });

  test('counts up to the first record that is not whole', async () => {
    const { after, names } = await makeUnfinished();
    const log = await readFile(`${after}-redo`);
    const main = await readFile(after);
    // The last record may end in zeros too.
    const used = log.findLastIndex((byte) => byte !== 0) + 32;
    const lengths = [...Array(12).keys()].map((part) => Math.ceil((used * part) / 11));
    const heads: number[] = [];
    let found: readonly string[] = [];
    for (const length of lengths) {
      await writeFile(after, main);
      await writeFile(`${after}-redo`, log.subarray(0, length));
      const store = await openStore(after);
      heads.push(await store.wal.headSequence());
      found = await store.list('shared/halves/left/');
      expect(await findDamage(store, [])).toEqual([]);
      await store.close();
    }
    expect(heads).toEqual(heads.toSorted((a, b) => a - b));
    expect(found).toEqual(names);
    await writeFile(after, main);
    const damaged = Buffer.from(log);
    damaged[100] = (damaged[100] ?? 0) ^ 1;
    await writeFile(`${after}-redo`, damaged);
    const store = await openStore(after);
    expect(await store.list('shared/halves/left/')).toEqual(['a', 'b']);
    await store.close();
  });

  test('waits for the next start where one cannot carry it out, and holds no file', async () => {
    const { after, names } = await makeUnfinished();
    const change = (sql: string): void => {
      const database = new DatabaseSync(after);
      database.exec(sql);
      database.close();
    };
    change(`CREATE TRIGGER refusal BEFORE INSERT ON wal WHEN NEW.sequence = 6
            BEGIN SELECT RAISE(ABORT, 'refused'); END`);
    await expect(openStore(after)).rejects.toThrow('refused');
    const open = await Promise.all(
      (await readdir('/proc/self/fd')).map((name) =>
        readlink(`/proc/self/fd/${name}`).catch(String),
      ),
    );
    expect(open.filter((path) => path.startsWith(after))).toEqual([]);
    change('DROP TRIGGER refusal');
    const store = await openStore(after);
    expect(await store.list('shared/halves/left/')).toEqual(names);
    await store.close();
  });

  test('is left alone by a file that it does not belong to', async () => {
    const { after } = await makeUnfinished();
    const other = join(folder.path, 'other.db');
    const made = await openStore(other);
    const head = await made.wal.headSequence();
    await made.close();
    await copyFile(`${after}-redo`, `${other}-redo`);
    const store = await openStore(other);
    expect(await store.wal.headSequence()).toBe(head);
    // As far on as the other was, by other entries.
    await write(store, 'x', ['x']);
    await write(store, 'yy', ['y']);
    await store.close();
    await copyFile(`${after}-redo`, `${other}-redo`);
    const again = await openStore(other);
    expect(await again.list('shared/halves/left/')).toEqual(['x', 'yy']);
    await again.close();
  });
});

describe('a redo log', () => {
  test('is empty beside a store that was closed', async () => {
    const store = await openStore();
    await write(store, 'a', ['a']);
    expect((await stat(`${file}-redo`)).size).toBeGreaterThan(0);
    await store.close();
    expect((await stat(`${file}-redo`)).size).toBe(0);
  });

  test('does not keep what could not be carried out', async () => {
    const store = await openStore();
    await store.close();
    const open = () => {
      const database = new DatabaseSync(file);
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL');
      database.exec('CREATE TABLE IF NOT EXISTS carried (content BLOB)');
      return new SqliteFiles(database, {
        file,
        onCheckpoint: () => undefined,
        onRolledBack: () => undefined,
      });
    };
    const start = { sequence: 0, logBytes: 0 };
    const files = open();
    const full = new Error('no room');
    const refused = files.commit(start, [Buffer.from('refused')], () => {
      throw full;
    });
    await expect(refused).rejects.toBe(full);
    expect([...files.committedAfter(() => start)]).toEqual([]);
    await files.commit(start, [Buffer.from('car'), Buffer.from('ried')], () => undefined);
    expect(String([...files.committedAfter(() => start)])).toBe('carried');
    await files.close();
  });

  test('of which a later one wrote over the start has nothing of before', async () => {
    const { after } = await makeUnfinished();
    const log = await readFile(`${after}-redo`);
    const store = await openStore(after);
    // Shorter than the first of before, whose end is left behind it.
    await store.transact((tx) => tx.write('shared/note', Buffer.from('a')));
    const head = await store.wal.headSequence();
    const main = join(folder.path, 'copy.db');
    await copyFile(after, main);
    await copyFile(`${after}-redo`, `${main}-redo`);
    expect((await stat(`${main}-redo`)).size).toBe(log.length);
    await store.close();
    const copy = await openStore(main);
    expect(await copy.wal.headSequence()).toBe(head);
    expect(await findDamage(copy, [])).toEqual([]);
    await copy.close();
  });
});
