/** Ends runs that wait in a workspace whose execution mode has become `local` since. */
import type { TransactOptions } from '@keelson/storage';
import { hasRuns, LOCAL_HAS_NO_RUNS } from '../agents/run-executor-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { isWaiting } from './domain/run.ts';
import { failWaitingRun } from './run-changes.ts';
import { openRuns, runRecords } from './run-records.ts';

const failStrandedRun = (
  { store, clock }: ServiceContext,
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

/** The mode may come from anywhere above, or with a move: it is looked at where runs are open. */
export const failStrandedRuns = async (
  context: ServiceContext,
  options: TransactOptions,
): Promise<boolean> => {
  const { store } = context;
  for (const folder of await openRuns.keys(store, [])) {
    const workspaceId = folder.replace('/', '');
    const workspace = await workspaceRecords.find(store, workspaceId);
    if (workspace === undefined || (await hasRuns(store, workspace))) continue;
    for (const runId of await openRuns.keys(store, [workspaceId])) {
      await failStrandedRun(context, runId, options);
    }
  }
  return false;
};
