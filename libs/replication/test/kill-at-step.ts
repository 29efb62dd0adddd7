/**
 * Kills this process at a given step: before or after a publication to NATS, or a write or flush of its
 * store, which the recorded disk that it runs on counts. To be imported before the parts it watches.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { JetStreamBus } from '@keelson/bus/jetstream';

let publicationsLeft = Number.POSITIVE_INFINITY;

/**
 * Begins to count.
 * @param record folder of the record of the disk
 */
export const killAfter = (steps: number, record: string): void => {
  publicationsLeft = steps;
  writeFileSync(join(record, 'steps'), String(steps));
};

const step = (): void => {
  publicationsLeft -= 1;
  if (publicationsLeft === 0) process.kill(process.pid, 'SIGKILL');
};

const prototype = JetStreamBus.prototype as unknown as Record<
  'publish',
  (this: unknown, ...args: unknown[]) => Promise<unknown>
>;
const original = prototype.publish;
prototype.publish = function (...args) {
  step();
  return original.apply(this, args).finally(step);
};
