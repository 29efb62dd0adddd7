/** Loaded into every thread of a control plane: a serving thread other than the first fails when a file appears. */
import { existsSync } from 'node:fs';
import { isMainThread, workerData } from 'node:worker_threads';

const file = process.env.FAILING_THREAD_FILE ?? '';
if (!isMainThread && workerData?.memories !== undefined)
  setInterval(() => {
    if (existsSync(file)) throw new Error('an odd fault');
  }, 20).unref();
