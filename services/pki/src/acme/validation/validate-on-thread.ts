/**
 * Validates challenges on a worker thread, because name look-ups and requests to web servers were a
 * quarter of the main thread's work for an order (docs/decisions/0014).
 */
import type { Logger } from '@keelson/logging';
import { ThreadPool } from '../../threads/thread-pool.ts';
import type { ChallengeAttempt, ValidationSettings } from './challenge-attempt.ts';
import { type ChallengeOutcome, validateChallenge } from './challenge-validation.ts';

/** Like `validateChallenge`; rejects if the attempt did not complete. */
export type Validate = (
  attempt: ChallengeAttempt,
  settings: ValidationSettings,
) => Promise<ChallengeOutcome>;

export interface ValidationJob {
  readonly attempt: ChallengeAttempt;
  readonly settings: ValidationSettings;
}

/** @param stopping aborts all attempts in progress */
export type OpenValidation = (stopping: AbortSignal) => Validate;

/** Validates on the calling thread. */
export const validateHere: OpenValidation = (stopping) => (attempt, settings) =>
  validateChallenge(attempt, settings, stopping);

/**
 * Concurrent attempts on one thread: as many as there are slots, because one attempt may take
 * seconds.
 */
const ATTEMPTS_AT_A_TIME = 64;

/** Opens a separate pool; also used by tests, which wait until it is ready. */
export const openValidationPool = (
  logger: Logger,
  here: Validate,
  processors?: number,
): ThreadPool<ValidationJob, ChallengeOutcome> =>
  new ThreadPool(
    {
      entry: new URL('./validation-thread.ts', import.meta.url),
      name: 'challenge validation',
      here: ({ attempt, settings }) => here(attempt, settings),
      maxThreads: 1,
      jobsPerMessage: 1,
      messagesAtATime: ATTEMPTS_AT_A_TIME,
      messagesOfOwner: ATTEMPTS_AT_A_TIME,
    },
    logger,
    processors,
  );

/** Validates on a worker thread. */
export const validateOnThread =
  (logger: Logger, processors?: number): OpenValidation =>
  (stopping) => {
    const here = validateHere(stopping);
    const pool = openValidationPool(logger, here, processors);
    stopping.addEventListener('abort', () => void pool.end(stopping.reason), { once: true });
    return (attempt, settings) =>
      stopping.aborted ? here(attempt, settings) : pool.run({ attempt, settings });
  };
