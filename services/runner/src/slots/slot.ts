/** A slot executes one phase after the other: it asks for work, starts an executor, and cleans up. */
import { copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { type ControlPlane, isGone, type Phase, refusePhase } from '@keelson/agent';
import type { Logger } from '@keelson/logging';
import { VERSION } from '@keelson/runtime';
import { discardFolder } from '@keelson/supervisor';
import type { Task } from '../executor/task.ts';
import type { Owner } from '../owners/owners.ts';
import {
  explainMissing,
  listReleases,
  type ToolPlaces,
  type ToolRelease,
} from '../tools/tool-releases.ts';
import { unpackRelease } from '../tools/zip-files.ts';
import { watchDisk } from './disk-watch.ts';
import {
  type Confinement,
  type ExecutorProcess,
  OVERTIME_SECONDS,
  startExecutor,
} from './executor-process.ts';
import {
  awaitLeaving,
  findOccupation,
  prepareSlot,
  recordOccupation,
  type SlotFolder,
} from './slot-folder.ts';
import { startSshAgent } from './ssh-agent.ts';

export interface SlotParts {
  /** "slot-1". */
  readonly name: string;
  readonly folder: SlotFolder;
  readonly owner: Owner;
  /** Absent where runs have no sandbox. */
  readonly confinement: Confinement | undefined;
  readonly controlPlane: ControlPlane;
  readonly tools: ToolPlaces;
  readonly task: Pick<Task, 'address' | 'host' | 'timeLimitSeconds' | 'outputLimitBytes'>;
  /** Environment variables passed to the tool, including PATH. */
  readonly environment: Readonly<Record<string, string>>;
  readonly caFile: string | undefined;
  readonly cliConfigFile: string | undefined;
  readonly pollMs: number;
  readonly mayHaveWork: () => Promise<boolean>;
  readonly logger: Logger;
}

type ClaimedPhase = Phase & { readonly agentId: string };

/** As agents do: a minute of silence ends the phase. */
const PING_MS = 10_000;

const rest = (delayMs: number, signal: AbortSignal): Promise<void> =>
  pause(delayMs, undefined, { signal }).catch(() => undefined);

/** A phase that cannot be executed; the message is for its log. */
class NotExecutable extends Error {}

const findTool = async (
  { tools, folder }: SlotParts,
  { attributes }: Phase,
  releases: readonly ToolRelease[],
): Promise<string> => {
  const wanted = releases.find(({ version }) => version === attributes['runtime-version']);
  const release = wanted ?? (tools.acceptsOther ? releases[0] : undefined);
  if (release === undefined)
    throw new NotExecutable(
      explainMissing(attributes['runtime-version-constraint'], tools, releases),
    );
  if (release.kind === 'program') return release.file;
  return unpackRelease(release, folder.root).catch((error: unknown) => {
    throw new NotExecutable(error instanceof Error ? error.message : String(error));
  });
};

const toTask = async (parts: SlotParts, tool: string, phase?: Phase): Promise<Task> => {
  const { folder, caFile, cliConfigFile, environment } = parts;
  const give = async (file: string | undefined, name: string): Promise<string | null> => {
    if (file === undefined) return null;
    const given = join(folder.root, name);
    await copyFile(file, given);
    return given;
  };
  const config = await give(cliConfigFile, 'operator.tfrc');
  return {
    ...parts.task,
    ...(phase && { phase }),
    folder: folder.run,
    tool,
    caFile: await give(caFile, 'ca.pem'),
    environment: {
      ...environment,
      HOME: folder.home,
      TMPDIR: folder.temporary,
      ...(config !== null && { TF_CLI_CONFIG_FILE: config }),
    },
  };
};

/** Uploads the state of an apply that was interrupted before it could be stored, as its `errored-state`. */
const recover = async (parts: SlotParts): Promise<void> => {
  const { logger } = parts;
  const say = (text: string) => logger.info(text);
  try {
    const executor = await startExecutor(await toTask(parts, ''), { ...parts, say });
    await executor.ended;
  } catch (error) {
    logger.error({ err: error }, 'what an executor left behind could not be recovered');
  }
};

const ping = async ({ controlPlane, logger }: SlotParts, agentId: string, signal: AbortSignal) => {
  while (!signal.aborted) {
    await rest(PING_MS, signal);
    if (signal.aborted) return;
    await controlPlane.ping(agentId).catch((error: unknown) => {
      // The control plane has ended the phase, which the executor learns from its own requests as
      // well.
      if (!isGone(error)) logger.warn({ err: error }, 'ping');
    });
  }
};

/** Follows an executor to its end. @returns whether it has reported the phase */
const follow = async (
  parts: SlotParts,
  phase: ClaimedPhase,
  given: Task,
  signal: AbortSignal,
): Promise<boolean> => {
  const { folder, logger, task } = parts;
  const say = (text: string) => logger.info({ run: phase.runId }, text);
  const executor: ExecutorProcess = await startExecutor(given, { ...parts, say });
  const { agentId } = phase;
  if (executor.pid !== undefined) {
    await recordOccupation(folder.root, { agentId, pid: executor.pid });
  }
  const stop = () => executor.stop();
  if (signal.aborted) stop();
  signal.addEventListener('abort', stop);
  const overtime = setTimeout(
    () => executor.kill(),
    (task.timeLimitSeconds + OVERTIME_SECONDS) * 1000,
  );
  let hasFilledDisk = false;
  const disk = watchDisk(folder.run, () => {
    hasFilledDisk = true;
    executor.kill();
  });
  const end = await executor.ended;
  disk[Symbol.dispose]();
  clearTimeout(overtime);
  signal.removeEventListener('abort', stop);
  if (end.kind !== 'fault') return end.kind === 'over';
  logger.error({ run: phase.runId, fault: end.reason }, 'an executor ended before it reported');
  await recover(parts);
  if (hasFilledDisk)
    throw new NotExecutable(
      '\nThe disk of the built-in runner is nearly full, and this run had filled the most of it.',
    );
  throw new NotExecutable(
    `\nThe process of the built-in runner that executed this ${phase.attributes.phase} ended unexpectedly (${end.reason}).`,
  );
};

/** Executes a phase up to its report. The SSH key is with an agent, which ends before code of the run is executed. */
const perform = async (
  parts: SlotParts,
  phase: ClaimedPhase,
  tool: string,
  signal: AbortSignal,
): Promise<void> => {
  const { 'ssh-private-key': key, ...attributes } = phase.attributes;
  const task = await toTask(parts, tool, { ...phase, attributes });
  if (key === undefined) {
    await follow(parts, phase, task, signal);
    return;
  }
  const initialize = async (): Promise<boolean> => {
    const { socket, end } = await startSshAgent(parts.folder.run, parts.owner, key).catch(
      (error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        throw new NotExecutable(`The SSH key of the workspace cannot be used: ${reason}`);
      },
    );
    try {
      const sshAgent = { socket, proxyUrl: undefined };
      return await follow(parts, phase, { ...task, part: { kind: 'init', sshAgent } }, signal);
    } finally {
      await end();
    }
  };
  if (await initialize()) return;
  await follow(parts, phase, { ...task, part: { kind: 'rest' } }, signal);
};

const performAlive = async (
  parts: SlotParts,
  phase: ClaimedPhase,
  tool: string,
  signal: AbortSignal,
): Promise<void> => {
  const over = new AbortController();
  const pings = ping(parts, phase.agentId, over.signal);
  try {
    await perform(parts, phase, tool, signal);
  } finally {
    over.abort();
    await pings;
  }
};

/** Removes the folder of the slot, or sets it aside: the next phase has another. */
const empty = async ({ folder, logger }: SlotParts): Promise<void> => {
  const aside = await discardFolder(folder.root);
  if (aside !== undefined) logger.error({ folder: aside }, 'a folder could not be removed');
};

const work = async (
  parts: SlotParts,
  phase: ClaimedPhase,
  releases: readonly ToolRelease[],
  signal: AbortSignal,
): Promise<void> => {
  const { controlPlane, folder, owner, logger } = parts;
  logger.info({ run: phase.runId, phase: phase.attributes.phase }, 'a phase begins');
  try {
    await prepareSlot(folder, { agentId: phase.agentId }, owner);
    await performAlive(parts, phase, await findTool(parts, phase, releases), signal);
  } catch (error) {
    const isKnown = error instanceof NotExecutable;
    if (!isKnown) logger.error({ err: error, run: phase.runId }, 'a phase could not be executed');
    const text = isKnown
      ? error.message
      : 'The built-in runner could not execute this phase; its log says why.';
    await refusePhase(controlPlane, phase, text);
  }
  await empty(parts);
};

/** Ends the phase that an earlier process of the runner had started, and empties the folder. */
const clear = async (parts: SlotParts): Promise<void> => {
  const { folder, controlPlane, logger } = parts;
  const occupation = await findOccupation(folder.root);
  if (occupation !== undefined) {
    logger.warn({ agent: occupation.agentId }, 'the runner was ended during a phase');
    await awaitLeaving(occupation);
    await recover(parts);
    await controlPlane.ping(occupation.agentId, 'exited').catch((error: unknown) => {
      if (!isGone(error)) throw error;
    });
  }
  await empty(parts);
};

/** Serves until `signal` aborts. An outage of the control plane is logged once, and waited out. */
export const serveSlot = async (parts: SlotParts, signal: AbortSignal): Promise<void> => {
  const { name, controlPlane, tools, owner, pollMs, mayHaveWork, logger } = parts;
  let isCleared = false;
  let fault: string | undefined;
  while (!signal.aborted) {
    try {
      if (!isCleared) await clear(parts);
      isCleared = true;
      if (!(await mayHaveWork())) {
        await rest(pollMs, signal);
        continue;
      }
      const releases = await listReleases(tools, owner);
      const versions = [...new Set(releases.map(({ version }) => version))];
      const phase = await controlPlane.claimAsRunner(name, VERSION, versions);
      if (fault !== undefined) logger.info('the control plane gives work again');
      fault = undefined;
      if (phase === undefined) await rest(pollMs, signal);
      else await work(parts, phase, releases, signal);
    } catch (error) {
      const text = error instanceof Error ? error.message : String(error);
      if (text !== fault) logger.warn({ err: error }, 'the control plane gives no work');
      fault = text;
      await rest(pollMs, signal);
    }
  }
};
