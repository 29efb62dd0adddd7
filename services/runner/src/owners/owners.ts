/** The system users under which phases are executed. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Options for starting a process; empty means the user of the runner. */
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
 * The owner of the n-th slot.
 * @param firstUserId as set; 0 means the runner's user, undefined an id that follows from the folder
 */
export const toOwner = (index: number, firstUserId: number | undefined, folder: string): Owner => {
  if (process.getuid?.() !== 0 || firstUserId === 0) return {};
  const id = (firstUserId ?? deriveFirstId(folder)) + index;
  return { uid: id, gid: id };
};

/** The runner cannot work on this machine as it is set up. The message says why, and what can be done. */
export class RunnerUnavailable extends Error {}

/** @throws RunnerUnavailable naming the setting when the user cannot execute this program, as below root's home folder */
export const requireUsable = async (owner: Owner, program: string): Promise<void> => {
  if (owner.uid === undefined) return;
  try {
    const command = ['--disable-sigusr1', program, '--check'];
    await run(process.execPath, command, { ...owner, env: {}, cwd: '/' });
  } catch (cause) {
    throw new RunnerUnavailable(
      `the user ${owner.uid}, which runs have of their own, cannot execute ${program}. Move the installation to a folder that other users can read, or set KEELSON_RUNNER_FIRST_USER_ID=0 so that runs have the user of the runner, who is root.`,
      { cause },
    );
  }
};
