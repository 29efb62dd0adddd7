/** Continues an import after the server has refused one item. */
import pLimit from 'p-limit';
import type { ImportReport } from './import-report.ts';
import { RefusedRequest } from './paced-server.ts';

export interface Attempts {
  readonly report: ImportReport;
  /** Number of items imported at the same time, each with one request at a time. */
  readonly concurrency: number;
}

/** Does the work; a refusal is added to the report. */
export const attempt = async (
  { report }: Pick<Attempts, 'report'>,
  subject: string,
  work: () => Promise<unknown>,
): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (!(error instanceof RefusedRequest)) throw error;
    report.fail(subject, error.message);
  }
};

/** Attempts all items, at most `concurrency` at a time; a failure that is not a refusal stops the waiting ones. */
export const attemptEach = async <T>(
  attempts: Attempts,
  items: readonly T[],
  subjectOf: (item: T) => string,
  work: (item: T) => Promise<unknown>,
): Promise<void> => {
  const limit = pLimit(attempts.concurrency);
  try {
    await limit.map(items, (item) => attempt(attempts, subjectOf(item), () => work(item)));
  } finally {
    limit.clearQueue();
  }
};
