/** Entry of the thread that validates: all attempts at once. */
import { serveJobs } from '../../threads/serve-jobs.ts';
import { validateChallenge } from './challenge-validation.ts';
import type { ValidationJob } from './validation-threads.ts';

serveJobs(({ attempt, settings }: ValidationJob) => validateChallenge(attempt, settings));
