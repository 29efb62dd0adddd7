/**
 * The folder of a place, for one phase at a time. The files that are provided belong to the user of this process; only
 * `run` belongs to the user of the phase.
 */
import { existsSync } from 'node:fs';
import {
  chmod,
  chown,
  lstat,
  mkdir,
  readdir,
  readFile,
  realpath,
  rename,
  writeFile,
} from 'node:fs/promises';
import { join, relative } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { discardFolder } from '@keelson/supervisor';
import type { Phase } from '../control-plane.ts';
import type { Owner } from '../owners/owners.ts';
import type { Program } from '../program.ts';
import { filesIn, leftoverFile, phaseFolder, stateFileIn } from '../work-folder.ts';

export interface PlaceFolder {
  readonly root: string;
  /** Folder that the executor owns and runs in. */
  readonly run: string;
  readonly home: string;
  readonly temporary: string;
}

/** The state of a phase that is recovered at the next start. */
export interface Occupation {
  readonly agentId: string;
  /** Process of the executor; absent until it is started. */
  readonly pid?: number;
  /** The only places that its run may reach; absent if they have no limit. */
  readonly allowedEgress?: readonly string[];
  /** Absent unless the phase is an apply. */
  readonly applied?: AppliedWorkspace;
}

/** Where the state of an apply is in the folder of its place. */
export interface AppliedWorkspace {
  readonly runId: string;
  readonly workspaceName: string;
}

/** Absent unless the phase is an apply. */
export const appliedBy = ({ runId, attributes }: Phase): AppliedWorkspace | undefined =>
  attributes.phase === 'apply' ? { runId, workspaceName: attributes['workspace-name'] } : undefined;

const occupationFile = (root: string): string => join(root, 'occupation.json');

export const toPlaceFolder = (folder: string, index: number): PlaceFolder => {
  const root = join(folder, `slot-${index + 1}`);
  const run = join(root, 'run');
  return { root, run, home: join(run, 'home'), temporary: join(run, 'tmp') };
};

/**
 * Creates the folder of all places, or uses the existing one.
 * @throws Error when another user created it, because its content cannot be trusted
 */
export const openPlaces = async ({ name, prefix }: Program, folder: string): Promise<void> => {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const found = await lstat(folder);
  if (!found.isDirectory() || found.uid !== process.getuid?.())
    throw new Error(`${prefix}FOLDER: ${folder} is not a folder of the user that the ${name} has`);
  // The users of the phases must be able to traverse it, regardless of the umask.
  await chmod(folder, 0o711);
};

/** Empties the folder of a place and prepares it for a phase. */
export const preparePlace = async (
  { root, run, home, temporary }: PlaceFolder,
  occupation: Occupation,
  { uid, gid }: Owner,
): Promise<void> => {
  await discardFolder(root);
  await mkdir(root, { mode: 0o711 });
  await chmod(root, uid === undefined ? 0o700 : 0o711);
  await recordOccupation(root, occupation);
  for (const folder of [run, home, temporary]) {
    await mkdir(folder, { mode: 0o700 });
    if (uid !== undefined && gid !== undefined) await chown(folder, uid, gid);
  }
};

/** Removes the files of a run that nobody needs any more: otherwise its recovery may have no room. */
export const removeScratch = async ({ home, temporary }: PlaceFolder): Promise<void> => {
  for (const folder of [home, temporary]) await discardFolder(folder);
};

/**
 * Makes room on a disk that a run has filled, wherever it wrote, and leaves what its state is recovered from: otherwise
 * recovery could not start, and a control plane with the same disk could not store the report. None of its processes
 * may be left, because it could put a link in the place of a folder.
 */
export const makeRoom = async (place: PlaceFolder): Promise<void> => {
  await removeScratch(place);
  const entries = await readdir(place.run, { withFileTypes: true }).catch(() => []);
  for (const entry of entries)
    if (entry.isDirectory()) await discardFolder(filesIn(join(place.run, entry.name)));
};

/**
 * Moves the state of an apply that was not uploaded out of its place, to a file of this process's user, which takes no
 * room on a full disk. None of the run's processes may be left, and no link that it made is followed.
 * @returns the file; undefined if there is no such state
 */
export const keepState = async (
  { root, run }: PlaceFolder,
  { runId, workspaceName }: AppliedWorkspace,
): Promise<string | undefined> => {
  const phase = phaseFolder(run, runId);
  const state = stateFileIn(phase, workspaceName);
  if (!existsSync(leftoverFile(phase)) || !existsSync(state)) return undefined;
  const isInPlace = (await realpath(state)) === join(await realpath(root), relative(root, state));
  const found = await lstat(state);
  if (!isInPlace || !found.isFile() || found.nlink > 1) return undefined;
  const kept = join(root, '..', `kept-${runId}.tfstate`);
  await rename(state, kept);
  const owner = process.getuid?.();
  if (owner !== undefined && owner !== found.uid)
    await chown(kept, owner, process.getgid?.() ?? owner);
  await chmod(kept, 0o600);
  return kept;
};

export const recordOccupation = (root: string, occupation: Occupation): Promise<void> =>
  writeFile(occupationFile(root), JSON.stringify(occupation), { mode: 0o600 });

/** Undefined if the folder is empty. */
export const findOccupation = async (root: string): Promise<Occupation | undefined> => {
  const text = await readFile(occupationFile(root), 'utf8').catch(() => undefined);
  return text === undefined ? undefined : (JSON.parse(text) as Occupation);
};

const isRunning = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

const WAIT_MS = 200;
/** An executor that is left interrupts the tool and stores the state. */
const LEAVES_WITHIN_MS = 60_000;

/** Waits for an executor whose starter has ended, and kills it if that takes too long. */
export const awaitLeaving = async ({ pid }: Occupation): Promise<void> => {
  if (pid === undefined) return;
  for (let waitedMs = 0; waitedMs < LEAVES_WITHIN_MS; waitedMs += WAIT_MS) {
    if (!isRunning(pid)) return;
    await pause(WAIT_MS);
  }
  endGroup(pid);
};

/** Ends an executor with the processes of its group. */
export const endGroup = (pid: number): void => {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
};
