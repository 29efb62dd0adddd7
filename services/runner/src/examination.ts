/** Whether the machine lets the built-in runner work. */
import { ExecutionUnavailable, type Program, requireConfinement } from '@keelson/agent';

export const BUILT_IN_RUNNER: Program = {
  name: 'built-in runner',
  prefix: 'KEELSON_RUNNER_',
  unsafe: 'KEELSON_RUNNER=unsafe',
};

export interface ExaminedRunner {
  /** Folder of the files of runs, from which the users of runs may follow. */
  readonly folder: string;
  /** The value of the setting; undefined if it is not set. */
  readonly firstUserId: number | undefined;
}

/** @returns why runs cannot be executed in a sandbox here, and what can be done; undefined if they can */
export const whyUnavailable = async (runner: ExaminedRunner): Promise<string | undefined> => {
  try {
    await requireConfinement(BUILT_IN_RUNNER, runner);
    return undefined;
  } catch (error) {
    if (error instanceof ExecutionUnavailable) return error.message;
    throw error;
  }
};
