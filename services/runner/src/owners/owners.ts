/** Users that phases are executed under. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Options of a process; empty: the runner's own user. */
export interface Owner {
  readonly uid?: number;
  readonly gid?: number;
}

/** Between the ids of accounts and those that containers are given. */
const FIRST_DERIVED_ID = 200_000_000;
const DERIVED_RANGES = 1_000_000;
const RANGE = 64;

/** Another folder has other ids, so that two installations of a machine end only their own processes. */
const deriveFirstId = (folder: string): number => {
  const number = createHash('sha256').update(folder).digest().readUInt32BE(0);
  return FIRST_DERIVED_ID + (number % DERIVED_RANGES) * RANGE;
};

/**
 * The owner of the n-th slot.
 * @param firstUserId as set; 0: the runner's user, undefined: an id that follows from the folder
 */
export const toOwner = (index: number, firstUserId: number | undefined, folder: string): Owner => {
  if (process.getuid?.() !== 0 || firstUserId === 0) return {};
  const id = (firstUserId ?? deriveFirstId(folder)) + index;
  return { uid: id, gid: id };
};

/** The users of runs cannot execute the program of the runner. */
export class UnusableOwner extends Error {}

/** @throws UnusableOwner naming the setting when the user cannot execute this program, as below root's home folder */
export const requireUsable = async (owner: Owner, program: string): Promise<void> => {
  if (owner.uid === undefined) return;
  try {
    await run(process.execPath, [program, '--check'], { ...owner, env: {}, cwd: '/' });
  } catch (cause) {
    throw new UnusableOwner(
      `the user ${owner.uid}, which runs have of their own, cannot execute ${program}. Move the installation to a folder that other users can read, or set KEELSON_RUNNER_FIRST_USER_ID=0 so that runs have the user of the runner, who is root.`,
      { cause },
    );
  }
};

/** Ends every process of a user of the runner's own; elsewhere the process group of the phase is all there is. */
export const endProcessesOf = async ({ uid, gid }: Owner): Promise<void> => {
  if (uid === undefined || gid === undefined || uid === 0) return;
  // Sent by the user itself, in one step: nothing that it starts meanwhile escapes.
  const ended = spawn('/bin/sh', ['-c', 'kill -9 -1'], { uid, gid, env: {}, stdio: 'ignore' });
  await once(ended, 'exit');
};
