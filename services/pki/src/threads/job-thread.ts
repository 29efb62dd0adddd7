/** Work that needs nothing of what the answering thread has, done beside it where there is a core for that. */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Logger } from '@keelson/logging';
import type { FromJobThread, JobResult, NumberedJob } from './job-messages.ts';
import { toThrown } from './refusal.ts';

/** What a job leaves behind is gone with it: without a limit V8 lets it grow to 128 MB before it looks. */
const MAX_YOUNG_MEGABYTES = 32;

/** Jobs and results are plain data. */
export interface ThreadedWork<Job, Result> {
  /** Of the thread: a module that serves jobs. */
  readonly entry: URL;
  readonly name: string;
  /** The same on the calling thread. */
  readonly here: (job: Job) => Result | Promise<Result>;
}

export class JobThread<Job, Result> {
  readonly #worker: Worker;
  readonly #waiting = new Map<number, PromiseWithResolvers<Result>>();
  readonly #up = Promise.withResolvers<void>();
  #unsent: NumberedJob<Job>[] = [];
  #lastId = 0;
  isUp = false;

  /** @param onEnd called once, when the thread ended by itself */
  constructor(
    { entry, name }: Pick<ThreadedWork<Job, Result>, 'entry' | 'name'>,
    onEnd: (cause: unknown) => void,
  ) {
    const end = (cause: unknown): void => {
      this.#letGo(cause);
      onEnd(cause);
    };
    const resourceLimits = { maxYoungGenerationSizeMb: MAX_YOUNG_MEGABYTES };
    this.#worker = new Worker(entry, { name, resourceLimits });
    this.#worker.on('message', (message: FromJobThread<Result>) => {
      if (message === 'up') {
        this.isUp = true;
        this.#up.resolve();
      } else this.#receive(message);
    });
    this.#worker.on('error', end);
    this.#worker.on('exit', (code) => end(new Error(`the thread ${name} ended with ${code}`)));
    this.#worker.unref();
    // Whoever waits for it is told.
    this.#up.promise.catch(() => undefined);
  }

  /** Resolves when the thread is up; rejects where it does not come up. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  /** Jobs of one turn of the event loop go in one message, which costs as much as a short job. */
  do(job: Job): Promise<Result> {
    const waiting = Promise.withResolvers<Result>();
    const id = ++this.#lastId;
    this.#waiting.set(id, waiting);
    if (this.#unsent.push({ id, job }) === 1)
      setImmediate(() => {
        this.#worker.postMessage(this.#unsent);
        this.#unsent = [];
      });
    return waiting.promise;
  }

  end(reason: unknown): void {
    this.#letGo(reason);
    void this.#worker.terminate();
  }

  #receive(results: readonly JobResult<Result>[]): void {
    for (const one of results) {
      const waiting = this.#waiting.get(one.id);
      this.#waiting.delete(one.id);
      if ('result' in one) waiting?.resolve(one.result);
      else waiting?.reject(toThrown(one.refusal));
    }
  }

  #letGo(cause: unknown): void {
    this.#worker.removeAllListeners();
    this.#up.reject(cause);
    for (const { reject } of this.#waiting.values()) reject(cause);
    this.#waiting.clear();
  }
}

/**
 * On a thread of its own, which the first job starts; until it is up, and on a machine of one core, on the
 * calling thread. What a thread was at when it ended by itself is not done again here: it may have been the
 * cause.
 * @param stopping ends the thread, and with it what is under way
 * @returns rejects with what the work throws, or when it was not brought to its end
 */
export const workBeside = <Job, Result>(
  work: ThreadedWork<Job, Result>,
  { logger, stopping }: { readonly logger: Logger; readonly stopping: AbortSignal },
): ((job: Job) => Promise<Result>) => {
  const here = async (job: Job): Promise<Result> => work.here(job);
  if (availableParallelism() === 1) return here;
  let thread: JobThread<Job, Result> | undefined;
  /** Where a thread does not come up, none is tried again. */
  let isUsable = true;
  const start = (): JobThread<Job, Result> => {
    const started: JobThread<Job, Result> = new JobThread(work, (err) => {
      logger.error({ err, thread: work.name }, 'a thread beside the requests ended');
      isUsable = started.isUp;
      thread = undefined;
    });
    return started;
  };
  const stop = (): void => {
    thread?.end(stopping.reason);
    thread = undefined;
  };
  stopping.addEventListener('abort', stop, { once: true });
  return (job) => {
    if (isUsable && !stopping.aborted) thread ??= start();
    return thread?.isUp === true ? thread.do(job) : here(job);
  };
};
