/** The runs that an apply queues in other workspaces. */
import { readableOnly, type Transaction, unlessDamaged } from '@keelson/storage';
import { configurationVersionRecords } from '../../state/configuration-versions/configuration-version-records.ts';
import { findWorkspaceConfiguration } from '../../workspaces/model/workspace-configuration-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { hasRuns } from '../executors/run-executor-operations.ts';
import { queueInternalRun } from '../lifecycle/run-creation.ts';
import { RUN_TRIGGER_SOURCE, type Run } from '../model/domain/run.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { loadRunTriggers } from './run-trigger-records.ts';

/**
 * Queues a run in each workspace whose source is the run's workspace. Workspaces without an uploaded
 * configuration or in execution mode `local` have nothing to run and are skipped, as are those whose
 * records cannot be read.
 * @param run the applied run
 */
export const queueTriggeredRuns = async (
  { clock, nextRunOrder, hasRunner }: RunsContext,
  tx: Transaction,
  run: Run,
): Promise<void> => {
  const reads = readableOnly(tx);
  const source = await workspaceRecords.find(reads, run.workspaceId);
  for (const { workspaceId } of await loadRunTriggers(tx, run.workspaceId, 'outbound')) {
    const workspace = await workspaceRecords.find(reads, workspaceId);
    if (workspace === undefined) continue;
    const configuration = await findWorkspaceConfiguration(reads, workspace);
    const version = await configurationVersionRecords.find(reads, configuration?.currentId ?? '');
    if (version?.status !== 'uploaded') continue;
    if ((await unlessDamaged(hasRuns(tx, workspace))) !== true) continue;
    const given = {
      message: `Triggered by the apply of ${run.id} in workspace ${source?.name ?? run.workspaceId}`,
      autoApply: workspace.settings.autoApplyRunTrigger,
    };
    const origin = {
      source: RUN_TRIGGER_SOURCE,
      createdById: null,
      requestedWith: null,
      // An administrator of the workspace set this option, so that the apply may start automatically.
      mayApply: true,
      nowMs: clock.nowMs(),
      order: nextRunOrder(),
    };
    const unasked = { ...version, speculative: false };
    await queueInternalRun({ hasRunner }, tx, workspace, unasked, given, origin);
  }
};
