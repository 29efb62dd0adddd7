/** Reads and writes while the disk is slow, full or broken. */
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { diskDirectory, type TemporaryDirectory } from '@keelson/testkit';
import { recordedEnvironment } from '@keelson/testkit/recorded-disk';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { StoreAnswer, StoreReads, StoreRequest } from '../crash/store-process.ts';

const run = promisify(execFile);
const PROCESS = join(import.meta.dirname, '../crash/store-process.ts');

let folder: TemporaryDirectory;
let record: string;
let child: ChildProcess;
let asked = 0;

const start = async (): Promise<void> => {
  const disk = { folder: join(folder.path, 'disk'), record };
  child = fork(PROCESS, [join(disk.folder, 'store.db')], {
    env: await recordedEnvironment(disk),
  });
  await once(child, 'message');
};

const ask = async (request: Omit<StoreRequest, 'id'>): Promise<StoreAnswer> => {
  asked += 1;
  const id = asked;
  child.send({ id, ...request });
  for (;;) {
    const [answer] = (await once(child, 'message')) as [StoreAnswer];
    if (answer.id === id) return answer;
  }
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
  expect(await write('b', 'refused')).toMatchObject({ refused: 'storage.full' });
  expect(await readAll()).toEqual(before);
  await rm(join(record, 'full'));
  expect(await write('b', 'taken')).toMatchObject({ written: true });
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
