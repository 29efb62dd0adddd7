/** Results of the checks in the JSON of a plan, one for each instance of what has conditions. */
import type { CheckedInstance, PlanJson } from './plan-json.ts';

/** In the order in which they are shown: what is not met first. */
const STATUSES = ['fail', 'error', 'unknown', 'pass'] as const;

export type CheckStatus = (typeof STATUSES)[number];

export interface PlannedCheck {
  readonly address: string;
  readonly status: CheckStatus;
  /** Messages of the conditions that are not met, each once. */
  readonly problems: readonly string[];
}

/** A status that is not known here is one that nobody can rely on. */
const statusOf = (text: string | undefined): CheckStatus =>
  STATUSES.find((status) => status === text) ?? 'unknown';

const toCheck = (
  { address, status, problems = [] }: CheckedInstance,
  named: string,
): PlannedCheck => ({
  address: address?.to_display ?? named,
  status: statusOf(status),
  problems: [...new Set(problems.flatMap(({ message }) => message ?? []))],
});

/** The checks of a plan, with what is not met first. */
export const plannedChecks = ({ checks = [] }: PlanJson): readonly PlannedCheck[] =>
  checks
    .flatMap((check): readonly PlannedCheck[] => {
      const { instances = [], address } = check;
      const named = address?.to_display ?? '';
      // Its instances are not known before the apply.
      if (instances.length === 0) return [toCheck(check, named)];
      return instances.map((instance) => toCheck(instance, named));
    })
    .toSorted((a, b) => STATUSES.indexOf(a.status) - STATUSES.indexOf(b.status));
