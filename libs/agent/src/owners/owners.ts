/** The system users under which phases are executed. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { isUsable, probeSandbox, whyUnusable } from '@keelson/sandbox';
import type { Program } from '../program.ts';

const run = promisify(execFile);

/** Options for starting a process; empty means the user of this process. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** Above the ids of accounts, and below those that containers use. */
const FIRST_DERIVED_ID = 200_000_000;
const DERIVED_RANGES = 1_000_000;
const RANGE = 64;

/** Ids depend on the folder, so that two installations on a machine end only their own processes. */
const deriveFirstId = (folder: string): number => {
  const number = createHash('sha256').update(folder).digest().readUInt32BE(0);
  return FIRST_DERIVED_ID + (number % DERIVED_RANGES) * RANGE;
};

/**
 * The owner of the phases in the n-th place.
 * @param firstUserId as set; 0 means the user of this process, undefined an id that follows from the folder
 */
export const toOwner = (index: number, firstUserId: number | undefined, folder: string): Owner => {
  if (process.getuid?.() !== 0 || firstUserId === 0) return {};
  const id = (firstUserId ?? deriveFirstId(folder)) + index;
  return { uid: id, gid: id };
};

/** Phases cannot be executed on this machine as it is set up. The message says why, and what can be done. */
export class ExecutionUnavailable extends Error {}

/** A shell answers in milliseconds; the program itself would need a fifth of the time that a whole start takes. */
const MAY_EXECUTE = 'test -x "$0" && test -r "$1"';

/** @throws ExecutionUnavailable naming the setting when the user cannot execute this file, as below root's home folder */
export const requireUsable = async (
  { name, prefix }: Program,
  owner: Owner,
  file: string,
): Promise<void> => {
  if (owner.uid === undefined) return;
  try {
    const command = ['-c', MAY_EXECUTE, process.execPath, file];
    await run('/bin/sh', command, { ...owner, env: {}, cwd: '/' });
  } catch (cause) {
    throw new ExecutionUnavailable(
      `the user ${owner.uid}, which runs have of their own, cannot execute ${file}. Move the installation to a folder that other users can read, or set ${prefix}FIRST_USER_ID=0 so that runs have the user of the ${name}, who is root.`,
      { cause },
    );
  }
};

/** @throws ExecutionUnavailable naming what the machine does not allow */
export const requireSandbox = async ({ unsafe }: Program, owner: Owner): Promise<void> => {
  const findings = await probeSandbox(owner);
  if (isUsable(findings)) return;
  throw new ExecutionUnavailable(
    `no sandbox for runs can be made on this machine (${whyUnusable(findings)}). Install bubblewrap and permit user namespaces, have runs executed by agents elsewhere, or set ${unsafe} where everyone who may queue runs is trusted with what this process can read and reach.`,
  );
};
