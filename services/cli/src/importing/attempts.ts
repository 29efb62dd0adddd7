/** Going on with the rest after a server refused one thing. */
import pLimit from 'p-limit';
import type { ImportReport } from './import-report.ts';
import { RefusedRequest } from './paced-server.ts';

export interface Attempts {
  readonly report: ImportReport;
  /** Items that are imported at the same time, each with one request at a time. */
  readonly concurrency: number;
}

/** The report names what was refused. */
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

/** At most `concurrency` at a time; a failure that concerns all of them stops those that wait. */
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
