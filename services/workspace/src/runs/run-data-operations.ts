/** What becomes of the logs and files that ended runs left, where a policy says that they go. */
import type { Reads, Store, TransactOptions } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { GRACE_MS, reachedAtMs } from '../retention/domain/backing-data.ts';
import { limitsOf } from '../retention/domain/retention-policy.ts';
import { loadRuleInForce } from '../retention/retention-operations.ts';
import { runDataPolicies } from '../retention/retention-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { ASSESSMENT_SOURCE, isAssessment, type Run } from './domain/run.ts';
import type { RunTables } from './run-projections.ts';
import { openRuns, removeDataOf, runLogs, runRecords, toPhaseId, toRunId } from './run-records.ts';

const PAGE_SIZE = 500;

/** Every run that an agent had has a log of its plan. */
const listRunsWithLogs = async function* (reads: Reads): AsyncGenerator<string, void, void> {
  let names: readonly string[];
  let after = '';
  do {
    names = await runLogs.keys(reads, [], { limit: PAGE_SIZE, after });
    after = names.at(-1) ?? '';
    yield* names.filter((id) => id.startsWith('plan-')).map(toRunId);
  } while (names.length === PAGE_SIZE);
};

/** A run whose data are to go, unless it is among the newest of its workspace. */
interface DueRun {
  readonly run: Run;
  readonly keepLatest: number | null;
}

/** Runs that have not ended, the current one and the one of the last assessment keep what they left. */
const findDue = async (reads: Reads, runId: string, nowMs: number): Promise<DueRun | undefined> => {
  const run = await runRecords.find(reads, runId);
  const workspace = run && (await workspaceRecords.find(reads, run.workspaceId));
  if (run === undefined || workspace === undefined) return undefined;
  const limits = limitsOf(await loadRuleInForce(reads, workspace), 'runData');
  if (limits === undefined || nowMs < reachedAtMs(limits, run.createdAtMs)) return undefined;
  const shownIds = [workspace.runs.current?.id, workspace.assessments?.result?.runId];
  if (shownIds.includes(runId)) return undefined;
  if ((await openRuns.find(reads, workspace.id, runId)) !== undefined) return undefined;
  // Daily assessments would push out what people did, and they are of use until the next one alone.
  return { run, keepLatest: isAssessment(run) ? null : limits.keepLatest };
};

/** How many newer runs the workspace has, without assessments, counted up to `limit`. */
const countNewer = async (
  store: Pick<Store, 'select'>,
  { workspaceId, number }: Run,
  limit: number,
): Promise<number> => {
  const newer = await store.select((tables: Kysely<RunTables>) =>
    tables
      .selectFrom('run')
      .select('id')
      .where('workspace_id', '=', workspaceId)
      .where('number', '>', number)
      .where('source', '!=', ASSESSMENT_SOURCE)
      .limit(limit),
  );
  return newer.length;
};

/**
 * One pass over all runs that left something. What is due is noted at first and goes a week later, so
 * that a policy that comes late takes nothing away at once.
 */
export const applyRunDataRetention = async (
  { store, clock }: ServiceContext,
  options: TransactOptions,
): Promise<void> => {
  const nowMs = clock.nowMs();
  const [place] = await runDataPolicies.keys(store, [], { limit: 1 });
  if (place === undefined) return;
  for await (const runId of listRunsWithLogs(store)) {
    const planId = toPhaseId(runId, 'plan');
    if ((await runLogs.find(store, planId))?.isRemoved) continue;
    const due = await findDue(store, runId, nowMs);
    if (due === undefined) continue;
    const { run, keepLatest } = due;
    if (keepLatest !== null && (await countNewer(store, run, keepLatest)) < keepLatest) continue;
    await store.transact(async (tx) => {
      const log = await runLogs.find(tx, planId);
      if (log === undefined || (await findDue(tx, runId, nowMs)) === undefined) return;
      const { dueSinceMs = nowMs } = log;
      if (nowMs >= dueSinceMs + GRACE_MS) await removeDataOf(tx, runId);
      else if (log.dueSinceMs === undefined) runLogs.write(tx, [planId], { ...log, dueSinceMs });
    }, options);
  }
};
