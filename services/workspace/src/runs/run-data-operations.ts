/** Withholds, restores and deletes the logs and files of ended runs, by policy or on request. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Store, TransactOptions } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../access/access-operations.ts';
import {
  type BackingDataAction,
  DELETED,
  GRACE_MS,
  nextStatus,
  reachedAtMs,
  WITHHELD,
} from '../retention/domain/backing-data.ts';
import { limitsOf } from '../retention/domain/retention-policy.ts';
import { loadRuleInForce } from '../retention/retention-operations.ts';
import { runDataPolicies } from '../retention/retention-records.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';
import { ASSESSMENT_SOURCE, isAssessment, type Run } from './domain/run.ts';
import { loadRunAccess } from './run-operations.ts';
import type { RunTables } from './run-projections.ts';
import {
  isEmptied,
  openRuns,
  type RunLog,
  type RunPhase,
  removeDataOf,
  removePhaseData,
  runLogs,
  runRecords,
  toPhaseId,
  toRunId,
} from './run-records.ts';

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
const isNeeded = async (reads: Reads, workspace: Workspace, runId: string): Promise<boolean> =>
  [workspace.runs.current?.id, workspace.assessments?.result?.runId].includes(runId) ||
  (await openRuns.find(reads, workspace.id, runId)) !== undefined;

const KEPT = 'kept';

/** In the terms of `nextStatus`; undefined where the phase left nothing. */
const toDataStatus = (log: RunLog | undefined): string | undefined => {
  if (log === undefined) return undefined;
  if (log.isRemoved) return DELETED;
  return log.isWithheld ? WITHHELD : KEPT;
};

/**
 * Withholds the log and the files of a phase, gives them back, or deletes them once they are withheld.
 * @throws KeelsonError `request.invalid` when the run is needed or the data are in another status,
 *   `workspace.not_found` for who may not update the workspace
 */
export const changePhaseData = (
  { store }: ServiceContext,
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

/** The change that the policy in force asks for in the data of a run; undefined when none is due. */
const findDue = async (reads: Reads, runId: string, nowMs: number): Promise<DueRun | undefined> => {
  const run = await runRecords.find(reads, runId);
  const workspace = run && (await workspaceRecords.find(reads, run.workspaceId));
  if (run === undefined || workspace === undefined) return undefined;
  const limits = limitsOf(await loadRuleInForce(reads, workspace), 'runData');
  if (limits === undefined || nowMs < reachedAtMs(limits, run.createdAtMs)) return undefined;
  if (await isNeeded(reads, workspace, runId)) return undefined;
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
  const [place] = await runDataPolicies.keys(store, [], { limit: 1 });
  if (place === undefined) return;
  for await (const runId of listRunsWithLogs(store)) {
    const planId = toPhaseId(runId, 'plan');
    if (await isEmptied(store, runId)) continue;
    const due = await findDue(store, runId, clock.nowMs());
    if (due === undefined) continue;
    const { run, keepLatest } = due;
    if (keepLatest !== null && (await countNewer(store, run, keepLatest)) < keepLatest) continue;
    await store.transact(async (tx) => {
      // The pass may have begun long ago; the week begins now.
      const nowMs = clock.nowMs();
      const log = await runLogs.find(tx, planId);
      if (log === undefined || (await findDue(tx, runId, nowMs)) === undefined) return;
      const { dueSinceMs = nowMs } = log;
      if (nowMs >= dueSinceMs + GRACE_MS) await removeDataOf(tx, runId);
      else if (log.dueSinceMs === undefined) runLogs.write(tx, [planId], { ...log, dueSinceMs });
    }, options);
  }
};
