/** A pool of worker threads for jobs on plain data, off the event loop. */
import { availableParallelism } from 'node:os';
import { KeelsonError } from '@keelson/errors';
import { FairQueue } from '@keelson/locks';
import type { Logger } from '@keelson/logging';
import { Piscina } from 'piscina';
import { type Settled, toThrown } from './settled.ts';

/** Jobs and results are plain data: they are copied from thread to thread. A KeyObject is not copied. */
export interface PooledWork<Job, Result> {
  /** Module whose export `serve` is `serveJobs` of the same function as `here`. */
  readonly entry: URL;
  /** Name of the work in log lines. */
  readonly name: string;
  /** The same work on the calling thread. */
  readonly here: (job: Job) => Result | Promise<Result>;
  readonly maxThreads: number;
  /**
   * A thread is given the jobs of one turn of the event loop in messages of up to this many, and answers a
   * message as a whole. A message costs as much as a short job.
   */
  readonly jobsPerMessage: number;
  /** Messages that a thread works on at a time. */
  readonly messagesAtATime: number;
  /** The part of one owner in them. */
  readonly messagesOfOwner: number;
}

export interface JobPlace {
  /** Owners of jobs take turns, such as mounts. */
  readonly owner?: string;
  /** Whether the job is sent in a separate message, so that its result does not wait for other jobs. */
  readonly isAlone?: boolean;
}

/** Collects the garbage of jobs early: by default V8 lets it grow to 128 MB first. */
const MAX_YOUNG_MEGABYTES = 16;

interface Waiting<Job, Result> extends PromiseWithResolvers<Result> {
  readonly job: Job;
  readonly owner: string;
  readonly isAlone: boolean;
}

interface StartedPool<Job, Result> {
  readonly threads: Piscina<readonly Job[], Settled<Result>[]>;
  readonly threadLimit: number;
  /** Resolves when a thread can take jobs, or will not come up. */
  readonly started: Promise<void>;
  isUp: boolean;
  /** Why the pool was ended; undefined while it runs. */
  endedBy?: unknown;
}

/**
 * The first job starts a thread. Jobs run on the calling thread until it is ready, where there is no second processor for
 * them, and if threads cannot start. A job whose thread ended unexpectedly is not repeated there, because it may
 * have been the cause. Jobs wait here and not with the threads, so that each owner has its turn.
 */
export class ThreadPool<Job, Result> {
  readonly #work: PooledWork<Job, Result>;
  readonly #logger: Logger;
  #pool: StartedPool<Job, Result> | undefined;
  readonly #processors: number;
  #isUsable: boolean;
  #unsent = new FairQueue<Waiting<Job, Result>>();
  /** Messages under way by owner; one with jobs of several owners counts for each. */
  readonly #sent = new Map<string, number>();
  #messages = 0;
  #isSending = false;

  /** @param processors that the calling thread and the pool share */
  constructor(
    work: PooledWork<Job, Result>,
    logger: Logger,
    processors: number = availableParallelism(),
  ) {
    this.#work = work;
    this.#logger = logger;
    this.#processors = processors;
    this.#isUsable = processors >= 2;
  }

  get threadCount(): number {
    return this.#pool?.threads.threads.length ?? 0;
  }

  /** Starts a thread if there is none; resolves when it accepts jobs, or cannot start. */
  async whenStarted(): Promise<void> {
    if (this.#isUsable) await (this.#pool ??= this.#start()).started;
  }

  /** @throws the error of the work; KeelsonError `internal` when the thread ended unexpectedly */
  async run(job: Job, { owner = '', isAlone = false }: JobPlace = {}): Promise<Result> {
    if (this.#isUsable) this.#pool ??= this.#start();
    if (this.#pool?.isUp !== true) return this.#work.here(job);
    const waiting = { job, owner, isAlone, ...Promise.withResolvers<Result>() };
    this.#unsent.push(owner, waiting);
    // Jobs of one turn of the event loop share messages.
    if (!this.#isSending) setImmediate(() => this.#sendAll());
    this.#isSending = true;
    return waiting.promise;
  }

  /** Ends the threads; pending jobs reject with `reason`. The next job starts threads again. */
  async end(reason: unknown): Promise<void> {
    const pool = this.#pool;
    if (pool === undefined) return;
    this.#pool = undefined;
    pool.endedBy = reason;
    const unsent = this.#unsent;
    this.#unsent = new FairQueue();
    for (const { reject } of unsent.takeAll()) reject(reason);
    await pool.threads.destroy();
  }

  #start(): StartedPool<Job, Result> {
    const { entry, name, maxThreads, messagesAtATime } = this.#work;
    const threadLimit = Math.min(maxThreads, Math.floor(this.#processors) - 1);
    const threads = new Piscina<readonly Job[], Settled<Result>[]>({
      filename: entry.href,
      name: 'serve',
      minThreads: 1,
      maxThreads: threadLimit,
      concurrentTasksPerWorker: messagesAtATime,
      // Threads that wait on atomics would not run their event loop between jobs, for example to close
      // connections.
      atomics: 'disabled',
      resourceLimits: { maxYoungGenerationSizeMb: MAX_YOUNG_MEGABYTES },
      recordTiming: false,
    });
    const report = (err: unknown): void => {
      if (pool.endedBy === undefined) this.#logger.error({ err, name }, 'a worker thread ended');
    };
    threads.on('error', report);
    const pool: StartedPool<Job, Result> = {
      threads,
      threadLimit,
      isUp: false,
      started: threads.run([]).then(
        () => {
          pool.isUp = true;
        },
        (err: unknown) => {
          if (pool.endedBy !== undefined) return;
          report(err);
          this.#isUsable = false;
          this.#pool = undefined;
          void threads.destroy();
        },
      ),
    };
    return pool;
  }

  #sendAll(): void {
    this.#isSending = false;
    const pool = this.#pool;
    if (pool === undefined) return;
    const places = pool.threadLimit * this.#work.messagesAtATime;
    while (this.#messages < places) {
      const message = this.#nextMessage(pool);
      if (message === undefined) return;
      void this.#send(pool, message);
    }
  }

  #nextMessage({ threadLimit }: StartedPool<Job, Result>): Waiting<Job, Result>[] | undefined {
    const { jobsPerMessage, messagesOfOwner } = this.#work;
    const hasPlace = (owner: string): boolean =>
      (this.#sent.get(owner) ?? 0) < threadLimit * messagesOfOwner;
    const first = this.#unsent.take((_, owner) => hasPlace(owner));
    if (first === undefined) return undefined;
    const message = [first];
    while (!first.isAlone && message.length < jobsPerMessage) {
      const next = this.#unsent.take(({ isAlone }, owner) => !isAlone && hasPlace(owner));
      if (next === undefined) break;
      message.push(next);
    }
    return message;
  }

  #count(message: readonly Waiting<Job, Result>[], change: 1 | -1): void {
    this.#messages += change;
    for (const owner of new Set(message.map((waiting) => waiting.owner))) {
      const count = (this.#sent.get(owner) ?? 0) + change;
      if (count === 0) this.#sent.delete(owner);
      else this.#sent.set(owner, count);
    }
  }

  async #send(
    pool: StartedPool<Job, Result>,
    message: readonly Waiting<Job, Result>[],
  ): Promise<void> {
    this.#count(message, 1);
    try {
      const answers = await pool.threads.run(message.map(({ job }) => job));
      for (const [at, { resolve, reject }] of message.entries()) {
        const answer = answers[at] as Settled<Result>;
        if ('result' in answer) resolve(answer.result);
        else reject(toThrown(answer.refusal));
      }
      // Piscina's own record of the message survives until the next full garbage collection.
      answers.length = 0;
    } catch (cause) {
      const reason = pool.endedBy ?? new KeelsonError('internal', {}, { cause });
      for (const { reject } of message) reject(reason);
    }
    this.#count(message, -1);
    this.#sendAll();
  }
}
