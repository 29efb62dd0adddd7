/** Unusable files are refused with a code that says why, and are left unchanged. */
import { execFile } from 'node:child_process';
import { chmod, open, readdir, readFile, rm, stat, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { promisify } from 'node:util';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import type { Store } from '../store.ts';
import { examineSqliteStore } from './examine-store.ts';
import { openSqliteStore } from './sqlite-store.ts';

const run = promisify(execFile);
const NOBODY = { uid: 65_534, gid: 65_534 };
const PACKAGE = new URL('../storage.ts', import.meta.url).href;
const OPEN_AND_SAY_CODE = `
  const [, url, file] = process.argv;
  const { createBarrier, openSqliteStore } = await import(url);
  await openSqliteStore({ file, barrier: createBarrier() }).catch(({ code }) => console.log(code));`;
const refusal = (code: string) => expect.objectContaining({ code });

let folder: TemporaryDirectory;
let file: string;
beforeEach(async () => {
  folder = await temporaryDirectory();
  file = join(folder.path, 'store.db');
});
afterEach(() => folder[Symbol.asyncDispose]());

const openStore = async (): Promise<Store> => {
  const barrier = createBarrier();
  const store = await openSqliteStore({ file, barrier });
  await openBarrierFor(store, barrier, new Uint8Array(32).fill(2));
  return store;
};

const fill = async (store: Store, count: number, valueBytes = 2000): Promise<void> => {
  for (let n = 0; n < count; n += 1)
    await store.transact((tx) => tx.write(`shared/${n}`, new Uint8Array(valueBytes).fill(n)));
};

/** Content of every file in the folder, by name. */
const contents = async () =>
  Object.fromEntries(
    await Promise.all(
      (await readdir(folder.path)).map(
        async (name) => [name, await readFile(join(folder.path, name), 'hex')] as const,
      ),
    ),
  );

describe('a SQLite store', () => {
  test('is written while another store of the process is closed, and can be opened again', async () => {
    const [first, firstFile] = [await openStore(), file];
    file = join(folder.path, 'other.db');
    const other = await openStore();
    await Promise.all([fill(first, 3), fill(other, 3)]);
    await Promise.all([first.close(), fill(other, 6)]);
    expect(await other.list('shared/')).toHaveLength(6);
    file = firstFile;
    const again = await openStore();
    await fill(again, 5);
    expect(await again.list('shared/')).toHaveLength(5);
    await Promise.all([other.close(), again.close()]);
  });

  test('is refused while another one has the file open', async () => {
    const store = await openStore();
    await expect(openStore()).rejects.toThrow(refusal('storage.unavailable'));
    await store.close();
  });

  test('is refused in a folder that does not exist', async () => {
    file = join(folder.path, 'missing', 'store.db');
    await expect(openStore()).rejects.toThrow(refusal('storage.unavailable'));
  });

  test.for([
    ['that is absent', () => rm(file)],
    ['that is empty', () => writeFile(file, '')],
    [
      'that is a database of something else',
      () => {
        const database = new DatabaseSync(file);
        database.exec('DROP TABLE head');
        database.close();
      },
    ],
  ] as const)('is not created in a file %s where none may be created', async ([, change]) => {
    await (await openStore()).close();
    for (const suffix of ['-wal', '-shm']) await rm(file + suffix, { force: true });
    await change();
    const before = await contents();
    const opening = openSqliteStore({ file, barrier: createBarrier(), mayCreate: false });
    await expect(opening).rejects.toThrow(refusal('storage.missing'));
    expect(await contents()).toEqual(before);
  });

  test('has files that only their owner may read', async () => {
    const store = await openStore();
    await fill(store, 3);
    const names = await readdir(folder.path);
    expect(names.sort()).toEqual(['store.db', 'store.db-lock', 'store.db-shm', 'store.db-wal']);
    for (const name of names)
      expect([name, (await stat(join(folder.path, name))).mode & 0o777]).toEqual([name, 0o600]);
    await store.close();
  });

  test('is refused when its format is of another version of Keelson', async () => {
    const store = await openStore();
    await store.close();
    const database = new DatabaseSync(file);
    database.exec('UPDATE head SET format = format + 1');
    database.close();
    const before = await readFile(file);
    await expect(openStore()).rejects.toThrow(refusal('storage.unknown_format'));
    expect(await readFile(file)).toEqual(before);
  });

  test('is refused when the file is something else, which stays unchanged', async () => {
    const text = 'not a database, but long enough to be looked at as one. '.repeat(20);
    await writeFile(file, text);
    await expect(openStore()).rejects.toThrow(refusal('storage.corrupt'));
    expect(await readFile(file, 'utf8')).toBe(text);
  });

  test('is refused when another file took its place, and its log is kept for the right one', async () => {
    await (await openStore()).close();
    const store = await openStore();
    await fill(store, 20);
    const killed = await contents();
    await store.close();
    for (const [name, content] of Object.entries(killed))
      await writeFile(join(folder.path, name), content, 'hex');
    for (const wrong of ['not a database. '.repeat(1000), killed['store.db']?.slice(0, 100)]) {
      await writeFile(file, wrong ?? '');
      const before = await contents();
      await expect(openStore()).rejects.toThrow(refusal('storage.corrupt'));
      expect(await contents()).toEqual(before);
    }
    await writeFile(file, killed['store.db'] ?? '', 'hex');
    const again = await openStore();
    expect(await again.list('shared/')).toHaveLength(20);
    await again.close();
  });

  test.for([
    ['empty', () => Buffer.alloc(0)],
    ['cut within its first page', (log: Buffer) => log.subarray(0, 4000)],
    ['cut within its first commit', (log: Buffer) => log.subarray(0, 32 + 24 + 4096)],
    ['damaged in its first page', (log: Buffer) => Buffer.from(log).fill(7, 100, 200)],
    ['of something else', () => Buffer.from('x'.repeat(9000))],
    ['whole', (log: Buffer) => log],
  ] as const)('is examined without changing a log that is %s', async ([, change]) => {
    await (await openStore()).close();
    const store = await openStore();
    await fill(store, 3);
    const killed = await contents();
    await store.close();
    for (const [name, content] of Object.entries(killed))
      await writeFile(join(folder.path, name), content, 'hex');
    await writeFile(`${file}-wal`, change(Buffer.from(killed['store.db-wal'] ?? '', 'hex')));
    const before = await contents();
    const examined = examineSqliteStore(file);
    const { sequence } = examined;
    expect(examined.findDamage()).toBeUndefined();
    examined.close();
    expect(await contents()).toEqual(before);
    const opened = await openSqliteStore({ file, barrier: createBarrier() });
    expect(await opened.wal.headSequence()).toBe(sequence);
    await opened.close();
  });

  test('that was cut off is refused, although its list of tables and its log are there', async () => {
    const store = await openStore();
    await fill(store, 200);
    await store.close();
    const { size } = await stat(file);
    await truncate(file, 4096);
    const before = await contents();
    expect(size).toBeGreaterThan(4096);
    await expect(openStore()).rejects.toThrow(refusal('storage.corrupt'));
    expect(await contents()).toEqual(before);
  });

  test('is refused when the first page of any table is damaged', async () => {
    await (await openStore()).close();
    const database = new DatabaseSync(file, { readOnly: true });
    const root = database
      .prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tree_page'")
      .get();
    database.close();
    const handle = await open(file, 'r+');
    await handle.write(
      new Uint8Array(512).fill(0xff),
      0,
      512,
      (Number(root?.['rootpage']) - 1) * 4096,
    );
    await handle.close();
    await expect(openStore()).rejects.toThrow(refusal('storage.corrupt'));
  });

  test('refuses what is on damaged pages, and reports the damage once', async () => {
    const store = await openStore();
    await fill(store, 200);
    await store.close();
    const damaged = await openStore();
    const handle = await open(file, 'r+');
    const { size } = await handle.stat();
    for (let at = 3 * 4096; at < size; at += 4096)
      await handle.write(new Uint8Array(512).fill(0xff), 0, 512, at);
    await handle.close();
    const told: unknown[] = [];
    damaged.onFault(({ kind, isOver }, cause) => told.push([kind, isOver, cause]));
    expect(damaged.faults()).toEqual([]);
    for (let reads = 0; reads < 2; reads += 1)
      await expect(damaged.scan('shared/')).rejects.toThrow(refusal('storage.corrupt'));
    expect(told).toEqual([['damaged', false, refusal('storage.corrupt')]]);
    expect(damaged.faults()).toEqual([
      { kind: 'damaged', text: expect.stringContaining('the store is damaged') },
    ]);
    await damaged.close();
  });

  test('in a folder without write permission is refused, and nothing is changed', async () => {
    const store = await openStore();
    await fill(store, 3);
    await store.close();
    await chmod(file, 0o444);
    await chmod(folder.path, 0o555);
    const before = await readFile(file);
    // Root may write anywhere, so another user tries.
    const { stdout } = await run(
      process.execPath,
      ['--input-type=module', '--eval', OPEN_AND_SAY_CODE, PACKAGE, file],
      { ...(process.getuid?.() === 0 && NOBODY) },
    );
    expect(stdout.trim()).toBe('storage.read_only');
    expect(await readFile(file)).toEqual(before);
  });
});
