/** The built-in runner in the process of the control plane, with a token that is valid until the process ends. */
import { createHash, randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Config } from '@keelson/config';
import type { Logger } from '@keelson/logging';
import { type PreparedRunner, prepareRunner, RunnerUnavailable } from '@keelson/runner-service';
import type { standaloneConfig } from './config.ts';
import type { DataFolder } from './data-folder.ts';

export interface OwnRunner {
  /** Present when the runner is on. */
  readonly prepared?: PreparedRunner;
  /** Token of this runner, or of one that the operator starts separately; undefined if there is none. */
  readonly token: string | undefined;
  /** Reason why the enabled runner does not work. */
  readonly fault?: string;
}

/** Not in the data folder, because the users of runs cannot traverse it. */
const folderOf = (dataFolder: string): string =>
  join(
    tmpdir(),
    `keelson-runner-${createHash('sha256').update(dataFolder).digest('hex').slice(0, 12)}`,
  );

export interface OwnRunnerParts {
  readonly config: Config<typeof standaloneConfig>;
  readonly folder: DataFolder;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly logger: Logger;
}

/** @throws Error naming a setting that conflicts with the others */
export const prepareOwnRunner = async ({
  config,
  folder,
  environment,
  logger,
}: OwnRunnerParts): Promise<OwnRunner> => {
  if (config.runner === 'false') return { token: config.runnerToken };
  const runnerFolder = config.runnerFolder ?? folderOf(folder.path);
  try {
    const prepared = await prepareRunner({
      config: { ...config, runnerFolder },
      environment,
      isUnsafe: config.runner === 'unsafe',
      logger,
    });
    return { prepared, token: config.runnerToken ?? randomBytes(48).toString('base64url') };
  } catch (error) {
    // The rest of the control plane works without it.
    if (!(error instanceof RunnerUnavailable)) throw error;
    logger.error({ err: error }, 'the built-in runner is off');
    return { token: config.runnerToken, fault: error.message };
  }
};
