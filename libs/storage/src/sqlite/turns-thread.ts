/** A thread of a test that takes many turns; whatever two threads count at once is lost. */
import { workerData } from 'node:worker_threads';
import { SharedHead, type StoreMemory } from './shared-head.ts';

export interface TurnsData {
  readonly head: StoreMemory;
  /** One 32-bit number, which each turn reads and writes separately. */
  readonly counter: SharedArrayBuffer;
  readonly turns: number;
}

const { head, counter, turns } = workerData as TurnsData;
const shared = new SharedHead(head, true);
const count = new Int32Array(counter);
// A thread does not stay for the sake of an asynchronous wait on shared memory.
const stay = setInterval(() => undefined, 60_000);
for (let n = 0; n < turns; n += 1) {
  await shared.inTurn(async () => {
    const before = count[0] ?? 0;
    if (n % 7 === 0) await new Promise(setImmediate);
    count[0] = before + 1;
  });
}
clearInterval(stay);
