/** Reads and writes while the disk is slow, full or broken. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { diskDirectory, type TemporaryDirectory } from '@keelson/testkit';
import { recordedEnvironment } from '@keelson/testkit/recorded-disk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type {
  StoreAnswer,
  StoreFaultNote,
  StoreReads,
  StoreRequest,
} from '../crash/store-process.ts';

const run = promisify(execFile);
const PROCESS = join(import.meta.dirname, '../crash/store-process.ts');

let folder: TemporaryDirectory;
let record: string;
let child: ChildProcess;
let asked = 0;
const answers = new Map<number, (answer: StoreAnswer) => void>();
/** Faults that began and ended, in order: "full" and "full over". */
let told: string[] = [];
let wakeOnNote: () => void = () => undefined;

const start = async (): Promise<void> => {
  const disk = { folder: join(folder.path, 'disk'), record };
  told = [];
  child = fork(PROCESS, [join(disk.folder, 'store.db')], {
    env: await recordedEnvironment(disk),
  });
  const ready = Promise.withResolvers<void>();
  child.on('message', (message: StoreFaultNote | StoreAnswer | 'ready') => {
    if (message === 'ready') ready.resolve();
    else if ('id' in message) answers.get(message.id)?.(message);
    else {
      told.push(message.isOver ? `${message.fault} over` : message.fault);
      wakeOnNote();
    }
  });
  await ready.promise;
};

/** Resolves with all reports once this is the last of them. */
const lastTold = async (note: string): Promise<readonly string[]> => {
  while (told.at(-1) !== note) {
    const { promise, resolve } = Promise.withResolvers<void>();
    wakeOnNote = resolve;
    await promise;
  }
  return told;
};

const ask = (request: Omit<StoreRequest, 'id'>): Promise<StoreAnswer> => {
  asked += 1;
  const { promise, resolve } = Promise.withResolvers<StoreAnswer>();
  answers.set(asked, resolve);
  child.send({ id: asked, ...request });
  return promise;
};
const write = (name: string, word: string) => ask({ write: { name, word } });
const readAll = async (): Promise<StoreReads & { readonly lost: string | undefined }> => {
  const answer = await ask({});
  if (!('reads' in answer)) throw new Error(JSON.stringify(answer));
  return { ...answer.reads, lost: answer.lost };
};

/** @returns functions to wait for the next flush request, and to let it continue */
const holdNextFlush = async () => {
  const fifo = join(record, 'hold');
  await run('mkfifo', [fifo]);
  return {
    asked: async () => {
      // Opens when the process has opened the other end.
      const handle = await open(fifo, 'w');
      await rm(fifo);
      return { release: () => handle.close() };
    },
  };
};

beforeEach(async () => {
  folder = await diskDirectory();
  record = join(folder.path, 'record');
  await mkdir(join(folder.path, 'disk'));
  await mkdir(record);
  await start();
  await write('a', 'old');
});
afterEach(async () => {
  if (child.kill('SIGKILL')) await once(child, 'exit');
  await folder[Symbol.asyncDispose]();
});

test('reads return the old content at once, and the new content when it is on disk', async () => {
  const before = await readAll();
  const flush = await holdNextFlush();
  const settled: string[] = [];
  const written = Promise.all(
    ['a', 'b'].map(async (name) => {
      await write(name, 'new');
      settled.push(name);
    }),
  );
  const held = await flush.asked();
  expect(await readAll()).toEqual(before);
  expect(settled).toEqual([]);
  await held.release();
  await written;
  const after = await readAll();
  expect(after).toMatchObject({ names: ['a', 'b'], words: ['new', 'old', 'new'] });
  expect(after.head).toBe(before.head + 2);
});

test("a transaction that read what another is changing continues with the other one's result", async () => {
  const flush = await holdNextFlush();
  const first = write('a', 'one');
  const held = await flush.asked();
  const second = write('a', 'two');
  await held.release();
  expect([await first, await second]).toEqual([
    expect.objectContaining({ written: true }),
    expect.objectContaining({ written: true }),
  ]);
  expect((await readAll()).words).toEqual(['old', 'one', 'two']);
});

test('a full disk refuses writes without room, keeps the rest, and accepts writes when it has room again', async () => {
  const before = await readAll();
  await writeFile(join(record, 'full'), '');
  for (const name of ['b', 'c'])
    expect(await write(name, 'refused')).toMatchObject({ refused: 'storage.full' });
  expect(await readAll()).toEqual(before);
  expect(told).toEqual(['full']);
  await rm(join(record, 'full'));
  expect(await write('b', 'taken')).toMatchObject({ written: true });
  expect(await lastTold('full over')).toEqual(['full', 'full over']);
  expect(await readAll()).toMatchObject({ names: ['a', 'b'], lost: undefined });
});

test('after a failed flush nothing is written until the next start, which has everything acknowledged', async () => {
  await writeFile(join(record, 'fail'), '');
  expect(await write('b', 'unknown')).toMatchObject({ refused: 'storage.lost' });
  await rm(join(record, 'fail'));
  expect(await write('c', 'refused')).toMatchObject({ refused: 'storage.lost' });
  child.kill('SIGKILL');
  await once(child, 'exit');
  await start();
  const { names, lost } = await readAll();
  expect(names).toContain('a');
  expect(names).not.toContain('c');
  expect(lost).toBeUndefined();
  expect(await write('d', 'new')).toMatchObject({ written: true });
});

test('that the disk has room again is noticed without a write', async () => {
  await writeFile(join(record, 'full'), '');
  expect(await write('b', 'refused')).toMatchObject({ refused: 'storage.full' });
  await rm(join(record, 'full'));
  expect(await lastTold('full over')).toEqual(['full', 'full over']);
});

/** Enough commits for a log that SQLite should have copied into the main file long before. */
const fillLog = async (): Promise<void> => {
  for (let at = 0; at < 9; at += 1)
    expect(await write(`long-${at}`, 'x'.repeat(1_000_000))).toMatchObject({ written: true });
};

test('a main file that cannot be written is reported while commits go on, and until it can be', async () => {
  await writeFile(join(record, 'fail'), 'store.db');
  await fillLog();
  expect(await lastTold('checkpoint')).toEqual(['checkpoint']);
  expect((await readAll()).lost).toBeUndefined();
  await rm(join(record, 'fail'));
  expect(await lastTold('checkpoint over')).toEqual(['checkpoint', 'checkpoint over']);
});

test('a main file that cannot be written at the end makes closing fail, and nothing is lost', async () => {
  await writeFile(join(record, 'fail'), 'store.db');
  expect(await write('b', 'new')).toMatchObject({ written: true });
  expect(await ask({ close: true })).toMatchObject({
    closed: expect.stringMatching(/could not be copied .* \(disk I\/O error\)\. Nothing is lost/),
  });
  child.kill('SIGKILL');
  await once(child, 'exit');
  await rm(join(record, 'fail'));
  await start();
  expect(await readAll()).toMatchObject({ names: ['a', 'b'] });
  expect(await ask({ close: true })).toMatchObject({ closed: '' });
});
