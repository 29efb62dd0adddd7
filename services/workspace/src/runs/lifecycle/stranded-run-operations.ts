/** Ends runs that wait in a workspace whose execution mode has since become `local`. */
import { readableOnly, type TransactOptions, unlessDamaged } from '@keelson/storage';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { hasRuns, LOCAL_HAS_NO_RUNS } from '../executors/run-executor-operations.ts';
import { isWaiting } from '../model/domain/run.ts';
import { runRecords } from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { failWaitingRun } from './run-changes.ts';

const failStrandedRun = (
  { store, clock }: RunsContext,
  runId: string,
  options: TransactOptions,
): Promise<void> =>
  store.transact(async (tx) => {
    const run = await runRecords.find(tx, runId);
    const workspace = run && (await workspaceRecords.find(tx, run.workspaceId));
    if (run === undefined || workspace === undefined || !isWaiting(run.status)) return;
    if (await hasRuns(tx, workspace)) return;
    await failWaitingRun(tx, run, LOCAL_HAS_NO_RUNS, clock.nowMs());
  }, options);

/** The mode may change at the project or organization, or by a move, so that all open runs are checked. */
export const failStrandedRuns = async (
  context: RunsContext,
  options: TransactOptions,
): Promise<boolean> => {
  const { store } = context;
  for (const folder of await runRecords.by.open.keys(store, [])) {
    const workspaceId = folder.replace('/', '');
    const workspace = await workspaceRecords.find(readableOnly(store), workspaceId);
    if (workspace === undefined) continue;
    if ((await unlessDamaged(hasRuns(store, workspace))) !== false) continue;
    for (const runId of await runRecords.by.open.keys(store, workspaceId)) {
      await unlessDamaged(failStrandedRun(context, runId, options));
    }
  }
  return false;
};
