/** A process that opens a store and writes to it until it is killed. */
import fs from 'node:fs';
import pg from 'pg';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { openPostgresStore } from '../postgres/postgres-store.ts';
import { openSqliteStore } from '../sqlite/sqlite-store.ts';
import { halfWords, halves, ROOT_KEY } from './crash-records.ts';

export type CrashPlan =
  | { readonly file: string }
  | {
      readonly connectionString: string;
      /** Number of the moment before or after a query at which the process ends itself. */
      readonly steps: number;
    };

const plan = JSON.parse(process.argv[2] ?? '') as CrashPlan;

/** Ends the process at a step of the queries that follow; a file's steps are counted by its disk. */
const endAtQuery = (steps: number): void => {
  let left = steps;
  const step = (): void => {
    left -= 1;
    if (left === 0) process.kill(process.pid, 'SIGKILL');
  };
  const prototype = pg.Client.prototype as unknown as Record<
    'query',
    (this: unknown, ...args: unknown[]) => unknown
  >;
  const { query } = prototype;
  prototype.query = function (...args) {
    step();
    const result = Reflect.apply(query, this, args);
    step();
    return result;
  };
};

const WRITERS = 6;
/** Makes SQLite checkpoint every few dozen groups. */
const filler = 'x'.repeat(8192);
const barrier = createBarrier();
const options = { barrier, projections: [halfWords] };
const store =
  'file' in plan
    ? await openSqliteStore({ ...options, file: plan.file })
    : await openPostgresStore({ ...options, connectionString: plan.connectionString });
await openBarrierFor(store, barrier, ROOT_KEY);
if ('steps' in plan) endAtQuery(plan.steps);

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
