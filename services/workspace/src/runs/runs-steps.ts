/** Steps of this module when workspaces, agent pools, states and configurations change. */
import { type Reads, readableOnly } from '@keelson/storage';
import type { StateSteps } from '../state/seams/state-steps.ts';
import type { WorkspaceSteps } from '../workspaces/seams/workspace-steps.ts';
import { removeAgentsOf } from './agents/agent-removal-operations.ts';
import { hasRuns } from './executors/run-executor-operations.ts';
import { removeRuns } from './lifecycle/run-changes.ts';
import { queueUploadedRun } from './lifecycle/run-creation.ts';
import { runRecords } from './model/run-records.ts';
import type { RunsContext } from './seams/runs-context.ts';

export const RUNS_WORKSPACE_STEPS: WorkspaceSteps = {
  onWorkspaceRemoved: (tx, { id }) => removeRuns(tx, id),
  onAgentPoolRemoved: removeAgentsOf,
};

/** A run that has not ended uses the files of its configuration. */
const findOpenRunOf = async (
  reads: Reads,
  workspaceId: string,
  versionId: string,
): Promise<string | undefined> => {
  for (const runId of await runRecords.by.open.keys(reads, workspaceId)) {
    const run = await runRecords.find(readableOnly(reads), runId);
    if (run?.configurationVersionId === versionId) return runId;
  }
  return undefined;
};

export const runsStateSteps = ({
  clock,
  nextRunOrder,
  hasRunner,
}: Pick<RunsContext, 'clock' | 'nextRunOrder' | 'hasRunner'>): StateSteps => ({
  onConfigurationUploaded: async (tx, { workspace, version, mayApply }) => {
    if (!version.autoQueueRuns || !(await hasRuns(tx, workspace))) return;
    const origin = { mayApply, nowMs: clock.nowMs(), order: nextRunOrder() };
    await queueUploadedRun({ hasRunner }, tx, workspace, version, origin);
  },
  // The run whose apply wrote the state lists it.
  onStateStored: async (tx, version) => {
    const run = await runRecords.find(readableOnly(tx), version.runId ?? '');
    if (run?.workspaceId !== version.workspaceId) return;
    const stateVersionIds = [...run.stateVersionIds, version.id];
    await runRecords.write(tx, [run.id], { ...run, stateVersionIds });
  },
  findConfigurationNeed: async (reads, workspaceId, versionId) => {
    const runId = await findOpenRunOf(reads, workspaceId, versionId);
    return runId === undefined ? undefined : `${runId} has not ended`;
  },
});
