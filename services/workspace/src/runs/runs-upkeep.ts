/**
 * Background work: ends the phases of silent agents, cancels the runs of organizations that are off, ends runs that no agent may claim any more, queues health
 * assessments and auto-destroy runs that are due, moves ended logs to object storage, and deletes logs and files
 * under retention policies. It also changes the keys that sign the tokens of runs.
 */
import type { PeriodicWork } from '@keelson/locks';
import { PING_SECONDS } from '../workspaces/model/domain/agent.ts';
import { remindOfDestruction } from '../workspaces/notifications/reminder-operations.ts';
import { abandonSilentAgents } from './agents/agent-operations.ts';
import { queueDueAssessments } from './assessments/assessment-operations.ts';
import { destroyDueWorkspaces } from './auto-destroy/auto-destroy-operations.ts';
import { cancelRunsOfDisabled } from './lifecycle/disabled-organization-operations.ts';
import { applyRunDataRetention } from './lifecycle/run-data-operations.ts';
import { moveEndedLogs } from './lifecycle/run-log-operations.ts';
import { failStrandedRuns } from './lifecycle/stranded-run-operations.ts';
import type { RunsContext } from './seams/runs-context.ts';
import { rotateWorkloadKeys } from './workload-identity/workload-key-operations.ts';

const MINUTE_MS = 60_000;

/** Tasks by name. Each runs on one replica at a time, and pauses while the cluster is sealed. */
export const runsUpkeep = (
  context: RunsContext,
  { isSealed }: { readonly isSealed: () => boolean },
): Readonly<Record<string, PeriodicWork>> => ({
  // Policies count in days, so that a few rounds a day are enough.
  'run-data-retention': {
    everyMs: 360 * MINUTE_MS,
    round: async (options) => {
      if (!isSealed()) await applyRunDataRetention(context, options);
      return false;
    },
  },
  'log-storage': {
    everyMs: MINUTE_MS,
    round: async (options) => {
      if (!isSealed()) await moveEndedLogs(context, options);
      return false;
    },
  },
  'auto-destroy': {
    everyMs: MINUTE_MS,
    round: async (options) => {
      if (isSealed()) return false;
      await remindOfDestruction(context, options);
      return destroyDueWorkspaces(context, options);
    },
  },
  assessments: {
    everyMs: Math.min(10 * MINUTE_MS, context.assessmentIntervalMs),
    round: async (options) => {
      if (!isSealed()) await queueDueAssessments(context, options);
      return false;
    },
  },
  'silent-agents': {
    everyMs: PING_SECONDS * 1000,
    round: async (options) => !isSealed() && abandonSilentAgents(context, options),
  },
  'disabled-organizations': {
    everyMs: 5000,
    round: async (options) => {
      if (!isSealed()) await cancelRunsOfDisabled(context, options);
      return false;
    },
  },
  'workload-keys': {
    everyMs: 5 * MINUTE_MS,
    round: async (options) => {
      if (!isSealed()) await rotateWorkloadKeys(context, options);
      return false;
    },
  },
  'stranded-runs': {
    everyMs: MINUTE_MS,
    round: async (options) => !isSealed() && failStrandedRuns(context, options),
  },
});
