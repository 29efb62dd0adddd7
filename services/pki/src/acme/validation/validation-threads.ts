/**
 * Where challenges are validated: beside the thread that answers requests. A look-up and a request to a web
 * server are a quarter of what an order costs that thread (docs/decisions/0086).
 */
import type { Logger } from '@keelson/logging';
import { workBeside } from '../../threads/job-thread.ts';
import {
  type ChallengeAttempt,
  type ChallengeOutcome,
  type ValidationSettings,
  validateChallenge,
} from './challenge-validation.ts';

/** As `validateChallenge`; rejects when the attempt was not brought to its end. */
export type Validate = (
  attempt: ChallengeAttempt,
  settings: ValidationSettings,
) => Promise<ChallengeOutcome>;

export interface ValidationJob {
  readonly attempt: ChallengeAttempt;
  readonly settings: ValidationSettings;
}

/** @param stopping ends what is under way, for good */
export type OpenValidation = (stopping: AbortSignal) => Validate;

/** On the calling thread. */
export const validateHere: OpenValidation = (stopping) => (attempt, settings) =>
  validateChallenge(attempt, settings, stopping);

export const VALIDATION_THREAD = new URL('./validation-thread.ts', import.meta.url);

/** On a thread of its own. */
export const validateBeside =
  (logger: Logger): OpenValidation =>
  (stopping) => {
    const here = validateHere(stopping);
    const validate = workBeside<ValidationJob, ChallengeOutcome>(
      {
        entry: VALIDATION_THREAD,
        name: 'challenge-validation',
        here: ({ attempt, settings }) => here(attempt, settings),
      },
      { logger, stopping },
    );
    return (attempt, settings) => validate({ attempt, settings });
  };
