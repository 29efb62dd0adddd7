/**
 * A process that writes to a store until it kills itself at a given step of the commit order: a
 * statement, a COMMIT, a flush, or the moment after one of them. What it flushes is recorded, so that a
 * test can also go on with what a power cut would have left.
 */
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { type RecordedDisk, recordFlush } from '@keelson/testkit/recorded-disk';
import pg from 'pg';

export interface CrashPlan {
  readonly file?: string;
  /** What is flushed is recorded, if it is of this disk. */
  readonly disk?: RecordedDisk;
  readonly connectionString?: string;
  /** How many steps of the commit order are gone through before the end. */
  readonly steps: number;
  /**
   * Only the steps while the store is opened; or only those before and after the flushes of a checkpoint, or
   * all while one of them is under way, which are few among all. All from when it is open if absent.
   */
  readonly counted?: 'while it is opened' | 'flushes of checkpoints' | 'during checkpoints';
}

const plan = JSON.parse(process.argv[2] ?? '') as CrashPlan;
let isOpen = false;
let steps = 0;
let checkpointFlushes = 0;
const step = (of: 'commit' | 'checkpoint' = 'commit'): void => {
  if (isOpen === (plan.counted === 'while it is opened')) return;
  if (of === 'commit' && plan.counted === 'flushes of checkpoints') return;
  if (checkpointFlushes === 0 && plan.counted === 'during checkpoints') return;
  steps += 1;
  if (steps === plan.steps) process.kill(process.pid, 'SIGKILL');
};

/** Steps before and after each call of a method. */
const stepAround = <T extends object, K extends keyof T>(owner: T, name: K): void => {
  const original = owner[name] as (...args: unknown[]) => unknown;
  owner[name] = function (this: unknown, ...args: unknown[]) {
    step();
    const result = Reflect.apply(original, this, args);
    step();
    return result;
  } as T[K];
};
stepAround(StatementSync.prototype, 'run');
stepAround(DatabaseSync.prototype, 'exec');
stepAround(pg.Client.prototype, 'query');

const record = (descriptor: number): void => {
  if (plan.disk !== undefined) recordFlush(plan.disk, descriptor);
};

/** A slow disk: whoever replies before the flush is done is seen doing it. */
const FLUSH_MS = 2;
/** Long enough for commits to go on meanwhile. */
const CHECKPOINT_FLUSH_MS = 10;

const flushNow = fs.fdatasyncSync;
fs.fdatasync = ((descriptor: number, done: fs.NoParamCallback) => {
  const file = fs.readlinkSync(`/proc/self/fd/${descriptor}`);
  const of = file.endsWith('-redo') ? 'commit' : 'checkpoint';
  if (of === 'checkpoint') checkpointFlushes += 1;
  step(of);
  setTimeout(
    () => {
      flushNow(descriptor);
      record(descriptor);
      step(of);
      if (of === 'checkpoint') checkpointFlushes -= 1;
      done(null);
    },
    of === 'checkpoint' ? CHECKPOINT_FLUSH_MS : FLUSH_MS,
  );
}) as typeof fs.fdatasync;
// Of what opening makes, and of the folder it is in.
const flushWholeNow = fs.fsyncSync;
fs.fsyncSync = (descriptor) => {
  step();
  flushWholeNow(descriptor);
  record(descriptor);
  step();
};
syncBuiltinESMExports();

// Imported after the patches above, which the store must see.
const { createBarrier, openBarrierFor, openSqliteStore } = await import('../storage.ts');
const { openPostgresStore } = await import('../postgres/postgres-store.ts');
const { halfWords, halves, ROOT_KEY } = await import('./crash-records.ts');

const WRITERS = 6;
/** The indexes of a SQLite file catch up every few groups. */
const MAX_RECENT_RECORDS = 50;
/** The redo log begins anew after every other checkpoint. */
const MAX_REDO_BYTES = 1.5 * 1024 * 1024;
/** Makes a checkpoint fall due every few dozen groups. */
const filler = 'x'.repeat(8192);
const barrier = createBarrier();
const options = { barrier, projections: [halfWords] };
const store =
  plan.file === undefined
    ? await openPostgresStore({ ...options, connectionString: plan.connectionString ?? '' })
    : await openSqliteStore({
        ...options,
        file: plan.file,
        maxRecentRecords: MAX_RECENT_RECORDS,
        maxRedoBytes: MAX_REDO_BYTES,
      });
await openBarrierFor(store, barrier, ROOT_KEY);
isOpen = true;

const say = (line: string): void => {
  fs.writeSync(1, `${line}\n`);
};

const writeForever = async (writer: number): Promise<never> => {
  for (let count = 0; ; count += 1) {
    const id = `${writer}-${count}`;
    await store.transact((tx) => {
      for (const side of ['left', 'right'])
        halves.write(tx, `${side}/${id}`, { id, words: [side, `w${count % 3}`], filler });
    });
    say(`+${id}`);
    if (count % 3 !== 2) continue;
    const gone = `${writer}-${count - 1}`;
    say(`?${gone}`);
    await store.transact((tx) => {
      for (const side of ['left', 'right']) halves.delete(tx, `${side}/${gone}`);
    });
    say(`-${gone}`);
  }
};
await Promise.all(Array.from({ length: WRITERS }, (_, writer) => writeForever(writer)));
