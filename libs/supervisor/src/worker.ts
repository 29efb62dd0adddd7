/** The side of the worker: a program calls `serveTask` once, and ends. */

import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { createInterface } from 'node:readline';
import { guarded } from '@keelson/errors';
import { type FromWorker, type ToWorker, toLine } from './messages.ts';

/** Asks the supervisor, and waits for its answer. @throws Error with the reason why there is none */
export type Ask = (question: unknown) => Promise<unknown>;

/** The supervisor is gone: nobody else would remove the folder or end what this worker has started. */
const followSupervisor = (): void => {
  try {
    rmSync(tmpdir(), { recursive: true, force: true });
  } finally {
    process.kill(-process.pid, 'SIGKILL');
  }
};

/** @param perform does the task; what it throws ends the process, which the supervisor counts as a death */
export const serveTask = async (
  perform: (task: unknown, ask: Ask) => Promise<unknown>,
): Promise<void> => {
  const say = (message: FromWorker): Promise<void> =>
    new Promise((written) => {
      process.stdout.write(toLine(message), () => written());
    });
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  const task = Promise.withResolvers<unknown>();
  const lines = createInterface({ input: process.stdin });
  lines.on(
    'line',
    guarded('supervisor', (line) => {
      const message = JSON.parse(line) as ToWorker;
      if (message.kind === 'task') task.resolve(message.task);
      else if (message.kind === 'answer') waiting.get(message.id)?.resolve(message.answer);
      else waiting.get(message.id)?.reject(new Error(message.reason));
    }),
  );
  lines.once('close', followSupervisor);
  let asked = 0;
  const ask: Ask = async (question) => {
    const id = (asked += 1);
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    await say({ kind: 'question', id, question });
    return answer.promise.finally(() => waiting.delete(id));
  };
  await say({ kind: 'result', result: await perform(await task.promise, ask) });
  process.exit(0);
};
