/** The work of an agent: it claims a phase of a run, writes its log, and reports the result. */
import { KeelsonError } from '@keelson/errors';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, type Transaction, unlessDamaged } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../../base/not-found.ts';
import { organizationRecords } from '../../identity/model/organization-records.ts';
import {
  findOrganizationSwitch,
  listSwitchedOrganizations,
} from '../../identity/model/organization-switch-records.ts';
import { issueToken } from '../../identity/tokens/token-operations.ts';
import { agentPoolRecords } from '../../workspaces/model/agent-pool-records.ts';
import { agentRecords } from '../../workspaces/model/agent-records.ts';
import type { Agent } from '../../workspaces/model/domain/agent.ts';
import type { Workspace } from '../../workspaces/model/domain/workspace.ts';
import { isAgentPoolOff } from '../../workspaces/model/part-switch-records.ts';
import { sshKeyRecords } from '../../workspaces/model/ssh-key-records.ts';
import { workspaceRecords } from '../../workspaces/model/workspace-records.ts';
import { findWorkspaceState } from '../../workspaces/model/workspace-state-records.ts';
import type { EffectiveVariable } from '../../workspaces/variable-sets/domain/precedence.ts';
import { loadEffectiveVariables } from '../../workspaces/variable-sets/effective-variable-operations.ts';
import { requireOwnAgent } from '../agents/agent-operations.ts';
import { executes } from '../executors/run-executor-operations.ts';
import { findReasonToWait } from '../lifecycle/auto-apply-operations.ts';
import { changeRun, startPhase } from '../lifecycle/run-changes.ts';
import { appendLog, startLog } from '../lifecycle/run-log-operations.ts';
import type { RunTables } from '../lifecycle/run-projections.ts';
import type { ChangeCounts, Run, RunEvent } from '../model/domain/run.ts';
import { runRecords, toPhase, toPhaseId } from '../model/run-records.ts';
import { queueTriggeredRuns } from '../run-triggers/triggered-run-operations.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import {
  issueWorkloadTokens,
  type WorkloadToken,
} from '../workload-identity/workload-token-operations.ts';

/** Waiting runs read by one query. */
const PAGE_SIZE = 200;

const WAITING = ['pending', 'confirmed'] as const;

/** Organizations that are on, with runs that wait for somebody, in the order of their oldest. */
export const listWaitingOrganizations = async ({
  store,
}: RunsContext): Promise<readonly string[]> => {
  const rows = await store.select((tables: Kysely<RunTables>) =>
    tables
      .selectFrom('run')
      .where('status', 'in', WAITING)
      .select('organization_id as organizationId')
      .groupBy('organization_id')
      .orderBy((run) => run.fn.min('made_order')),
  );
  const switched = await listSwitchedOrganizations(store);
  return rows.map(({ organizationId }) => organizationId).filter((id) => !switched.has(id));
};

/**
 * Runs that wait for an agent, oldest first, for as long as the caller iterates.
 * @param organizationId whose; undefined means those of all organizations
 */
export const findWaiting = async function* (
  { store }: RunsContext,
  organizationId?: string,
): AsyncGenerator<string, void, void> {
  let offset = 0;
  let count: number;
  do {
    const from = offset;
    const rows = await store.select((tables: Kysely<RunTables>) => {
      const waiting = tables.selectFrom('run').where('status', 'in', WAITING);
      const own =
        organizationId === undefined
          ? waiting
          : waiting.where('organization_id', '=', organizationId);
      return own.select('id').orderBy('made_order').orderBy('id').limit(PAGE_SIZE).offset(from);
    });
    yield* rows.map(({ id }) => id);
    count = rows.length;
    offset += count;
  } while (count === PAGE_SIZE);
};

/** Whether a run of any organization waits for somebody. */
export const isRunWaiting = async (context: RunsContext): Promise<boolean> =>
  (await findWaiting(context).next()).done === false;

export interface AgentRun {
  readonly run: Run;
  readonly workspace: Workspace;
  readonly organizationName: string;
  /** The current state version of the workspace. */
  readonly stateId: string | null;
  /** All variables that reach the workspace, including overridden ones. */
  readonly variables: readonly EffectiveVariable[];
  /** The allow-list of its agent's pool; null if that does not limit what the run reaches. */
  readonly allowedEgress: readonly string[] | null;
}

/** A phase with what only its agent receives, and only once. */
export interface ClaimedRun extends AgentRun {
  /** Not stored anywhere. */
  readonly token: string;
  /** `at-…`. */
  readonly tokenId: string;
  /** Private key of the workspace for modules in repositories. */
  readonly sshKey: string | undefined;
  /** With which the phase signs in elsewhere. */
  readonly workloadTokens: readonly WorkloadToken[];
}

const loadAgentRun = async (reads: Reads, run: Run): Promise<AgentRun> => {
  const workspace = await workspaceRecords.find(reads, run.workspaceId);
  const organization = await organizationRecords.find(reads, run.organizationId);
  if (workspace === undefined || organization === undefined) throw notFound('run');
  const variables = await loadEffectiveVariables(reads, workspace);
  const { currentId: stateId } = await findWorkspaceState(reads, workspace);
  const agent = await agentRecords.find(reads, run.agentId ?? '');
  const pool = await agentPoolRecords.find(reads, agent?.poolId ?? '');
  return {
    run,
    workspace,
    organizationName: organization.name,
    stateId,
    variables,
    allowedEgress: pool?.allowedEgress ?? null,
  };
};

/** Maximum duration of a phase. Its token expires then even if the phase has not ended. */
const TOKEN_LIFETIME_MS = 24 * 60 * 60 * 1000;

interface PhaseTaking extends Pick<RunsContext, 'publicUrl'> {
  readonly nowMs: number;
  readonly mayTake: (workspace: Workspace) => Promise<boolean>;
}

const issueForPhase = (
  tx: Transaction,
  { run, workspace, organizationName, variables }: AgentRun,
  issuer: string | undefined,
  nowMs: number,
): Promise<readonly WorkloadToken[]> => {
  const environment = variables.flatMap(({ overwriterId, variable: { category, key, value } }) =>
    overwriterId === null && category === 'env' ? [[key, value] as const] : [],
  );
  const parts = {
    organization: { id: run.organizationId, name: organizationName },
    project: { id: workspace.projectId },
    workspace,
    run,
    phase: toPhase(run),
  };
  return issueWorkloadTokens(tx, parts, new Map(environment), { issuer, nowMs });
};

/**
 * Gives the run's next phase to an agent without one; undefined when the run or its workspace is gone, does not
 * wait, or waits for somebody else or for its organization to be on.
 */
export const takePhase = async (
  tx: Transaction,
  agent: Agent,
  runId: string,
  { nowMs, mayTake, publicUrl }: PhaseTaking,
): Promise<ClaimedRun | undefined> => {
  const run = await runRecords.find(tx, runId);
  const workspace = run && (await workspaceRecords.find(tx, run.workspaceId));
  if (run === undefined || workspace === undefined) return undefined;
  if (!(await mayTake(workspace))) return undefined;
  if ((await findOrganizationSwitch(tx, run.organizationId)) !== undefined) return undefined;
  const started = await startPhase(tx, run, agent, nowMs);
  if (started === undefined) return undefined;
  const { organizationId } = agent.poolId === null ? run : agent;
  const busy: Agent = { ...agent, organizationId, runId, ended: null, lastPingAtMs: nowMs };
  await agentRecords.write(tx, agent.id, busy);
  startLog(tx, toPhaseId(runId, toPhase(started)));
  const given = { description: toPhase(started), expiresAtMs: nowMs + TOKEN_LIFETIME_MS };
  const { text, token } = await issueToken(tx, { kind: 'run', id: runId }, given, null, nowMs);
  const key = await sshKeyRecords.find(tx, workspace.sshKeyId ?? '');
  const loaded = await loadAgentRun(tx, started);
  return {
    ...loaded,
    token: text,
    tokenId: token.id,
    sshKey: key?.value,
    workloadTokens: await issueForPhase(tx, loaded, publicUrl, nowMs),
  };
};

const claim = async (
  tx: Transaction,
  { clock, publicUrl }: RunsContext,
  principal: Principal,
  agentId: string,
  runId: string,
): Promise<ClaimedRun | undefined> => {
  const { agent, pool } = await requireIdleAgent(tx, principal, agentId);
  const mayTake = async (workspace: Workspace) =>
    !(await isAgentPoolOff(tx, pool.id)) && executes(tx, pool, workspace);
  return takePhase(tx, agent, runId, { nowMs: clock.nowMs(), mayTake, publicUrl });
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

/** The oldest phase that waits for an agent of the caller's pool; undefined when there is none. */
export const claimRun = async (
  context: RunsContext,
  principal: Principal,
  agentId: string,
): Promise<ClaimedRun | undefined> => {
  const { store } = context;
  const { pool } = await requireIdleAgent(store, principal, agentId);
  if ((await findOrganizationSwitch(store, pool.organizationId)) !== undefined) return undefined;
  if (await isAgentPoolOff(store, pool.id)) return undefined;
  for await (const runId of findWaiting(context, pool.organizationId)) {
    // A run that needs a damaged record waits until it is repaired; the others do not wait for it.
    const claimed = await unlessDamaged(
      store.transact((tx) => claim(tx, context, principal, agentId, runId)),
    );
    if (claimed !== undefined) return claimed;
  }
  return undefined;
};

/**
 * The run of the caller's token. The token is revoked when the phase ends, so that a silent agent cannot act
 * for the next one.
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
  { store }: RunsContext,
  principal: Principal,
  runId: string,
): Promise<AgentRun> => loadAgentRun(store, await requireOwnRun(store, principal, runId));

export type PhaseReport =
  | { readonly kind: 'finished'; readonly counts: ChangeCounts; readonly hasChanges: boolean }
  | { readonly kind: 'errored' }
  | { readonly kind: 'canceled' };

const toEvent = async (
  context: RunsContext,
  reads: Reads,
  run: Run,
  report: PhaseReport,
): Promise<RunEvent> => {
  switch (report.kind) {
    case 'finished': {
      const { counts, hasChanges } = report;
      if (toPhase(run) === 'apply') return { kind: 'apply_finished', counts };
      const waitsBecause = await findReasonToWait(context, reads, run);
      return { kind: 'plan_finished', counts, hasChanges, waitsBecause };
    }
    case 'errored':
      return { kind: 'fail' };
    case 'canceled':
      return { kind: 'canceled' };
  }
};

/**
 * Ends the phase of the agent. An apply queues the runs that it triggers in other workspaces.
 * @throws KeelsonError `workspace.conflict`
 */
export const reportPhase = (
  context: RunsContext,
  principal: Principal,
  runId: string,
  report: PhaseReport,
): Promise<Run> =>
  context.store.transact(async (tx) => {
    const run = await requireOwnRun(tx, principal, runId);
    const event = await toEvent(context, tx, run, report);
    const next = await changeRun(tx, runId, event, context.clock.nowMs());
    if (next.status === 'applied') await queueTriggeredRuns(context, tx, next);
    return next;
  });

/** Appends text to the log of the agent's phase. */
export const writeLog = (
  { store }: RunsContext,
  principal: Principal,
  runId: string,
  text: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const run = await requireOwnRun(tx, principal, runId);
    await appendLog(tx, toPhaseId(runId, toPhase(run)), text);
  });
