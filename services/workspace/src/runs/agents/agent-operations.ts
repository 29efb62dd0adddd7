/** Registration, heartbeats and departure of agents; the phases they work on are in `agent-runs/`. */
import { KeelsonError } from '@keelson/errors';
import { newResourceId, type Page, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type TransactOptions, unlessDamaged } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { isRunner } from '../../identity/tokens/runner-identity.ts';
import {
  type AgentPoolAccessResult,
  requireAgentPool,
} from '../../workspaces/agent-pools/agent-pool-operations.ts';
import { agentPoolRecords } from '../../workspaces/model/agent-pool-records.ts';
import { agentRecords } from '../../workspaces/model/agent-records.ts';
import {
  type Agent,
  decideUpkeep,
  isAgentName,
  REMEMBERED_MS,
  type ShownAgent,
  SILENT_AFTER_MS,
} from '../../workspaces/model/domain/agent.ts';
import type { AgentPool } from '../../workspaces/model/domain/agent-pool.ts';
import type { RunsContext } from '../seams/runs-context.ts';
import type { AgentTables } from './agent-projections.ts';
import { abandonPhase } from './agent-removal-operations.ts';

/**
 * The pool of the caller's token.
 * @throws KeelsonError `workspace.not_found` for every other caller
 */
export const requireOwnPool = async (reads: Reads, { kind, id }: Principal): Promise<AgentPool> => {
  const pool = kind === 'agent' ? await agentPoolRecords.find(reads, id) : undefined;
  if (pool === undefined) throw notFound('resource');
  return pool;
};

/** An agent of the caller's pool. @throws KeelsonError `workspace.not_found` */
export const requireOwnAgent = async (
  reads: Reads,
  principal: Principal,
  agentId: string,
): Promise<{ readonly agent: Agent; readonly pool: AgentPool }> => {
  const pool = await requireOwnPool(reads, principal);
  const agent = await agentRecords.find(reads, agentId);
  if (agent?.poolId !== pool.id) throw notFound('agent');
  return { agent, pool };
};

/** An agent that the caller speaks for. @throws KeelsonError `workspace.not_found` */
const requireReportedAgent = async (
  reads: Reads,
  principal: Principal,
  agentId: string,
): Promise<Agent> => {
  if (!isRunner(principal)) return (await requireOwnAgent(reads, principal, agentId)).agent;
  const agent = await agentRecords.find(reads, agentId);
  if (agent?.poolId !== null) throw notFound('agent');
  return agent;
};

export type AgentInput = Pick<Agent, 'name' | 'version' | 'ipAddress'>;

export const registerAgent = (
  { store, clock }: RunsContext,
  principal: Principal,
  given: AgentInput,
): Promise<Agent> =>
  store.transact(async (tx) => {
    const pool = await requireOwnPool(tx, principal);
    if (!isAgentName(given.name)) refuseInvalid([attributeViolation('name', 'Name is invalid')]);
    const nowMs = clock.nowMs();
    const agent: Agent = {
      ...given,
      id: newResourceId('agent'),
      poolId: pool.id,
      organizationId: pool.organizationId,
      runId: null,
      ended: null,
      lastPingAtMs: nowMs,
      createdAtMs: nowMs,
    };
    await agentRecords.write(tx, agent.id, agent);
    return agent;
  });

/** Status that an agent reports with a ping; undefined if it continues its work. */
export type Presence = 'idle' | 'exited' | undefined;

/**
 * Records a ping, which keeps the agent from being declared silent. An agent that reports that it is idle, as
 * after a restart, or that it exits loses its phase.
 */
export const pingAgent = (
  { store, clock }: RunsContext,
  principal: Principal,
  agentId: string,
  presence: Presence,
  ipAddress: string,
): Promise<Agent> =>
  store.transact(async (tx) => {
    const agent = await requireReportedAgent(tx, principal, agentId);
    const nowMs = clock.nowMs();
    if (presence !== undefined) {
      const lastWords =
        agent.poolId === null
          ? 'The built-in runner was stopped or restarted while it worked on this run.'
          : 'The agent was stopped.';
      await abandonPhase(tx, agent, lastWords, nowMs);
    }
    const pinged: Agent = {
      ...agent,
      ipAddress,
      runId: presence === undefined ? agent.runId : null,
      ended: presence === 'exited' ? 'exited' : null,
      lastPingAtMs: nowMs,
    };
    // With its phase, the agent of the built-in runner is gone.
    if (agent.poolId !== null || presence === undefined) {
      await agentRecords.write(tx, agentId, pinged);
    }
    return pinged;
  });

const visibleTo = (
  { canManage }: Pick<AgentPoolAccessResult, 'canManage'>,
  agent: Agent,
): ShownAgent => (canManage ? agent : { ...agent, ipAddress: null });

/** @throws KeelsonError `workspace.not_found` */
export const requireAgent = async (
  reads: Reads,
  principal: Principal,
  agentId: string,
  needs: 'canRead' | 'canManage' = 'canRead',
): Promise<ShownAgent> => {
  const agent = await agentRecords.find(reads, agentId);
  if (agent === undefined || agent.poolId === null) throw notFound('agent');
  return visibleTo(await requireAgentPool(reads, principal, agent.poolId, needs), agent);
};

/**
 * Deletes the record of an agent that is gone.
 * @throws KeelsonError `workspace.agent_is_live`
 */
export const deleteAgent = (
  { store }: RunsContext,
  principal: Principal,
  agentId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const agent = await requireAgent(tx, principal, agentId, 'canManage');
    if (agent.ended === null) throw new KeelsonError('workspace.agent_is_live', { id: agent.id });
    await agentRecords.delete(tx, agentId);
  });

export interface AgentPage {
  readonly agents: readonly ShownAgent[];
  readonly totalCount: number;
}

/** Agents of a pool in order of registration, limited to those that pinged since a given time. */
export const listAgents = async (
  { store }: RunsContext,
  principal: Principal,
  poolId: string,
  pingedSinceMs: number,
  { number, size }: Page,
): Promise<AgentPage> => {
  const access = await requireAgentPool(store, principal, poolId);
  const select = (tables: Kysely<AgentTables>) =>
    tables
      .selectFrom('agent')
      .where('pool_id', '=', poolId)
      .where('last_ping_at', '>=', pingedSinceMs);
  const [counted] = await store.select((tables: Kysely<AgentTables>) =>
    select(tables).select((rows) => rows.fn.countAll<number | bigint>().as('agents')),
  );
  const rows = await store.select((tables: Kysely<AgentTables>) =>
    select(tables)
      .select('id')
      .orderBy('created_at')
      .orderBy('id')
      .limit(size)
      .offset((number - 1) * size),
  );
  const agents = await Promise.all(
    rows.map(({ id }) => agentRecords.find(readableOnly(store), id)),
  );
  return {
    agents: agents.filter((agent) => agent !== undefined).map((agent) => visibleTo(access, agent)),
    totalCount: Number(counted?.agents ?? 0),
  };
};

/** Agents handled in one round. */
const AT_ONCE = 100;

const findSilent = async (
  { store }: RunsContext,
  hasEnded: 0 | 1,
  untilMs: number,
): Promise<readonly string[]> => {
  const rows = await store.select((tables: Kysely<AgentTables>) =>
    tables
      .selectFrom('agent')
      .select('id')
      .where('has_ended', '=', hasEnded)
      .where('last_ping_at', '<=', untilMs)
      .orderBy('last_ping_at')
      .limit(AT_ONCE),
  );
  return rows.map(({ id }) => id);
};

const toLastWordsOfSilent = ({ poolId }: Agent): string =>
  poolId === null
    ? 'The built-in runner, which had this phase, is silent.'
    : 'The agent that had this phase is silent.';

/**
 * Declares silent agents gone: the phase of each ends as errored and its lock is released.
 * @returns true when more may already be due
 */
export const abandonSilentAgents = async (
  context: RunsContext,
  options: TransactOptions,
): Promise<boolean> => {
  const { store, clock } = context;
  const startedAtMs = clock.nowMs();
  const silent = await findSilent(context, 0, startedAtMs - SILENT_AFTER_MS);
  const gone = await findSilent(context, 1, startedAtMs - REMEMBERED_MS);
  for (const id of [...silent, ...gone]) {
    const given = store.transact(async (tx) => {
      const agent = await agentRecords.find(tx, id);
      const nowMs = clock.nowMs();
      const decision = agent && decideUpkeep(agent, nowMs);
      if (agent === undefined || decision === undefined) return;
      if (decision === 'forget') {
        await agentRecords.delete(tx, id);
        return;
      }
      await abandonPhase(tx, agent, toLastWordsOfSilent(agent), nowMs);
      if (agent.poolId === null) await agentRecords.delete(tx, id);
      else await agentRecords.write(tx, id, { ...agent, runId: null, ended: 'errored' });
    }, options);
    await unlessDamaged(given);
  }
  return Math.max(silent.length, gone.length) >= AT_ONCE;
};
