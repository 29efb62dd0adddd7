/** Executes phases in a place, one after the other: each has an executor, and nothing of it is left afterwards. */
import { chmod, chown, copyFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ControlGroup } from '@keelson/sandbox';
import { discardFolder } from '@keelson/supervisor';
import {
  type ClaimedPhase,
  type ControlPlane,
  isEgressLimited,
  type Phase,
} from '../control-plane.ts';
import type { Task } from '../executor/task.ts';
import type { Owner } from '../owners/owners.ts';
import { refusePhase } from '../phase.ts';
import type { Program } from '../program.ts';
import { watchDisk } from './disk-watch.ts';
import { type Confinement, OVERTIME_SECONDS, startExecutor } from './executor-process.ts';
import {
  type AppliedWorkspace,
  appliedBy,
  awaitLeaving,
  findOccupation,
  keepState,
  makeRoom,
  type Occupation,
  type PlaceFolder,
  preparePlace,
  recordOccupation,
  removeScratch,
} from './place.ts';
import { startSshAgent } from './ssh-agent.ts';

/** Logs an event with its values. */
export type Note = (values: object, text: string) => void;

export interface PlaceLog {
  readonly info: Note;
  readonly warn: Note;
  readonly error: Note;
}

export interface Place {
  readonly program: Program;
  readonly folder: PlaceFolder;
  readonly owner: Owner;
  /** Makes the control group of an executor; absent where the machine has none for runs. */
  readonly createGroup?: (() => Promise<ControlGroup>) | undefined;
  /** Absent where runs have no sandbox. */
  readonly confinement: Confinement | undefined;
  readonly controlPlane: ControlPlane;
  readonly task: Pick<Task, 'address' | 'host' | 'timeLimitSeconds' | 'outputLimitBytes'>;
  /** Environment variables that reach the tool, including PATH. */
  readonly environment: Readonly<Record<string, string>>;
  /** PEM file of the control plane's CA; undefined means a CA of the system. */
  readonly caFile: string | undefined;
  readonly cliConfigFile: string | undefined;
  readonly log: PlaceLog;
}

/** A phase that cannot be executed; the message is for its log. */
export class NotExecutable extends Error {}

const messageOf = (error: unknown): string =>
  error instanceof Error ? error.message : String(error);

const toTask = async (place: Place, tool: string, phase?: Phase): Promise<Task> => {
  const { folder, owner, caFile, cliConfigFile, environment } = place;
  const give = async (file: string | undefined, name: string): Promise<string | null> => {
    if (file === undefined) return null;
    const given = join(folder.root, name);
    await copyFile(file, given);
    await chmod(given, 0o600);
    if (owner.uid !== undefined && owner.gid !== undefined)
      await chown(given, owner.uid, owner.gid);
    return given;
  };
  const config = await give(cliConfigFile, 'operator.tfrc');
  return {
    ...place.task,
    program: place.program,
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

type EgressLimits = Pick<Occupation, 'allowedEgress'>;

const limitsOf = ({ attributes }: Phase): EgressLimits => {
  const allowedEgress = attributes['allowed-egress'] ?? undefined;
  return allowedEgress === undefined ? {} : { allowedEgress };
};

const occupationOf = (phase: ClaimedPhase): Occupation => {
  const applied = appliedBy(phase);
  return { agentId: phase.agentId, ...limitsOf(phase), ...(applied && { applied }) };
};

/** Keeps a state that could not be uploaded; no other copy of it may exist. @returns a sentence for the run's log */
const keepLeftState = async (
  { folder, program, log }: Place,
  applied: AppliedWorkspace | undefined,
): Promise<string> => {
  if (applied === undefined) return '';
  const file = await keepState(folder, applied);
  if (file === undefined) return '';
  log.error(
    { run: applied.runId, file },
    'the state of an apply could not be uploaded, and is kept',
  );
  return `\nIts state could not be uploaded. It is kept on the machine of the ${program.name}, in ${file}.`;
};

/** Uploads the state of an apply that was interrupted before it could be stored, as its `errored-state`. */
const recover = async (place: Place, limits: EgressLimits): Promise<void> => {
  const { log } = place;
  const say = (text: string) => log.info({}, text);
  try {
    // Code of the run may have written where the recovery sends something to.
    const task = { ...(await toTask(place, '')), ...limits };
    const executor = await startExecutor(task, { ...place, say });
    await executor.ended;
  } catch (error) {
    log.error({ err: error }, 'what an executor left behind could not be recovered');
  }
};

/** Follows an executor to its end. @returns whether it has reported the phase */
const follow = async (
  place: Place,
  phase: ClaimedPhase,
  given: Task,
  signal: AbortSignal,
): Promise<boolean> => {
  const { program, folder, log, task } = place;
  const say = (text: string) => log.info({ run: phase.runId }, text);
  const executor = await startExecutor(given, { ...place, say });
  if (executor.pid !== undefined)
    await recordOccupation(folder.root, { ...occupationOf(phase), pid: executor.pid });
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
  log.error({ run: phase.runId, fault: end.reason }, 'an executor ended before it reported');
  if (hasFilledDisk) await makeRoom(folder);
  await recover(place, limitsOf(phase));
  const kept = await keepLeftState(place, appliedBy(phase));
  if (hasFilledDisk) {
    await discardFolder(folder.run);
    throw new NotExecutable(
      `\nThe disk of the ${program.name} is nearly full, and this run had filled the most of it.${kept}`,
    );
  }
  throw new NotExecutable(
    `\nThe process of the ${program.name} that executed this ${phase.attributes.phase} ended unexpectedly (${end.reason}).${kept}`,
  );
};

/** Executes a phase up to its report. The SSH key is with an agent, which ends before code of the run is executed. */
const perform = async (
  place: Place,
  phase: ClaimedPhase,
  tool: string,
  signal: AbortSignal,
): Promise<void> => {
  const { 'ssh-private-key': key, ...attributes } = phase.attributes;
  const task = await toTask(place, tool, { ...phase, attributes });
  if (key === undefined) {
    await follow(place, phase, task, signal);
    return;
  }
  const initialize = async (): Promise<boolean> => {
    const { socket, end } = await startSshAgent(place.folder.run, place.owner, key).catch(
      (error: unknown) => {
        throw new NotExecutable(`The SSH key of the workspace cannot be used: ${messageOf(error)}`);
      },
    );
    try {
      const sshAgent = { socket, proxyUrl: undefined };
      return await follow(place, phase, { ...task, part: { kind: 'init', sshAgent } }, signal);
    } finally {
      await end();
    }
  };
  if (await initialize()) return;
  await follow(place, phase, { ...task, part: { kind: 'rest' } }, signal);
};

/** Removes the folder of the place, or sets it aside: the next phase has another. */
const empty = async ({ folder, log }: Place): Promise<void> => {
  const aside = await discardFolder(folder.root);
  if (aside !== undefined) log.error({ folder: aside }, 'a folder could not be removed');
};

/**
 * Executes a phase, with its report. @param findTool the program of the tool, which may throw `NotExecutable`
 * @param signal ends the phase as errored, once its tool has stored its state
 */
export const executePhase = async (
  place: Place,
  phase: ClaimedPhase,
  findTool: () => Promise<string>,
  signal: AbortSignal,
): Promise<void> => {
  const { program, controlPlane, folder, owner, log } = place;
  try {
    if (isEgressLimited(phase) && place.confinement === undefined)
      throw new NotExecutable(
        `Its agent pool limits what runs reach, which the ${program.name} cannot do without a sandbox (${program.unsafe}).`,
      );
    await preparePlace(folder, occupationOf(phase), owner);
    await perform(place, phase, await findTool(), signal);
  } catch (error) {
    const isKnown = error instanceof NotExecutable;
    if (!isKnown) log.error({ err: error, run: phase.runId }, 'a phase could not be executed');
    const text = isKnown
      ? error.message
      : `The ${program.name} could not execute this phase; its log says why.`;
    await refusePhase(controlPlane, phase, text);
  }
  await keepLeftState(place, appliedBy(phase));
  await empty(place);
};

/**
 * Ends the phase that an earlier process had started here, and empties the folder.
 * @param report tells the control plane, before the folder is emptied, that the agent of the phase has ended
 */
export const clearPlace = async (
  place: Place,
  report: (agentId: string) => Promise<void>,
): Promise<void> => {
  const { folder, log } = place;
  const occupation = await findOccupation(folder.root);
  if (occupation !== undefined) {
    log.warn({ agent: occupation.agentId }, 'the process was ended during a phase');
    await awaitLeaving(occupation);
    await removeScratch(folder);
    const { allowedEgress } = occupation;
    await recover(place, allowedEgress === undefined ? {} : { allowedEgress });
    await keepLeftState(place, occupation.applied);
    await report(occupation.agentId);
  }
  await empty(place);
};
