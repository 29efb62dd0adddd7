/** Queues health assessments; one replica at a time, and not while sealed. */
import type { PeriodicWork } from '@keelson/locks';
import { queueDueAssessments } from '../assessments/assessment-operations.ts';
import type { ServiceContext } from '../service-context.ts';

const MINUTE_MS = 60_000;

export const assessments = (
  context: ServiceContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  assessments: {
    everyMs: Math.min(10 * MINUTE_MS, context.assessmentIntervalMs),
    round: async (options) => {
      if (!isSealed()) await queueDueAssessments(context, options);
      return false;
    },
  },
});
