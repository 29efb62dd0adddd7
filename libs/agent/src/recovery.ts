/** Recovers the state of an apply that was interrupted when the agent stopped; no other copy of it exists. */
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { discardFolder } from '@keelson/supervisor';
import { Refused, upload } from './control-plane.ts';
import { revokeLeftTokens } from './credentials/phase-credentials.ts';
import { readRegular } from './regular-file.ts';
import { md5Of } from './state-keeper.ts';
import { type Leftover, leftoverFile } from './work-folder.ts';

export type Say = (text: string) => void;

/** Whether the process runs in that folder; elsewhere, its id has been reused by another process. */
const isRunning = async (pid: string, root: string): Promise<boolean> => {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  return folder.startsWith(root);
};

const WAIT_MS = 250;
const INTERRUPTED_FOR_MS = 30_000;

/** Waits until a terraform that outlived its agent has written its state. */
const endTool = async (root: string, { pidFile }: Leftover): Promise<void> => {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  if (!/^\d+$/.test(pid) || !(await isRunning(pid, root))) return;
  process.kill(Number(pid), 'SIGINT');
  for (let waitedMs = 0; waitedMs < INTERRUPTED_FOR_MS; waitedMs += WAIT_MS) {
    if (!(await isRunning(pid, root))) return;
    await pause(WAIT_MS);
  }
};

/** Kills the processes left in the folder: a tool that ignored SIGINT, and programs of provisioners. */
const endRest = async (root: string): Promise<void> => {
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid) || !(await isRunning(pid, root))) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // The process has already ended.
    }
  }
};

const recoverOne = async (
  root: string,
  say: Say,
  environment: NodeJS.ProcessEnv,
): Promise<void> => {
  const revoked = await revokeLeftTokens(root, environment);
  if (revoked > 0) say(`tokens revoked for ${root}: ${revoked}`);
  const file = leftoverFile(root);
  if (!existsSync(file)) return;
  const leftover = JSON.parse(await readFile(file, 'utf8')) as Leftover;
  await endTool(root, leftover);
  await endRest(root);
  const bytes = await readRegular(leftover.stateFile);
  const isNew = bytes !== undefined && md5Of(bytes) !== leftover.startedFromMd5;
  if (!isNew || leftover.erroredStateUrl === null) return;
  await upload(leftover.erroredStateUrl, leftover.stateFile);
  say(`the state of ${root} is kept with its apply, as errored-state`);
};

/**
 * Ends what an earlier process of the agent left behind. The phases themselves end when the agent reports
 * that it has none. The folder of a phase whose state was not uploaded stays.
 */
export const recoverPhases = async (
  folder: string,
  say: Say,
  environment: NodeJS.ProcessEnv,
): Promise<void> => {
  for (const name of await readdir(folder).catch(() => [])) {
    const root = join(folder, name);
    try {
      await recoverOne(root, say, environment);
    } catch (error) {
      // The run is gone or was applied, and has its state.
      if (!(error instanceof Refused && [404, 409].includes(error.status))) {
        say(`the state of ${root} was not uploaded: ${String(error)}`);
        continue;
      }
      say(`the state of ${root} was not taken: ${error.message}`);
    }
    const aside = await discardFolder(root);
    if (aside !== undefined) say(`${aside} could not be removed`);
  }
};
