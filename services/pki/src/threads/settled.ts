/** Outcomes of jobs, as they are sent between threads: errors lose their class on the way and are rebuilt. */
import { type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';

type Refusal =
  | { readonly code: ErrorCode; readonly params: ErrorParams }
  | { readonly thrown: unknown };

export type Settled<Result> = { readonly result: Result } | { readonly refusal: Refusal };

const toRefusal = (thrown: unknown): Refusal =>
  thrown instanceof KeelsonError ? { code: thrown.code, params: thrown.params } : { thrown };

export const toThrown = (refusal: Refusal): unknown =>
  'code' in refusal ? new KeelsonError(refusal.code, refusal.params) : refusal.thrown;

/** The thread's end of a `ThreadPool`, to be exported as `serve` by its entry: does a message of jobs. */
export const serveJobs =
  <Job, Result>(perform: (job: Job) => Result | Promise<Result>) =>
  (jobs: readonly Job[]): Promise<readonly Settled<Result>[]> =>
    Promise.all(
      jobs.map(async (job) => {
        try {
          return { result: await perform(job) };
        } catch (thrown) {
          return { refusal: toRefusal(thrown) };
        }
      }),
    );
