/** What an agent does: it takes a phase of a run, writes its log, and reports how it ended. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../access/access-operations.ts';
import { agentPoolRecords } from '../agents/agent-pool-records.ts';
import type { AgentPool } from '../agents/domain/agent-pool.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import { projectRecords } from '../projects/project-records.ts';
import type { ChangeCounts, Run, RunEvent } from '../runs/domain/run.ts';
import { changeRun, startPhase } from '../runs/run-changes.ts';
import type { RunTables } from '../runs/run-projections.ts';
import {
  type RunPhase,
  runLogChunks,
  runLogs,
  runRecords,
  toPhaseId,
} from '../runs/run-records.ts';
import type { ServiceContext } from '../service-context.ts';
import type { Variable } from '../variables/domain/variable.ts';
import { loadVariables } from '../variables/variable-operations.ts';
import { decideEffectiveExecution } from '../workspaces/domain/execution.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';

const requirePool = async (reads: Reads, { kind, id }: Principal): Promise<AgentPool> => {
  const pool = kind === 'agent' ? await agentPoolRecords.find(reads, id) : undefined;
  if (pool === undefined) throw notFound('resource');
  return pool;
};

/** Workspaces that name the pool, and those of mode `remote` where the pool is the organization's. */
const executes = async (reads: Reads, pool: AgentPool, workspace: Workspace): Promise<boolean> => {
  const [project, organization] = await Promise.all([
    projectRecords.find(reads, workspace.projectId),
    organizationRecords.find(reads, workspace.organizationId),
  ]);
  if (project === undefined || organization === undefined) return false;
  const { mode, agentPoolId } = decideEffectiveExecution(
    workspace.ownExecution,
    project.ownExecution,
    organization.defaultExecution,
  );
  return mode === 'agent' ? agentPoolId === pool.id : mode === 'remote' && pool.organizationScoped;
};

/** Waiting runs that are looked at for one claim. */
const CANDIDATES = 200;

const findWaiting = async (
  { store }: ServiceContext,
  { organizationId }: AgentPool,
): Promise<readonly string[]> => {
  const rows = await store.select((tables: Kysely<RunTables>) =>
    tables
      .selectFrom('run')
      .select('id')
      .where('organization_id', '=', organizationId)
      .where('status', 'in', ['pending', 'confirmed'])
      .orderBy('created_at')
      .orderBy('id')
      .limit(CANDIDATES),
  );
  return rows.map(({ id }) => id);
};

export interface AgentRun {
  readonly run: Run;
  readonly workspace: Workspace;
  readonly organizationName: string;
  readonly variables: readonly Variable[];
}

const toPhase = (run: Run): RunPhase =>
  run.statusTimesMs.applying === undefined ? 'plan' : 'apply';

const loadAgentRun = async (reads: Reads, run: Run): Promise<AgentRun> => {
  const workspace = await workspaceRecords.find(reads, run.workspaceId);
  const organization = await organizationRecords.find(reads, run.organizationId);
  if (workspace === undefined || organization === undefined) throw notFound('run');
  const variables = await loadVariables(reads, workspace);
  return { run, workspace, organizationName: organization.name, variables };
};

const claim = async (
  tx: Transaction,
  pool: AgentPool,
  runId: string,
  nowMs: number,
): Promise<AgentRun | undefined> => {
  const run = await runRecords.find(tx, runId);
  const workspace = run && (await workspaceRecords.find(tx, run.workspaceId));
  if (run === undefined || workspace === undefined) return undefined;
  if (!(await executes(tx, pool, workspace))) return undefined;
  const started = await startPhase(tx, run, pool.id, nowMs);
  if (started === undefined) return undefined;
  const phaseId = toPhaseId(started.id, toPhase(started));
  runLogs.write(tx, [phaseId], { chunkCount: 0, lengthBytes: 0, isComplete: false });
  return loadAgentRun(tx, started);
};

/** The oldest phase that waits for an agent of the caller's pool; undefined when none does. */
export const claimRun = async (
  context: ServiceContext,
  principal: Principal,
): Promise<AgentRun | undefined> => {
  const { store, clock } = context;
  const pool = await requirePool(store, principal);
  for (const runId of await findWaiting(context, pool)) {
    const claimed = await store.transact((tx) => claim(tx, pool, runId, clock.nowMs()));
    if (claimed !== undefined) return claimed;
  }
  return undefined;
};

/** A run that the caller's pool has. @throws KeelsonError `workspace.not_found` */
const requireOwnRun = async (reads: Reads, principal: Principal, runId: string): Promise<Run> => {
  const pool = await requirePool(reads, principal);
  const run = await runRecords.find(reads, runId);
  if (run === undefined || run.agentPoolId !== pool.id) throw notFound('run');
  return run;
};

export const loadClaimedRun = async (
  { store }: ServiceContext,
  principal: Principal,
  runId: string,
): Promise<AgentRun> => loadAgentRun(store, await requireOwnRun(store, principal, runId));

export type PhaseReport =
  | { readonly kind: 'finished'; readonly counts: ChangeCounts; readonly hasChanges: boolean }
  | { readonly kind: 'errored' }
  | { readonly kind: 'canceled' };

const toEvent = (report: PhaseReport, phase: RunPhase): RunEvent => {
  switch (report.kind) {
    case 'finished': {
      const { counts, hasChanges } = report;
      return phase === 'plan'
        ? { kind: 'plan_finished', counts, hasChanges }
        : { kind: 'apply_finished', counts };
    }
    case 'errored':
      return { kind: 'fail' };
    case 'canceled':
      return { kind: 'canceled' };
  }
};

/** Ends the phase that the agent works on. @throws KeelsonError `workspace.conflict` */
export const reportPhase = (
  { store, clock }: ServiceContext,
  principal: Principal,
  runId: string,
  report: PhaseReport,
): Promise<Run> =>
  store.transact(async (tx) => {
    const phase = toPhase(await requireOwnRun(tx, principal, runId));
    const run = await changeRun(tx, runId, toEvent(report, phase), clock.nowMs());
    const phaseId = toPhaseId(runId, phase);
    const log = await runLogs.find(tx, phaseId);
    if (log !== undefined) runLogs.write(tx, [phaseId], { ...log, isComplete: true });
    return run;
  });

/** Largest log of one phase, in bytes. */
const MAX_LOG_BYTES = 32 * 1024 * 1024;

/** Adds text to the log of the phase that the agent works on. */
export const appendLog = (
  { store }: ServiceContext,
  principal: Principal,
  runId: string,
  text: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const run = await requireOwnRun(tx, principal, runId);
    const phaseId = toPhaseId(runId, toPhase(run));
    const log = await runLogs.find(tx, phaseId);
    if (log === undefined || log.isComplete) {
      throw new KeelsonError('workspace.conflict', { text: 'the log is complete' });
    }
    const lengthBytes = log.lengthBytes + Buffer.byteLength(text);
    if (lengthBytes > MAX_LOG_BYTES) {
      throw new KeelsonError('request.too_large', { limitBytes: MAX_LOG_BYTES });
    }
    runLogChunks.write(tx, [phaseId, String(log.chunkCount)], { text });
    runLogs.write(tx, [phaseId], {
      chunkCount: log.chunkCount + 1,
      lengthBytes,
      isComplete: false,
    });
  });
