/** Whether the machine lets the built-in runner work. */
import { isUsable, probeSandbox, whyUnusable } from '@keelson/sandbox';
import { type Owner, RunnerUnavailable, requireUsable, toOwner } from './owners/owners.ts';
import { EXECUTOR } from './slots/executor-process.ts';

/** @throws RunnerUnavailable naming what the machine does not allow */
export const requireSandbox = async (owner: Owner): Promise<void> => {
  const findings = await probeSandbox(owner);
  if (isUsable(findings)) return;
  throw new RunnerUnavailable(
    `no sandbox for runs can be made on this machine (${whyUnusable(findings)}). Install bubblewrap and permit user namespaces, have runs executed by agents, or set KEELSON_RUNNER=unsafe where everyone who may queue runs is trusted with what this process can read and reach.`,
  );
};

export interface ExaminedRunner {
  /** Folder of the files of runs, from which the users of runs may follow. */
  readonly folder: string;
  /** The value of the setting; undefined if it is not set. */
  readonly firstUserId: number | undefined;
}

/** @returns why runs cannot be executed in a sandbox here, and what can be done; undefined if they can */
export const whyUnavailable = async (runner: ExaminedRunner): Promise<string | undefined> => {
  const owner = toOwner(0, runner.firstUserId, runner.folder);
  try {
    await requireUsable(owner, EXECUTOR);
    await requireSandbox(owner);
    return undefined;
  } catch (error) {
    if (error instanceof RunnerUnavailable) return error.message;
    throw error;
  }
};
