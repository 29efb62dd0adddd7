/**
 * Where challenges are validated: beside the thread that answers requests, where there is a core for it. A
 * look-up and a request to a web server are a quarter of what an order costs that thread
 * (docs/decisions/0086), and need nothing of what it has.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import type { Logger } from '@keelson/logging';
import {
  type ChallengeAttempt,
  type ChallengeOutcome,
  type ValidationSettings,
  validateChallenge,
} from './challenge-validation.ts';
import type {
  FromValidationThread,
  ValidationJob,
  ValidationResult,
} from './validation-messages.ts';

/** As `validateChallenge`; rejects when the attempt was not brought to its end. */
export type Validate = (
  attempt: ChallengeAttempt,
  settings: ValidationSettings,
) => Promise<ChallengeOutcome>;

/** @param stopping ends what is under way, for good */
export type OpenValidation = (stopping: AbortSignal) => Validate;

/** On the calling thread. */
export const validateHere: OpenValidation = (stopping) => (attempt, settings) =>
  validateChallenge(attempt, settings, stopping);

const ENTRY = new URL('./validation-thread.ts', import.meta.url);

export class ValidationThread {
  readonly #worker = new Worker(ENTRY, { name: 'challenge-validation' });
  readonly #waiting = new Map<number, PromiseWithResolvers<ChallengeOutcome>>();
  #jobs: ValidationJob[] = [];
  readonly #up = Promise.withResolvers<void>();
  #lastId = 0;
  isUp = false;

  /** @param onEnd called once, when the thread ended by itself */
  constructor(onEnd: (cause: unknown) => void) {
    const end = (cause: unknown): void => {
      this.#letGo(cause);
      onEnd(cause);
    };
    this.#worker.on('message', (message: FromValidationThread) => {
      if (message === 'up') {
        this.isUp = true;
        this.#up.resolve();
      } else for (const result of message) this.#settle(result);
    });
    this.#worker.on('error', end);
    this.#worker.on('exit', (code) => end(new Error(`the validation thread ended with ${code}`)));
    this.#worker.unref();
    // Whoever waits for it is told.
    this.#up.promise.catch(() => undefined);
  }

  /** Resolves when the thread is up; rejects where it does not come up. */
  get up(): Promise<void> {
    return this.#up.promise;
  }

  /** Attempts of one turn of the event loop go in one message. */
  validate(attempt: ChallengeAttempt, settings: ValidationSettings): Promise<ChallengeOutcome> {
    const waiting = Promise.withResolvers<ChallengeOutcome>();
    const id = ++this.#lastId;
    this.#waiting.set(id, waiting);
    if (this.#jobs.push({ id, attempt, settings }) === 1)
      setImmediate(() => {
        this.#worker.postMessage(this.#jobs);
        this.#jobs = [];
      });
    return waiting.promise;
  }

  end(reason: unknown): void {
    this.#letGo(reason);
    void this.#worker.terminate();
  }

  #settle(result: ValidationResult): void {
    const waiting = this.#waiting.get(result.id);
    this.#waiting.delete(result.id);
    if ('outcome' in result) waiting?.resolve(result.outcome);
    else waiting?.reject(result.thrown);
  }

  #letGo(cause: unknown): void {
    this.#worker.removeAllListeners();
    this.#up.reject(cause);
    for (const { reject } of this.#waiting.values()) reject(cause);
    this.#waiting.clear();
  }
}

/**
 * On a thread of its own, which the first attempt starts; until it is up, and on a machine of one core, on
 * the calling thread. What a thread was at when it ended by itself is not done again here: it may have been
 * the cause.
 */
export const validateBeside =
  (logger: Logger): OpenValidation =>
  (stopping) => {
    const here = validateHere(stopping);
    if (availableParallelism() === 1) return here;
    let thread: ValidationThread | undefined;
    /** Where a thread does not come up, none is tried again. */
    let isUsable = true;
    const start = (): ValidationThread => {
      const started: ValidationThread = new ValidationThread((err) => {
        logger.error({ err }, 'the thread that validates challenges ended');
        isUsable = started.isUp;
        thread = undefined;
      });
      return started;
    };
    stopping.addEventListener('abort', () => thread?.end(stopping.reason), { once: true });
    return (attempt, settings) => {
      if (isUsable) thread ??= start();
      return thread?.isUp === true ? thread.validate(attempt, settings) : here(attempt, settings);
    };
  };
