/** Places for phases on a machine that allows them to be executed. */
import { randomUUID } from 'node:crypto';
import { statSync } from 'node:fs';
import { homedir, totalmem } from 'node:os';
import { delimiter, dirname, isAbsolute, relative } from 'node:path';
import {
  type ControlGroup,
  type ControlGroups,
  ControlGroupsUnavailable,
  openControlGroups,
  requireRanges,
} from '@keelson/sandbox';
import {
  ExecutionUnavailable,
  type Owner,
  requireSandbox,
  requireUsable,
  toOwner,
} from '../owners/owners.ts';
import type { Program } from '../program.ts';
import type { PlaceLog } from './execution.ts';
import { EXECUTOR, MAX_PROCESSES } from './executor-process.ts';
import { openPlaces, type PlaceFolder, toPlaceFolder } from './place.ts';

const OTHERS_PASS = 0o001;

/** Whether users other than its owner reach a folder. */
export const isOpen = (folder: string): boolean => {
  try {
    const passes = (statSync(folder).mode & OTHERS_PASS) !== 0;
    return passes && (folder === dirname(folder) || isOpen(dirname(folder)));
  } catch {
    return false;
  }
};

/**
 * Folders of PATH that contain nothing but programs: not the working folder or the home, nor one above them.
 * @param owner of the runs, who must reach them
 */
export const toToolFolders = (path: string, { uid }: Owner): readonly string[] =>
  path.split(delimiter).filter((folder) => {
    if (!isAbsolute(folder) || (uid !== undefined && !isOpen(folder))) return false;
    return [process.cwd(), homedir()].every((own) => relative(folder, own).startsWith('..'));
  });

export interface PlaceSettings {
  /** Folder of the places of phases. */
  readonly folder: string;
  /** As set; undefined means ids that follow from the folder. */
  readonly firstUserId: number | undefined;
}

const requireOwner = async (
  program: Program,
  { folder, firstUserId }: PlaceSettings,
): Promise<Owner> => {
  const owner = toOwner(0, firstUserId, folder);
  await requireUsable(program, owner, EXECUTOR);
  return owner;
};

/** @throws ExecutionUnavailable where the machine allows no sandbox of runs, with what can be done */
export const requireConfinement = async (
  program: Program,
  settings: PlaceSettings,
): Promise<void> => requireSandbox(program, await requireOwner(program, settings));

/** The folder, the user and the control groups of the phases in the n-th place. */
export type ToPlace = (index: number) => {
  readonly folder: PlaceFolder;
  readonly owner: Owner;
  /** Absent where the machine has no control groups for runs. */
  readonly createGroup: (() => Promise<ControlGroup>) | undefined;
};

/** Memory of all processes of a run together, on a machine that has twice as much. */
const MAX_RUN_BYTES = 4 * 1024 * 1024 * 1024;

const findGroups = async (log: PlaceLog): Promise<ControlGroups | undefined> => {
  try {
    return await openControlGroups();
  } catch (error) {
    if (!(error instanceof ControlGroupsUnavailable)) throw error;
    log.info(
      { reason: error.message },
      'the processes of a run may together use all memory, because it has no control group',
    );
    return undefined;
  }
};

/**
 * Prepares the places of phases.
 * @param ranges addresses that runs in a sandbox may reach beyond the internet; undefined if they have none
 * @throws Error naming a setting; `ExecutionUnavailable` where the machine does not let phases be executed
 */
export const preparePlaces = async (
  program: Program,
  settings: PlaceSettings,
  ranges: readonly string[] | undefined,
  log: PlaceLog,
): Promise<ToPlace> => {
  const { folder, firstUserId } = settings;
  await openPlaces(program, folder);
  const owner = await requireOwner(program, settings);
  if (owner.uid !== undefined && !isOpen(folder))
    throw new ExecutionUnavailable(
      `the user ${owner.uid}, which runs have of their own, cannot reach ${folder}. Set ${program.prefix}FOLDER to a folder that other users can reach, or ${program.prefix}FIRST_USER_ID=0 so that runs have the user of the ${program.name}, who is root.`,
    );
  if (ranges === undefined) {
    log.warn(
      {},
      `runs are executed without a sandbox (${program.unsafe}): who may queue one can read what their user can read, and reach what this machine reaches`,
    );
  } else {
    requireRanges(ranges, `${program.prefix}ALLOWED_RANGES`);
    await requireSandbox(program, owner);
  }
  const groups = await findGroups(log);
  const limits = {
    memoryBytes: Math.min(MAX_RUN_BYTES, totalmem() / 2),
    processes: MAX_PROCESSES,
  };
  return (index) => ({
    folder: toPlaceFolder(folder, index),
    owner: toOwner(index, firstUserId, folder),
    createGroup: groups && (() => groups.create(`run-${randomUUID()}`, limits)),
  });
};
