/** Agents as they register, report and go; what they work on is in `agent-runs/`. */
import { KeelsonError } from '@keelson/errors';
import { newResourceId, type Page, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, TransactOptions } from '@keelson/storage';
import type { Kysely } from 'kysely';
import { notFound } from '../access/access-operations.ts';
import type { ServiceContext } from '../service-context.ts';
import { attributeViolation } from '../validation/domain/violation.ts';
import { requireAgentPool } from './agent-pool-operations.ts';
import { agentPoolRecords } from './agent-pool-records.ts';
import type { AgentTables } from './agent-projections.ts';
import { agentRecords, registeredAgents } from './agent-records.ts';
import { giveUpPhase, removeAgent } from './agent-removal-operations.ts';
import {
  type Agent,
  decideUpkeep,
  isAgentName,
  REMEMBERED_MS,
  SILENT_AFTER_MS,
} from './domain/agent.ts';
import type { AgentPool } from './domain/agent-pool.ts';

/** The pool whose token the caller has. @throws KeelsonError `workspace.not_found` for everyone else */
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

export type GivenAgent = Pick<Agent, 'name' | 'version' | 'ipAddress'>;

export const registerAgent = (
  { store, clock }: ServiceContext,
  principal: Principal,
  given: GivenAgent,
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
    agentRecords.write(tx, [agent.id], agent);
    registeredAgents.write(tx, [pool.organizationId, pool.id, agent.id], {});
    return agent;
  });

/** What an agent says of itself with a ping; undefined: that it goes on with what it does. */
export type Presence = 'idle' | 'exited' | undefined;

/**
 * Keeps an agent from being given up. One that says it is idle, as after a restart, or leaves, has lost
 * the phase it had.
 */
export const pingAgent = (
  { store, clock }: ServiceContext,
  principal: Principal,
  agentId: string,
  presence: Presence,
  ipAddress: string,
): Promise<Agent> =>
  store.transact(async (tx) => {
    const { agent } = await requireOwnAgent(tx, principal, agentId);
    const nowMs = clock.nowMs();
    if (presence !== undefined) {
      await giveUpPhase(tx, agent, 'The agent was stopped.', nowMs);
    }
    const pinged: Agent = {
      ...agent,
      ipAddress,
      runId: presence === undefined ? agent.runId : null,
      ended: presence === 'exited' ? 'exited' : null,
      lastPingAtMs: nowMs,
    };
    agentRecords.write(tx, [agentId], pinged);
    return pinged;
  });

/** @throws KeelsonError `workspace.not_found` */
export const requireAgent = async (
  reads: Reads,
  principal: Principal,
  agentId: string,
  needs: 'canRead' | 'canManage' = 'canRead',
): Promise<Agent> => {
  const agent = await agentRecords.find(reads, agentId);
  if (agent === undefined) throw notFound('agent');
  await requireAgentPool(reads, principal, agent.poolId, needs);
  return agent;
};

/** Forgets an agent that is gone. @throws KeelsonError `workspace.agent_is_live` */
export const deleteAgent = (
  { store }: ServiceContext,
  principal: Principal,
  agentId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const agent = await requireAgent(tx, principal, agentId, 'canManage');
    if (agent.ended === null) throw new KeelsonError('workspace.agent_is_live', { id: agent.id });
    removeAgent(tx, agent);
  });

export interface AgentPage {
  readonly agents: readonly Agent[];
  readonly totalCount: number;
}

/** Agents of a pool in order of registration, those that pinged from a time on. */
export const listAgents = async (
  { store }: ServiceContext,
  principal: Principal,
  poolId: string,
  pingedSinceMs: number,
  { number, size }: Page,
): Promise<AgentPage> => {
  await requireAgentPool(store, principal, poolId);
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
  const agents = await Promise.all(rows.map(({ id }) => agentRecords.find(store, id)));
  return {
    agents: agents.filter((agent) => agent !== undefined),
    totalCount: Number(counted?.agents ?? 0),
  };
};

/** Agents looked at in one round. */
const AT_ONCE = 100;

const findSilent = async (
  { store }: ServiceContext,
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

/**
 * Gives up agents that are silent: the phase that one has ends as errored and the lock is free again.
 * @returns true when there may be more at once
 */
export const giveUpSilentAgents = async (
  context: ServiceContext,
  options: TransactOptions,
): Promise<boolean> => {
  const { store, clock } = context;
  const startedAtMs = clock.nowMs();
  const silent = await findSilent(context, 0, startedAtMs - SILENT_AFTER_MS);
  const gone = await findSilent(context, 1, startedAtMs - REMEMBERED_MS);
  for (const id of [...silent, ...gone]) {
    await store.transact(async (tx) => {
      const agent = await agentRecords.find(tx, id);
      const nowMs = clock.nowMs();
      const decision = agent && decideUpkeep(agent, nowMs);
      if (agent === undefined || decision === undefined) return;
      if (decision === 'forget') {
        removeAgent(tx, agent);
        return;
      }
      await giveUpPhase(tx, agent, 'The agent that had this phase is silent.', nowMs);
      agentRecords.write(tx, [id], { ...agent, runId: null, ended: 'errored' });
    }, options);
  }
  return Math.max(silent.length, gone.length) >= AT_ONCE;
};

/** Whether the organization has ever had an agent that is still remembered. */
export const hasAgents = async (reads: Reads, organizationId: string): Promise<boolean> => {
  const [pool] = await registeredAgents.keys(reads, [organizationId], { limit: 1 });
  return pool !== undefined;
};
