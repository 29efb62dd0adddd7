/** The end in the thread: jobs are begun as they come, results of one turn of the event loop go together. */
import { setImmediate } from 'node:timers';
import { parentPort } from 'node:worker_threads';
import type { FromJobThread, JobResult, NumberedJob } from './job-messages.ts';
import { toRefusal } from './refusal.ts';

export const serveJobs = <Job, Result>(perform: (job: Job) => Result | Promise<Result>): void => {
  let results: JobResult<Result>[] = [];
  const say = (message: FromJobThread<Result>): void => parentPort?.postMessage(message);
  const sayResults = (): void => {
    say(results);
    results = [];
  };
  const serve = async ({ id, job }: NumberedJob<Job>): Promise<void> => {
    let result: JobResult<Result>;
    try {
      result = { id, result: await perform(job) };
    } catch (thrown) {
      result = { id, refusal: toRefusal(thrown) };
    }
    if (results.push(result) === 1) setImmediate(sayResults);
  };
  parentPort?.on('message', (jobs: readonly NumberedJob<Job>[]) => {
    for (const job of jobs) void serve(job);
  });
  say('up');
};
