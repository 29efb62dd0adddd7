/** Withholds, restores and deletes the logs and files of ended runs, by policy or on request. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, type Store, type TransactOptions, unlessDamaged } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../../base/not-found.ts';
import { limitsOf } from '../../base/retention/domain/retention-policy.ts';
import { runDataPolicies } from '../../base/retention/retention-records.ts';
import {
  type BackingDataAction,
  DELETED,
  GRACE_MS,
  nextStatus,
  reachedAtMs,
  WITHHELD,
} from '../../state/retention/domain/backing-data.ts';
import { loadRuleInForce } from '../../state/retention/retention-operations.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { findWorkspaceAssessments } from '../../workspaces/model/workspace-assessments-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { findWorkspaceRuns } from '../../workspaces/model/workspace-runs-records.ts';
import { ASSESSMENT_SOURCE, isAssessment, type Run } from '../model/domain/run.ts';
import {
  isEmptied,
  type RunLog,
  type RunPhase,
  removeDataOf,
  removePhaseData,
  runLogs,
  runRecords,
  toPhaseId,
  toRunId,
} from '../model/run-records.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import { loadRunAccess } from './run-operations.ts';
import type { RunTables } from './run-projections.ts';

const PAGE_SIZE = 500;

/** Every run that an agent executed has a log of its plan. */
const listRunsWithLogs = async function* (reads: Reads): AsyncGenerator<string, void, void> {
  let names: readonly string[];
  let after = '';
  do {
    names = await runLogs.keys(reads, [], { limit: PAGE_SIZE, after });
    after = names.at(-1) ?? '';
    yield* names.filter((id) => id.startsWith('plan-')).map(toRunId);
  } while (names.length === PAGE_SIZE);
};

/** A run whose data is due unless the run is among the newest of its workspace. */
interface DueRun {
  readonly run: Run;
  readonly keepLatest: number | null;
}

/** Data of unfinished runs, of the current run and of the run of the newest assessment is kept. */
const isNeeded = async (reads: Reads, workspace: Workspace, runId: string): Promise<boolean> => {
  const { current } = await findWorkspaceRuns(reads, workspace);
  const assessments = await findWorkspaceAssessments(reads, workspace);
  return (
    [current?.id, assessments?.result?.runId].includes(runId) ||
    (await runRecords.by.open.keys(reads, workspace.id)).includes(runId)
  );
};

const KEPT = 'kept';

/** The status in terms of `nextStatus`; undefined when the phase has no data. */
const toDataStatus = (log: RunLog | undefined): string | undefined => {
  if (log === undefined) return undefined;
  if (log.isRemoved) return DELETED;
  return log.isWithheld ? WITHHELD : KEPT;
};

/**
 * Withholds the log and files of a phase, restores them, or deletes them once withheld.
 * @throws KeelsonError `request.invalid` when the run is still needed or the status does not allow it,
 * `workspace.not_found` for callers who may not update the workspace
 */
export const changePhaseData = (
  { store }: RunsContext,
  principal: Principal,
  phase: RunPhase,
  phaseId: string,
  action: BackingDataAction,
): Promise<void> =>
  store.transact(async (tx) => {
    if (!phaseId.startsWith(`${phase}-`)) throw notFound(phase);
    const runId = toRunId(phaseId);
    const { workspace } = await loadRunAccess(tx, principal, runId, 'canUpdate');
    const log = await runLogs.find(tx, phaseId);
    const status = toDataStatus(log);
    const next =
      status === undefined || (await isNeeded(tx, workspace, runId))
        ? undefined
        : nextStatus(KEPT, status, action);
    if (log === undefined || next === undefined) {
      throw new KeelsonError('request.invalid', { text: 'transition not allowed' });
    }
    if (next === DELETED) return removePhaseData(tx, phaseId);
    const { isWithheld: _, ...shown } = log;
    runLogs.write(tx, [phaseId], next === WITHHELD ? { ...shown, isWithheld: true } : shown);
  });

/** The action that the effective policy requires for the data of a run; undefined when none is due. */
const findDue = async (reads: Reads, runId: string, nowMs: number): Promise<DueRun | undefined> => {
  const run = await runRecords.find(reads, runId);
  const workspace = run && (await workspaceRecords.find(reads, run.workspaceId));
  if (run === undefined || workspace === undefined) return undefined;
  const limits = limitsOf(await loadRuleInForce(reads, workspace), 'runData');
  if (limits === undefined || nowMs < reachedAtMs(limits, run.createdAtMs)) return undefined;
  if (await isNeeded(reads, workspace, runId)) return undefined;
  // Assessments are not counted: daily ones would displace the runs of people, and each is useful only until
  // the next.
  return { run, keepLatest: isAssessment(run) ? null : limits.keepLatest };
};

/** Number of newer runs of the workspace except assessments, counted up to `limit`. */
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

/** Marks or deletes the data of a run if it is due. */
const retainDataOf = async (
  { store, clock }: RunsContext,
  runId: string,
  options: TransactOptions,
): Promise<void> => {
  const planId = toPhaseId(runId, 'plan');
  if (await isEmptied(store, runId)) return;
  const due = await findDue(store, runId, clock.nowMs());
  if (due === undefined) return;
  const { run, keepLatest } = due;
  if (keepLatest !== null && (await countNewer(store, run, keepLatest)) < keepLatest) return;
  await store.transact(async (tx) => {
    // The pass may have started long ago; the week begins now.
    const nowMs = clock.nowMs();
    const log = await runLogs.find(tx, planId);
    if (log === undefined || (await findDue(tx, runId, nowMs)) === undefined) return;
    const { dueSinceMs = nowMs } = log;
    if (nowMs >= dueSinceMs + GRACE_MS) await removeDataOf(tx, runId);
    else if (log.dueSinceMs === undefined) runLogs.write(tx, [planId], { ...log, dueSinceMs });
  }, options);
};

/**
 * One pass over all runs that still have data. Data that is due is marked first and deleted a week later, so
 * that a new policy deletes nothing immediately.
 */
export const applyRunDataRetention = async (
  context: RunsContext,
  options: TransactOptions,
): Promise<void> => {
  const { store } = context;
  const [place] = await runDataPolicies.keys(store, [], { limit: 1 });
  if (place === undefined) return;
  for await (const runId of listRunsWithLogs(store)) {
    await unlessDamaged(retainDataOf(context, runId, options));
  }
};
