/** The built-in runner in the process of the control plane, with a token that is valid until the process ends. */
import { randomBytes } from 'node:crypto';
import type { Config } from '@keelson/config';
import type { Logger } from '@keelson/logging';
import { ExecutionUnavailable, type PreparedRunner, prepareRunner } from '@keelson/runner-service';
import type { RunnerStatus } from '@keelson/sys-service';
import type { standaloneConfig } from './config.ts';
import type { DataFolder } from './data-folder.ts';
import { runnerFolderOf } from './runner-folder.ts';

export interface OwnRunner {
  /** Present when the runner is on. */
  readonly prepared?: PreparedRunner;
  /** Token of this runner, or of one that the operator starts separately; undefined if there is none. */
  readonly token: string | undefined;
  /** For operators. */
  readonly status: RunnerStatus;
  /** Present when the enabled runner does not work; for everybody, who need not know what is missing here. */
  readonly fault?: string;
}

const ON: Readonly<Record<'true' | 'unsafe', RunnerStatus>> = {
  true: {
    state: 'sandboxed',
    description:
      'executed by the built-in runner, each in a sandbox, as long as KEELSON_RUNNER is not false',
  },
  unsafe: {
    state: 'unsafe',
    description:
      'executed by the built-in runner WITHOUT A SANDBOX (KEELSON_RUNNER=unsafe): who may queue one can read what its user can read',
  },
};

const TURNED_OFF: RunnerStatus = {
  state: 'off',
  description: 'executed by agents; the built-in runner is turned off (KEELSON_RUNNER)',
};

const toUnavailable = ({ message }: ExecutionUnavailable): RunnerStatus => ({
  state: 'off',
  description: `executed by agents; the built-in runner is off: ${message}`,
});

const FAULT =
  'the built-in runner is off, because this machine does not let it work: the log says why';

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
  if (config.runner === 'false') return { token: config.runnerToken, status: TURNED_OFF };
  const runnerFolder = config.runnerFolder ?? runnerFolderOf(folder.path);
  try {
    const prepared = await prepareRunner({
      config: { ...config, runnerFolder },
      environment,
      isUnsafe: config.runner === 'unsafe',
      logger,
    });
    const token = config.runnerToken ?? randomBytes(48).toString('base64url');
    return { prepared, token, status: ON[config.runner] };
  } catch (error) {
    // The rest of the control plane works without it.
    if (!(error instanceof ExecutionUnavailable)) throw error;
    logger.error({ err: error }, 'the built-in runner is off');
    return { token: config.runnerToken, status: toUnavailable(error), fault: FAULT };
  }
};
