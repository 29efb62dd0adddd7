/** What the answering thread and a thread beside it say to each other; many at a time, a message is dear. */
import type { Refusal } from './refusal.ts';

export interface NumberedJob<Job> {
  readonly id: number;
  readonly job: Job;
}

export type JobResult<Result> =
  | { readonly id: number; readonly result: Result }
  | { readonly id: number; readonly refusal: Refusal };

/** "up": the thread has loaded. */
export type FromJobThread<Result> = 'up' | readonly JobResult<Result>[];
