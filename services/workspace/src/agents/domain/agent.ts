/**
 * One process that executes runs for a pool. It registers once, tells every few seconds that it is
 * there, and has at most one phase at a time. One that has gone silent is given up with its phase.
 */
export interface Agent {
  /** `agent-…`. */
  readonly id: string;
  readonly poolId: string;
  readonly organizationId: string;
  readonly name: string;
  readonly ipAddress: string;
  /** Of the agent program. */
  readonly version: string;
  /** `run-…` whose phase it works on. */
  readonly runId: string | null;
  /** It said goodbye, or was given up; null while it is there. */
  readonly ended: 'exited' | 'errored' | null;
  readonly lastPingAtMs: number;
  readonly createdAtMs: number;
}

export type AgentStatus = 'idle' | 'busy' | 'exited' | 'errored';

export const toAgentStatus = ({ ended, runId }: Pick<Agent, 'ended' | 'runId'>): AgentStatus =>
  ended ?? (runId === null ? 'idle' : 'busy');

/** How often an agent is to tell that it is there, in seconds. */
export const PING_SECONDS = 10;

/** Silence after which its phase is given to nobody and ends, six missed pings. */
export const SILENT_AFTER_MS = PING_SECONDS * 6 * 1000;

/** How long one that is gone is remembered. */
export const REMEMBERED_MS = 24 * 60 * 60 * 1000;

export type AgentUpkeep = 'give_up' | 'forget';

export const decideUpkeep = (agent: Agent, nowMs: number): AgentUpkeep | undefined => {
  const silentMs = nowMs - agent.lastPingAtMs;
  if (agent.ended === null) return silentMs >= SILENT_AFTER_MS ? 'give_up' : undefined;
  return silentMs >= REMEMBERED_MS ? 'forget' : undefined;
};

export const isAgentName = (name: string): boolean => /^[\w .@:-]{1,90}$/.test(name);
