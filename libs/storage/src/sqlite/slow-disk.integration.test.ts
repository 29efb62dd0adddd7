/** What callers see while flushes take as long as a test wants. */
import fs from 'node:fs';
import { copyFile, readFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { setImmediate } from 'node:timers/promises';
import { temporaryDirectory } from '@keelson/testkit';
import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Store } from '../store.ts';

const flush = fs.fdatasync;
/** The disk: flushes that are asked for wait for it, where they are of files that are slow. */
let disk: Promise<void> = Promise.resolve();
let isSlow: (file: string) => boolean = () => true;
let afterFlushAsked: () => void = () => undefined;
let releaseDisk: () => void = () => undefined;
fs.fdatasync = ((descriptor: number, done: fs.NoParamCallback) => {
  const file = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
  if (isBroken(file)) return done(Object.assign(new Error('i/o error'), { code: 'EIO' }));
  if (!isSlow(file)) return flush(descriptor, done);
  const ready = disk;
  afterFlushAsked();
  void ready.then(() => flush(descriptor, done));
}) as typeof fs.fdatasync;
/** Files whose flushes fail. */
let isBroken: (file: string) => boolean = () => false;
/** Files that cannot be written. */
let isFull: (file: string) => boolean = () => false;
const writeNow = fs.write;
const writeWhereRoom = (descriptor: number, ...given: unknown[]): void => {
  if (!isFull(fs.readlinkSync(`/proc/self/fd/${descriptor}`)))
    return Reflect.apply(writeNow, fs, [descriptor, ...given]) as undefined;
  const done = given.at(-1) as (error: Error) => void;
  done(Object.assign(new Error('no space left on device'), { code: 'ENOSPC' }));
};
// What `promisify` goes by is among them.
Object.defineProperties(writeWhereRoom, Object.getOwnPropertyDescriptors(writeNow));
fs.write = writeWhereRoom as typeof fs.write;
syncBuiltinESMExports();
afterAll(() => {
  fs.write = writeNow;
  fs.fdatasync = flush;
  syncBuiltinESMExports();
});
// Imported after the patch above, which the store must see.
const { createBarrier, openBarrierFor, openSqliteStore } = await import('../storage.ts');
const { halfWords, halves, wordsOf } = await import('../crash/crash-records.ts');

/** More than the log may hold without a checkpoint, in records that are small enough. */
const RECORDS = 8;
const RECORD_BYTES = 256 * 1024;

/**
 * From now on, or after the flush that is asked for next.
 * @param of whose flushes are slow; all if absent
 */
const holdDisk = (after: 'now' | 'next flush', of?: string) => {
  isSlow = (file) => of === undefined || file === of;
  const { promise, resolve } = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  let isHeld = after === 'now';
  if (isHeld) disk = promise;
  afterFlushAsked = () => {
    if (isHeld) asked.resolve();
    isHeld = true;
    disk = promise;
  };
  releaseDisk = () => {
    afterFlushAsked = () => undefined;
    disk = Promise.resolve();
    resolve();
  };
  return { release: releaseDisk, asked: asked.promise };
};

/** @returns what ends it */
const interceptExec = (
  intercept: (sql: string, exec: (sql: string) => void) => void,
): (() => void) => {
  const original = Reflect.get(DatabaseSync.prototype, 'exec') as (sql: string) => void;
  DatabaseSync.prototype.exec = function (sql) {
    intercept(sql, (statement) => original.call(this, statement));
  };
  return () => {
    DatabaseSync.prototype.exec = original;
  };
};

describe('while the disk is slow', () => {
  let store: Store;
  /** What was told of stores that were lost. */
  const lost: (readonly [error: Error, file: string])[] = [];
  let afterLost: () => void = () => undefined;
  let file: string;
  let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
  const open = async (from: string): Promise<Store> => {
    const barrier = createBarrier();
    const onLost = (error: Error, name: string): void => {
      lost.push([error, name]);
      afterLost();
    };
    const opened = await openSqliteStore({ file: from, barrier, projections: [halfWords], onLost });
    await openBarrierFor(opened, barrier, new Uint8Array(32).fill(2));
    return opened;
  };
  /** Makes a checkpoint due. */
  const fillLog = (): Promise<void> =>
    store.transact((tx) => {
      for (let record = 0; record < RECORDS; record += 1)
        tx.write(`shared/large/${record}`, new Uint8Array(RECORD_BYTES));
    });
  /** A checkpoint that waits for the flush of the main file, until it is released. */
  const beginCheckpoint = async () => {
    const slow = holdDisk('now', file);
    await fillLog();
    await slow.asked;
    return slow;
  };
  const write = (id: string, words: readonly string[]): Promise<void> =>
    store.transact((tx) => halves.write(tx, `left/${id}`, { id, words, filler: '' }));
  /** All that can be read, each in its own way. */
  const readAll = async () => ({
    one: (await store.read('shared/halves/left/a'))?.version,
    names: await store.list('shared/halves/left/'),
    scanned: (await store.scan('shared/halves/')).length,
    words: (await wordsOf(store)).map(({ word }) => word),
    head: await store.wal.headSequence(),
    stored: (await store.stored.listPaths('replicated', '', 100)).length,
  });

  beforeEach(async () => {
    lost.length = 0;
    folder = await temporaryDirectory();
    file = join(folder.path, 'store.db');
    store = await open(file);
    await write('a', ['old']);
  });
  afterEach(async () => {
    releaseDisk();
    await store.close();
    await folder[Symbol.asyncDispose]();
  });

  test('all reads give what was before, at once, and what is new from when it is on disk', async () => {
    const before = await readAll();
    const slow = holdDisk('now');
    let isWritten = false;
    const written = Promise.all([write('a', ['new']), write('b', ['other'])]).then(() => {
      isWritten = true;
    });
    await slow.asked;
    expect(await readAll()).toEqual(before);
    await setImmediate();
    expect(isWritten).toBe(false);
    slow.release();
    await written;
    const after = await readAll();
    expect(after).toMatchObject({ names: ['a', 'b'], words: ['new', 'other'] });
    expect(after.head).toBe(before.head + 2);
  });

  test('one of two that change what they have read goes on from what the other wrote', async () => {
    const slow = holdDisk('now');
    const add = (word: string): Promise<void> =>
      store.transact(async (tx) => {
        const half = halves.decode((await tx.read('shared/halves/left/a'))?.value as Uint8Array);
        halves.write(tx, 'left/a', { ...half, words: [...half.words, word] });
      });
    const first = add('one');
    await slow.asked;
    const second = add('two');
    slow.release();
    await Promise.all([first, second]);
    const { words } = await readAll();
    expect(words).toEqual(['old', 'one', 'two']);
  });

  test('reads do not wait for a checkpoint either, and what is written is there after it', async () => {
    // The commit's own flush is the last quick one: the checkpoint after it takes long.
    const slow = holdDisk('next flush');
    await fillLog();
    await slow.asked;
    const written = write('b', ['other']);
    expect(await store.list('shared/halves/left/')).toEqual(['a']);
    slow.release();
    await written;
    expect(await store.list('shared/halves/left/')).toEqual(['a', 'b']);
  });

  test('commits go on while what a checkpoint copied is flushed, beside the log of SQLite', async () => {
    const slow = await beginCheckpoint();
    const log = await readFile(`${file}-wal`);
    await write('b', ['other']);
    await write('a', ['new']);
    const before = await readAll();
    expect(before).toMatchObject({ names: ['a', 'b'], words: ['new', 'other'] });
    expect((await readFile(`${file}-wal`)).equals(log)).toBe(true);
    // What a process that is killed now leaves.
    const after = join(folder.path, 'after.db');
    for (const suffix of ['', '-wal', '-redo']) await copyFile(file + suffix, after + suffix);
    slow.release();
    await write('c', ['last']);
    expect(await readAll()).toMatchObject({ names: ['a', 'b', 'c'], head: before.head + 1 });
    const killed = await open(after);
    expect(await killed.list('shared/halves/left/')).toEqual(['a', 'b']);
    expect(await killed.wal.headSequence()).toBe(before.head);
    await killed.close();
  });

  test('one that is refused meanwhile takes nothing of the others with it', async () => {
    const slow = await beginCheckpoint();
    await write('b', ['other']);
    const before = await readAll();
    // After all of its work was done.
    const end = interceptExec((sql, exec) => {
      if (!sql.startsWith('RELEASE')) return exec(sql);
      end();
      throw new RangeError('refused');
    });
    await expect(write('c', ['last'])).rejects.toThrow('refused');
    expect(await readAll()).toEqual(before);
    await write('d', ['last']);
    slow.release();
    await write('e', ['last']);
    expect(await readAll()).toMatchObject({ names: ['a', 'b', 'd', 'e'], head: before.head + 2 });
    expect((await store.merkle.check()).corrupted_root).toBe(false);
  });

  /**
   * From now on SQLite does not commit, as it does it: what could not be committed is rolled back.
   * @param errcode of SQLite
   */
  const refuseToCommit = (errcode: number) => {
    const tried = Promise.withResolvers<void>();
    let tries = 0;
    const end = interceptExec((sql, exec) => {
      exec(sql === 'COMMIT' ? 'ROLLBACK' : sql);
      if (sql !== 'COMMIT') return;
      tries += 1;
      tried.resolve();
      throw Object.assign(new Error('refused'), { errcode });
    });
    return { end, tried: tried.promise, tries: () => tries };
  };
  const SQLITE_IOERR = 10;
  const SQLITE_FULL = 13;

  test('commits that find no room in the log of SQLite are kept, and others wait for it', async () => {
    await write('b', ['other']);
    const before = await readAll();
    const commits = refuseToCommit(SQLITE_FULL);
    try {
      await fillLog();
      await commits.tried;
      await setImmediate();
      const held = await readAll();
      expect(held).toMatchObject({ words: before.words, head: before.head + 1 });
      const refused = expect.objectContaining({ code: 'storage.full' });
      await expect(write('c', ['last'])).rejects.toThrow(refused);
      expect(await readAll()).toEqual(held);
      // To try takes long: only where the log could be made longer.
      const tries = commits.tries();
      isFull = (written) => written === `${file}-wal`;
      await expect(write('c', ['last'])).rejects.toThrow(refused);
      expect(commits.tries()).toBe(tries);
    } finally {
      isFull = () => false;
      commits.end();
    }
    await write('c', ['last']);
    expect(await readAll()).toMatchObject({ names: ['a', 'b', 'c'], head: before.head + 2 });
    expect((await store.merkle.check()).corrupted_root).toBe(false);
    await store.close();
    store = await open(file);
    expect(await store.list('shared/halves/left/')).toEqual(['a', 'b', 'c']);
  });

  test('when the log of SQLite cannot be written, nothing is until the next start, which has all', async () => {
    await write('b', ['other']);
    const commits = refuseToCommit(SQLITE_IOERR);
    await fillLog();
    await commits.tried;
    await setImmediate();
    const refused = expect.objectContaining({ code: 'storage.lost' });
    await expect(write('c', ['last'])).rejects.toThrow(refused);
    await store.close();
    commits.end();
    const cause = expect.objectContaining({ errcode: SQLITE_IOERR });
    expect(lost).toEqual([[cause, `${file}-wal`]]);
    store = await open(file);
    expect(await readAll()).toMatchObject({ names: ['a', 'b'], words: ['old', 'other'] });
    expect(await store.list('shared/large/')).toHaveLength(RECORDS);
  });

  test.for(['-redo', '-wal', ''])(
    'one failed flush of <file>%s is told once, with file and cause, and nothing is served until the next start',
    async (suffix) => {
      await write('b', ['other']);
      const told = new Promise<void>((resolve) => {
        afterLost = resolve;
      });
      isBroken = (name) => name === file + suffix;
      // Enough for a checkpoint, which may fail before a write of this, during it, or after it.
      await fillLog().catch(() => undefined);
      await told;
      isBroken = () => false;
      const refused = expect.objectContaining({ code: 'storage.lost' });
      await expect(write('c', ['last'])).rejects.toThrow(refused);
      await expect(store.read('shared/halves/left/a')).rejects.toThrow(refused);
      const cause = expect.objectContaining({ code: 'EIO' });
      expect(lost).toEqual([[cause, file + suffix]]);
      await store.close();
      store = await open(file);
      expect(await readAll()).toMatchObject({ names: ['a', 'b'], words: ['old', 'other'] });
    },
  );
});
