/** The life cycle of an agent: it registers, sends heartbeats, polls for work, and deregisters. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import {
  type ControlPlane,
  isGone,
  performRepositoryWork,
  type RegisteredAgent,
  type Say,
} from '@keelson/agent';
import type { AgentConfig } from './config.ts';
import type { Execution, PhaseExecutor } from './phase-executor.ts';

const VERSION = '0.1.0';

export interface AgentParts {
  readonly config: AgentConfig;
  readonly controlPlane: ControlPlane;
  readonly executor: PhaseExecutor;
}

export interface Agent {
  /** Stops polling, finishes the current phase and deregisters. A second call interrupts the phase. */
  stop(): void;
  /** Resolves when the agent has deregistered. */
  readonly ended: Promise<void>;
}

/** Waits, unless `signal` aborts. */
const rest = (delayMs: number, signal: AbortSignal): Promise<void> =>
  pause(delayMs, undefined, { signal }).catch(() => undefined);

const register = async (
  { config, controlPlane }: AgentParts,
  say: Say,
): Promise<RegisteredAgent> => {
  const file = join(config.folder, 'agent-id');
  const id = (await readFile(file, 'utf8').catch(() => '')).trim();
  if (id !== '') {
    try {
      // A phase that it had when it was stopped is lost.
      return await controlPlane.ping(id, 'idle');
    } catch (error) {
      if (!isGone(error)) throw error;
    }
  }
  const registered = await controlPlane.register(config.name, VERSION);
  await writeFile(file, registered.id);
  say(`registered as ${registered.id}`);
  return registered;
};

const keepPinging = async (
  { controlPlane }: AgentParts,
  agent: RegisteredAgent,
  say: Say,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    await rest(agent.pingSeconds * 1000, signal);
    if (signal.aborted) return;
    await controlPlane.ping(agent.id).catch((error: unknown) => say(`ping: ${String(error)}`));
  }
};

/** Repositories do not wait for phases, which may take hours. */
const serveRepositories = async (
  { config, controlPlane }: AgentParts,
  agent: RegisteredAgent,
  say: Say,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    try {
      const work = await controlPlane.claimRepositoryWork(agent.id);
      if (work === undefined) await rest(config.pollMs, signal);
      else await performRepositoryWork(controlPlane, work, say);
    } catch (error) {
      say(`repositories: ${String(error)}`);
      await rest(config.pollMs, signal);
    }
  }
};

export const startAgent = (parts: AgentParts, say: Say): Agent => {
  const { config, controlPlane, executor } = parts;
  const stopping = new AbortController();
  let execution: Execution | undefined;

  const work = async (agent: RegisteredAgent): Promise<void> => {
    while (!stopping.signal.aborted) {
      const phase = await controlPlane.claim(agent.id);
      if (phase === undefined) {
        await rest(config.pollMs, stopping.signal);
        continue;
      }
      const name = `${phase.runId}-${phase.attributes.phase}`;
      say(`${name} begins`);
      execution = executor.begin(phase);
      await execution.ended;
      say(`${name} is over`);
    }
  };

  /** One registration, until the agent is stopped or an error occurs. */
  const serve = async (): Promise<void> => {
    await executor.recover();
    const agent = await register(parts, say);
    const over = new AbortController();
    const stopped = AbortSignal.any([over.signal, stopping.signal]);
    const repositories = serveRepositories(parts, agent, say, stopped);
    const pings = keepPinging(parts, agent, say, over.signal);
    try {
      await work(agent);
      await repositories;
      await controlPlane.ping(agent.id, 'exited');
    } finally {
      over.abort();
      await Promise.all([pings, repositories]);
    }
  };

  const live = async (): Promise<void> => {
    await mkdir(config.folder, { recursive: true, mode: 0o711 });
    do {
      try {
        await serve();
      } catch (error) {
        say(String(error));
        await rest(config.pollMs, stopping.signal);
      }
    } while (!stopping.signal.aborted);
  };

  return {
    stop: () => {
      if (stopping.signal.aborted) execution?.interrupt();
      stopping.abort();
    },
    ended: live(),
  };
};
