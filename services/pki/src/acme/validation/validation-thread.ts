/** Entry point of the threads that validate challenges. */
import { serveJobs } from '../../threads/settled.ts';
import { validateChallenge } from './challenge-validation.ts';
import type { ValidationJob } from './validate-on-thread.ts';

export const serve = serveJobs(({ attempt, settings }: ValidationJob) =>
  validateChallenge(attempt, settings),
);
