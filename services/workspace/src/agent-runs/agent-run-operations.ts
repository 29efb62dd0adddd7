/** What an agent does: it takes a phase of a run, writes its log, and reports how it ended. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../access/access-operations.ts';
import { requireOwnAgent } from '../agents/agent-operations.ts';
import { agentRecords } from '../agents/agent-records.ts';
import type { Agent } from '../agents/domain/agent.ts';
import type { AgentPool } from '../agents/domain/agent-pool.ts';
import { executes } from '../agents/run-executor-operations.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import type { ChangeCounts, Run, RunEvent } from '../runs/domain/run.ts';
import { changeRun, startPhase } from '../runs/run-changes.ts';
import { appendLog, startLog } from '../runs/run-log-operations.ts';
import type { RunTables } from '../runs/run-projections.ts';
import { type RunPhase, runRecords, toPhase, toPhaseId } from '../runs/run-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { issueToken } from '../tokens/token-operations.ts';
import type { Variable } from '../variables/domain/variable.ts';
import { loadVariables } from '../variables/variable-operations.ts';
import type { Workspace } from '../workspaces/domain/workspace.ts';
import { workspaceRecords } from '../workspaces/workspace-records.ts';

/** Waiting runs that are looked at in one query. */
const PAGE_SIZE = 200;

/** Runs that wait for an agent, oldest first; as many as the caller takes. */
const findWaiting = async function* (
  { store }: ServiceContext,
  { organizationId }: AgentPool,
): AsyncGenerator<string, void, void> {
  let offset = 0;
  let count: number;
  do {
    const from = offset;
    const rows = await store.select((tables: Kysely<RunTables>) =>
      tables
        .selectFrom('run')
        .select('id')
        .where('organization_id', '=', organizationId)
        .where('status', 'in', ['pending', 'confirmed'])
        .orderBy('made_order')
        .orderBy('id')
        .limit(PAGE_SIZE)
        .offset(from),
    );
    yield* rows.map(({ id }) => id);
    count = rows.length;
    offset += count;
  } while (count === PAGE_SIZE);
};

export interface AgentRun {
  readonly run: Run;
  readonly workspace: Workspace;
  readonly organizationName: string;
  readonly variables: readonly Variable[];
}

/** A phase with the text of its token, which exists nowhere else. */
export interface ClaimedRun extends AgentRun {
  readonly token: string;
}

const loadAgentRun = async (reads: Reads, run: Run): Promise<AgentRun> => {
  const workspace = await workspaceRecords.find(reads, run.workspaceId);
  const organization = await organizationRecords.find(reads, run.organizationId);
  if (workspace === undefined || organization === undefined) throw notFound('run');
  const variables = await loadVariables(reads, workspace);
  return { run, workspace, organizationName: organization.name, variables };
};

/** No phase takes longer; the token ends with its phase in any case. */
const TOKEN_LIFETIME_MS = 24 * 60 * 60 * 1000;

const claim = async (
  tx: Transaction,
  principal: Principal,
  agentId: string,
  runId: string,
  nowMs: number,
): Promise<ClaimedRun | undefined> => {
  const { agent, pool } = await requireIdleAgent(tx, principal, agentId);
  const run = await runRecords.find(tx, runId);
  const workspace = run && (await workspaceRecords.find(tx, run.workspaceId));
  if (run === undefined || workspace === undefined) return undefined;
  if (!(await executes(tx, pool, workspace))) return undefined;
  const started = await startPhase(tx, run, agent, nowMs);
  if (started === undefined) return undefined;
  const busy: Agent = { ...agent, runId, ended: null, lastPingAtMs: nowMs };
  agentRecords.write(tx, [agentId], busy);
  startLog(tx, toPhaseId(runId, toPhase(started)));
  const given = { description: toPhase(started), expiresAtMs: nowMs + TOKEN_LIFETIME_MS };
  const { text } = issueToken(tx, { kind: 'run', id: runId }, given, null, nowMs);
  return { ...(await loadAgentRun(tx, started)), token: text };
};

/** @throws KeelsonError `workspace.conflict` when the agent has a phase already */
const requireIdleAgent = async (reads: Reads, principal: Principal, agentId: string) => {
  const found = await requireOwnAgent(reads, principal, agentId);
  if (found.agent.runId !== null) {
    throw new KeelsonError('workspace.conflict', {
      text: `the agent works on ${found.agent.runId} already`,
    });
  }
  return found;
};

/** The oldest phase that waits for an agent of the caller's pool; undefined when none does. */
export const claimRun = async (
  context: ServiceContext,
  principal: Principal,
  agentId: string,
): Promise<ClaimedRun | undefined> => {
  const { store, clock } = context;
  const { pool } = await requireIdleAgent(store, principal, agentId);
  for await (const runId of findWaiting(context, pool)) {
    const claimed = await store.transact((tx) =>
      claim(tx, principal, agentId, runId, clock.nowMs()),
    );
    if (claimed !== undefined) return claimed;
  }
  return undefined;
};

/**
 * The run whose token the caller has: it ends with the phase, so that an agent that was given up cannot
 * speak for the one that came after.
 * @throws KeelsonError `workspace.not_found`
 */
const requireOwnRun = async (
  reads: Reads,
  { kind, id }: Principal,
  runId: string,
): Promise<Run> => {
  const run = kind === 'run' && id === runId ? await runRecords.find(reads, runId) : undefined;
  if (run === undefined) throw notFound('run');
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
    const run = await requireOwnRun(tx, principal, runId);
    return changeRun(tx, runId, toEvent(report, toPhase(run)), clock.nowMs());
  });

/** Adds text to the log of the phase that the agent works on. */
export const writeLog = (
  { store }: ServiceContext,
  principal: Principal,
  runId: string,
  text: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const run = await requireOwnRun(tx, principal, runId);
    await appendLog(tx, toPhaseId(runId, toPhase(run)), text);
  });
