/** The end of all that the user of a phase has started. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import type { Owner } from './owners.ts';

const FIRST_PAUSE_MS = 5;
const LONGEST_PAUSE_MS = 60_000;
/** Processes that end later than this are reported. */
const REPORTED_PAUSE_MS = 1000;

/** The kernel signals all processes of the user in one step, so that none that they start meanwhile escapes. */
const SIGNAL_ALL = 'kill -9 -1';

/** @returns whether the signal was sent, which a full process table or the processes themselves can prevent */
const signalAll = async (owner: Owner): Promise<boolean> => {
  try {
    const sender = spawn('/bin/sh', ['-c', SIGNAL_ALL], { ...owner, env: {}, stdio: 'ignore' });
    const [code] = (await once(sender, 'exit')) as [number | null];
    return code !== null;
  } catch {
    return false;
  }
};

/** Whether a process is the user's, and has not ended: its first thread may have, while others go on. */
const isRunning = (status: string, uid: number): boolean => {
  const [, state, real, saved, threads] =
    /^State:\t(\w)[^]*^Uid:\t(\d+)\t\d+\t(\d+)\t[^]*^Threads:\t(\d+)$/m.exec(status) ?? [];
  return [real, saved].includes(String(uid)) && (state !== 'Z' || Number(threads) > 1);
};

/** @returns the number of processes that were still there; 0 where there is no `/proc` */
const signalEach = (uid: number): number => {
  let seen = 0;
  for (const name of listProcesses()) {
    try {
      if (!isRunning(readFileSync(`/proc/${name}/status`, 'utf8'), uid)) continue;
      seen += 1;
      process.kill(Number(name), 'SIGKILL');
    } catch {
      // It has ended meanwhile, or is nobody's to end: it is looked at again.
    }
  }
  return seen;
};

const listProcesses = (): readonly string[] => {
  try {
    return readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  } catch {
    return [];
  }
};

/**
 * Ends all processes of the user of a phase, and resolves when none is left. It does nothing if that is the user of
 * this process.
 * @param report receives a text for the log while processes do not end
 */
export const endProcessesOf = async (
  { uid, gid }: Owner,
  report: (text: string) => void,
): Promise<void> => {
  if (uid === undefined || gid === undefined || uid === 0) return;
  for (let pauseMs = FIRST_PAUSE_MS; ; pauseMs = Math.min(2 * pauseMs, LONGEST_PAUSE_MS)) {
    const isSent = await signalAll({ uid, gid });
    // The signals of this process end a process that ends the sender before it sends.
    const left = signalEach(uid);
    if (isSent && left === 0) return;
    if (pauseMs > REPORTED_PAUSE_MS)
      report(
        `the processes of the user ${uid} do not end (${left} left); the next phase waits for that`,
      );
    await pause(pauseMs);
  }
};
