/** Entry of the thread that validates: all attempts at once, results of one turn of the event loop together. */
import { setImmediate } from 'node:timers';
import { parentPort } from 'node:worker_threads';
import { validateChallenge } from './challenge-validation.ts';
import type {
  FromValidationThread,
  ValidationJob,
  ValidationResult,
} from './validation-messages.ts';

let results: ValidationResult[] = [];

const say = (message: FromValidationThread): void => parentPort?.postMessage(message);

const sayResults = (): void => {
  say(results);
  results = [];
};

const perform = async ({ id, attempt, settings }: ValidationJob): Promise<void> => {
  const result = await validateChallenge(attempt, settings).then(
    (outcome): ValidationResult => ({ id, outcome }),
    (thrown: unknown): ValidationResult => ({ id, thrown }),
  );
  if (results.push(result) === 1) setImmediate(sayResults);
};

parentPort?.on('message', (jobs: readonly ValidationJob[]) => {
  for (const job of jobs) void perform(job);
});

say('up');
