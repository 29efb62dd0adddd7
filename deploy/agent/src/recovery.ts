/** What an agent finds that was stopped in the middle of an apply: a state that is nowhere else. */
import { existsSync } from 'node:fs';
import { readdir, readFile, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Refused, upload } from './control-plane.ts';
import { md5Of } from './state-keeper.ts';
import { type Leftover, leftoverFile } from './work-folder.ts';

export type Say = (text: string) => void;

/** Whether a process works in that folder; one of the same id elsewhere is another one. */
const isRunning = async (pid: string, root: string): Promise<boolean> => {
  const folder = await readlink(`/proc/${pid}/cwd`).catch(() => '');
  return folder.startsWith(root);
};

const WAIT_MS = 250;
const INTERRUPTED_FOR_MS = 30_000;

/** Lets a tool that outlived its agent write its state, for as long as it may take. */
const endTool = async (root: string, { pidFile }: Leftover): Promise<void> => {
  const pid = (await readFile(pidFile, 'utf8').catch(() => '')).trim();
  if (!/^\d+$/.test(pid) || !(await isRunning(pid, root))) return;
  process.kill(Number(pid), 'SIGINT');
  for (let waitedMs = 0; waitedMs < INTERRUPTED_FOR_MS; waitedMs += WAIT_MS) {
    if (!(await isRunning(pid, root))) return;
    await pause(WAIT_MS);
  }
};

/** Ends what works in the folder still: the tool that did not hear, programs of provisioners. */
const endRest = async (root: string): Promise<void> => {
  for (const pid of await readdir('/proc').catch(() => [])) {
    if (!/^\d+$/.test(pid) || !(await isRunning(pid, root))) continue;
    try {
      process.kill(Number(pid), 'SIGKILL');
    } catch {
      // It ended by itself.
    }
  }
};

const recoverOne = async (root: string, say: Say): Promise<void> => {
  const file = leftoverFile(root);
  if (!existsSync(file)) return;
  const leftover = JSON.parse(await readFile(file, 'utf8')) as Leftover;
  await endTool(root, leftover);
  await endRest(root);
  const bytes = await readFile(leftover.stateFile).catch(() => undefined);
  const isNew = bytes !== undefined && md5Of(bytes) !== leftover.startedFromMd5;
  if (!isNew || leftover.erroredStateUrl === null) return;
  await upload(leftover.erroredStateUrl, leftover.stateFile);
  say(`the state of ${root} is kept with its apply, as errored-state`);
};

/**
 * Ends what an earlier start of the agent left. The phases themselves end when the agent says that it
 * has none.
 */
export const recoverPhases = async (folder: string, say: Say): Promise<void> => {
  for (const name of await readdir(folder).catch(() => [])) {
    const root = join(folder, name);
    try {
      await recoverOne(root, say);
    } catch (error) {
      // The address has expired or the run has its state: nothing more can be done with it.
      if (!(error instanceof Refused)) {
        say(`${root} stays for the next start: ${String(error)}`);
        continue;
      }
      say(`the state of ${root} was not taken: ${error.message}`);
    }
    await rm(root, { recursive: true, force: true });
  }
};
