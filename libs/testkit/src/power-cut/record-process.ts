/**
 * Loaded into a process before everything else (`node --import`): records what it flushes, and ends it by
 * SIGKILL at a given step of what it does to its files: a flush, a rename, a link, a removal, or the moment
 * after one of them. What SQLite writes by itself is seen in the files, and counts as not flushed.
 */
import fs from 'node:fs';
import { open } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { type RecordedDisk, recordFlush } from './recorded-disk.ts';

export interface RecordingPlan extends RecordedDisk {
  /** How many steps are gone through before the end; none if absent. */
  readonly steps?: number;
}

const plan = JSON.parse(process.env['RECORDED_DISK'] ?? '') as RecordingPlan;
let steps = 0;
const step = (): void => {
  steps += 1;
  if (steps === plan.steps) process.kill(process.pid, 'SIGKILL');
};

type Method = (this: unknown, ...args: unknown[]) => unknown;

/** @param isFlush the first argument is the descriptor of what is flushed */
const aroundSync = (name: keyof typeof fs, isFlush: boolean): void => {
  const original = fs[name] as unknown as Method;
  (fs as unknown as Record<string, Method>)[name] = function (...args) {
    step();
    const result = Reflect.apply(original, this, args);
    if (isFlush) recordFlush(plan, Number(args[0]));
    step();
    return result;
  };
};

const aroundCallback = (name: 'fsync' | 'fdatasync'): void => {
  const original = fs[name] as unknown as Method;
  const recorded: Method = function (...args) {
    const done = args.pop() as (error: Error | null) => void;
    step();
    return Reflect.apply(original, this, [
      ...args,
      (error: Error | null) => {
        if (error === null) recordFlush(plan, Number(args[0]));
        step();
        done(error);
      },
    ]);
  };
  (fs as unknown as Record<string, Method>)[name] = recorded;
};

const aroundHandles = async (): Promise<void> => {
  const handle = await open(import.meta.filename);
  const prototype = Object.getPrototypeOf(handle) as Record<'sync' | 'datasync', Method>;
  await handle.close();
  for (const name of ['sync', 'datasync'] as const) {
    const original = prototype[name];
    prototype[name] = async function (...args) {
      step();
      await Reflect.apply(original, this, args);
      recordFlush(plan, (this as { readonly fd: number }).fd);
      step();
    };
  }
};

for (const name of ['fsyncSync', 'fdatasyncSync'] as const) aroundSync(name, true);
for (const name of ['renameSync', 'linkSync', 'rmSync', 'unlinkSync', 'mkdirSync'] as const)
  aroundSync(name, false);
for (const name of ['fsync', 'fdatasync'] as const) aroundCallback(name);
await aroundHandles();
syncBuiltinESMExports();
