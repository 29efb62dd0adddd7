/** Workers as processes: what they may do, and how they end. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import {
  Refusal,
  type Supervised,
  superviseTask,
  WorkerDeath,
  type WorkerLimits,
} from './supervisor.ts';

const at = (name: string): string => fileURLToPath(new URL(`./testdata/${name}`, import.meta.url));

const LIMITS: WorkerLimits = {
  timeMs: 60_000,
  memoryBytes: 512 * 1024 * 1024,
  processes: 8,
  outputBytes: 1_000_000,
  fileBytes: 1_000_000,
};

const supervise = (
  task: unknown,
  limits: Partial<WorkerLimits> = {},
  answer: Supervised['answer'] = async () => null,
): Promise<unknown> =>
  superviseTask(at('worker.ts'), task, { limits: { ...LIMITS, ...limits }, answer });

/** Whether a process is there, and does not only wait to be looked at. */
const isAlive = (pid: number): boolean => {
  try {
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

test('a worker gets its task and answers, and gives its result', async () => {
  const asked: unknown[] = [];
  const folders = new Set<string>();
  const result = await supervise('ask', {}, async (question, { folder }) => {
    asked.push(question);
    folders.add(folder);
    expect(existsSync(folder)).toBe(true);
    if (question === 'two') throw new Refusal('not this');
    return { to: question };
  });
  expect(result).toEqual([{ to: 'one' }, 'not this']);
  expect(asked).toEqual(['one', 'two']);
  expect([...folders].filter(existsSync)).toEqual([]);
});

test('an answer that fails ends the worker, and is what the caller sees', async () => {
  const failed = supervise('ask', {}, () => Promise.reject(new Error('the store is full')));
  await expect(failed).rejects.toThrow('the store is full');
});

test('a worker has nothing of the environment, and no debugger can be opened', async () => {
  expect(await supervise('environment')).toEqual({
    names: ['HOME', 'LC_ALL', 'PATH', 'PWD', 'TMPDIR'],
    flags: ['--disable-sigusr1'],
  });
});

test.for([
  ['throw', {}, 'it ended with the code 1'],
  ['exit', {}, 'it ended with the code 0'],
  ['wait', { timeMs: 1500 }, 'it was ended because it took longer than 1.5 seconds'],
  ['memory', {}, 'it was ended because it used more than 536870912 bytes of memory'],
  // The kernel stops it, unless the supervisor has seen it before.
  ['all memory', {}, 'it '],
  ['processes', {}, 'it was ended because it started more than 8 processes'],
  ['output', {}, 'it was ended because it said more than 1000000 bytes'],
  ['garbage', {}, 'it was ended because it said something that is no message'],
  ['file', {}, 'it ended '],
] as const)(
  'the death of a worker by "%s" is an error with its reason',
  async ([task, limits, reason]) => {
    const failure = await supervise(task, limits).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(WorkerDeath);
    const { message, errorOutput } = failure as WorkerDeath;
    expect(message).toContain(reason);
    expect(message).not.toContain('secret');
    expect(errorOutput.includes('a secret of the repository')).toBe(task === 'throw');
  },
);

test('a worker that asks too much at once is ended', async () => {
  const failed = supervise('questions', {}, (_question, { signal }) => once(signal, 'abort'));
  await expect(failed).rejects.toThrow('it asked more than 16 things at once');
});

test('what a worker has started ends with it', async () => {
  const pid = (await supervise('leave')) as number;
  expect(isAlive(pid)).toBe(false);
});

test('a process that has left the group of its worker is not waited for beyond the time limit', async () => {
  const failed = supervise('escape', { timeMs: 3000 }, async (pid) => {
    onTestFinished(() => void process.kill(Number(pid)));
    return null;
  });
  await expect(failed).rejects.toThrow('it took longer than 3 seconds');
});

test('a worker whose supervisor is killed removes its folder and ends', async () => {
  const parent = spawn(process.execPath, [at('supervisor.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const [folder] = (await once(createInterface({ input: parent.stdout }), 'line')) as [string];
  const removed = Promise.withResolvers<void>();
  const watching = watch(tmpdir(), () => existsSync(folder) || removed.resolve());
  parent.kill('SIGKILL');
  await removed.promise;
  watching.close();
  expect(existsSync(folder)).toBe(false);
});
