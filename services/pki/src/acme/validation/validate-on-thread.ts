/**
 * Where challenges are validated: beside the event loop. A name lookup and a request to a web server are a
 * quarter of what an order costs it (docs/decisions/0014).
 */
import type { Logger } from '@keelson/logging';
import { ThreadPool } from '../../threads/thread-pool.ts';
import type { ChallengeAttempt, ValidationSettings } from './challenge-attempt.ts';
import { type ChallengeOutcome, validateChallenge } from './challenge-validation.ts';

/** As `validateChallenge`; rejects when the attempt was not brought to its end. */
export type Validate = (
  attempt: ChallengeAttempt,
  settings: ValidationSettings,
) => Promise<ChallengeOutcome>;

export interface ValidationJob {
  readonly attempt: ChallengeAttempt;
  readonly settings: ValidationSettings;
}

/** @param stopping aborts all attempts in progress for good */
export type OpenValidation = (stopping: AbortSignal) => Validate;

/** On the calling thread. */
export const validateHere: OpenValidation = (stopping) => (attempt, settings) =>
  validateChallenge(attempt, settings, stopping);

/** Attempts of one thread at a time: those of all slots, since one may take seconds. */
const ATTEMPTS_AT_A_TIME = 64;

/** Opens a separate pool; also used by tests, which wait until it is ready. */
export const openValidationPool = (
  logger: Logger,
  here: Validate,
): ThreadPool<ValidationJob, ChallengeOutcome> =>
  new ThreadPool(
    {
      entry: new URL('./validation-thread.ts', import.meta.url),
      name: 'challenge validation',
      here: ({ attempt, settings }) => here(attempt, settings),
      maxThreads: 1,
      jobsPerMessage: 1,
      messagesAtATime: ATTEMPTS_AT_A_TIME,
    },
    logger,
  );

/** Validates on a worker thread. */
export const validateOnThread =
  (logger: Logger): OpenValidation =>
  (stopping) => {
    const here = validateHere(stopping);
    const pool = openValidationPool(logger, here);
    stopping.addEventListener('abort', () => void pool.end(stopping.reason), { once: true });
    return (attempt, settings) =>
      stopping.aborted ? here(attempt, settings) : pool.run({ attempt, settings });
  };
