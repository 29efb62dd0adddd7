/** Examines whether a server with a data folder would execute runs in a sandbox on this machine. */
import { resolve } from 'node:path';
import { whyUnavailable } from '@keelson/runner-service/examination';
import { runnerFolderOf } from './runner-folder.ts';

export interface RunnerFinding {
  /** "note": not as it could be, and perhaps chosen. */
  readonly state: 'good' | 'note' | 'fault';
  readonly text: string;
}

/** The values in the environment; undefined if they are not set. */
export interface RunnerSettings {
  readonly runner: string | undefined;
  readonly folder: string | undefined;
  readonly firstUserId: string | undefined;
}

/** @returns undefined if the built-in runner is turned off */
export const examineRunner = async (
  dataFolder: string,
  { runner, folder, firstUserId }: RunnerSettings,
): Promise<RunnerFinding | undefined> => {
  if (runner === 'false') return undefined;
  const reason = await whyUnavailable({
    folder: resolve(folder ?? runnerFolderOf(resolve(dataFolder))),
    firstUserId: firstUserId === undefined ? undefined : Number(firstUserId),
  });
  if (runner === 'unsafe') {
    const isPossible = reason === undefined;
    return {
      state: 'note',
      text: `KEELSON_RUNNER=unsafe: runs are executed without a sandbox, and who may queue one can read what their user can read. ${isPossible ? 'This machine allows a sandbox: set KEELSON_RUNNER=true.' : `The machine allows none: ${reason}`}`,
    };
  }
  if (reason === undefined) return { state: 'good', text: 'each is executed in a sandbox' };
  // The server may have another setting than this command.
  return { state: runner === undefined ? 'note' : 'fault', text: reason };
};
