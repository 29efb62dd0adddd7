/**
 * Kills this process at a given step: before or after a statement of the database, a COMMIT, or a
 * publication to NATS. To be imported before the parts it watches.
 */
import { DatabaseSync, StatementSync } from 'node:sqlite';
import { JetStreamBus } from '@keelson/bus/jetstream';

let stepsLeft = Number.POSITIVE_INFINITY;

/** Begins to count. */
export const killAfter = (steps: number): void => {
  stepsLeft = steps;
};

const step = (): void => {
  stepsLeft -= 1;
  if (stepsLeft === 0) process.kill(process.pid, 'SIGKILL');
};

const stepAround = <T extends object, K extends keyof T>(owner: T, name: K): void => {
  const original = owner[name] as (...args: unknown[]) => unknown;
  owner[name] = function (this: unknown, ...args: unknown[]) {
    step();
    const result = Reflect.apply(original, this, args);
    if (result instanceof Promise) return result.finally(step);
    step();
    return result;
  } as T[K];
};
stepAround(StatementSync.prototype, 'run');
stepAround(DatabaseSync.prototype, 'exec');
stepAround(JetStreamBus.prototype, 'publish');
