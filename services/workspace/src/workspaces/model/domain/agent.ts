import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/**
 * A process that executes runs for a pool. It registers once, sends a heartbeat every few seconds, and has at
 * most one phase at a time. An agent that falls silent is declared gone and its phase ends.
 * The built-in runner has one agent for each phase. It belongs to no pool and exists until the phase ends.
 */
export const agentShape = Type.Object({
  /** `agent-…`. */
  id: Type.String(),
  /** Null if the phase is the built-in runner's. */
  poolId: nullable(Type.String()),
  /** Organization of the pool, or of the run that the built-in runner executes. */
  organizationId: Type.String(),
  name: Type.String(),
  ipAddress: Type.String(),
  /** Version of the agent program. */
  version: Type.String(),
  /** `run-…` whose phase it executes. */
  runId: nullable(Type.String()),
  /** How the agent ended: it deregistered, or its pings stopped; null while it is active. */
  ended: nullable(Type.Enum(['exited', 'errored'])),
  lastPingAtMs: Type.Number(),
  createdAtMs: Type.Number(),
});
export type Agent = Shaped<typeof agentShape>;

/** An agent as its reader sees it: addresses of the internal network are for those who manage the pool. */
export type ShownAgent = Omit<Agent, 'ipAddress'> & { readonly ipAddress: string | null };

export const AGENT_STATUSES = ['idle', 'busy', 'exited', 'errored'] as const;
export type AgentStatus = (typeof AGENT_STATUSES)[number];

export const toAgentStatus = ({ ended, runId }: Pick<Agent, 'ended' | 'runId'>): AgentStatus =>
  ended ?? (runId === null ? 'idle' : 'busy');

/** Interval of an agent's heartbeats, in seconds. */
export const PING_SECONDS = 10;

/** Time without a ping, six missed ones, after which the agent's phase ends and is not reassigned. */
export const SILENT_AFTER_MS = PING_SECONDS * 6 * 1000;

/** Time for which an agent that has left is kept. */
export const REMEMBERED_MS = 24 * 60 * 60 * 1000;

export type AgentUpkeep = 'give_up' | 'forget';

export const decideUpkeep = (agent: Agent, nowMs: number): AgentUpkeep | undefined => {
  const silentMs = nowMs - agent.lastPingAtMs;
  if (agent.ended === null) return silentMs >= SILENT_AFTER_MS ? 'give_up' : undefined;
  return silentMs >= REMEMBERED_MS ? 'forget' : undefined;
};

export const isAgentName = (name: string): boolean => /^[\w .@:-]{1,90}$/.test(name);
