/** The composition root of the built-in runner. */
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { ControlPlane, preparePlaces, toToolFolders } from '@keelson/agent';
import type { Config } from '@keelson/config';
import type { Logger } from '@keelson/logging';
import type { runnerSettings } from './config.ts';
import { BUILT_IN_RUNNER } from './examination.ts';
import { serveSlot } from './slots/slot.ts';

export { ExecutionUnavailable } from '@keelson/agent';

export interface RunnerParts {
  readonly config: Config<typeof runnerSettings>;
  /** Environment of this process. The tool receives PATH and the variables named in `runnerEnvironment`. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether runs are executed without a sandbox. */
  readonly isUnsafe: boolean;
  readonly logger: Logger;
}

/** The control plane as the runner reaches it. */
export interface RunnerTarget {
  /** Without a trailing slash. */
  readonly address: string;
  /** Host and port of the control plane, as configurations refer to it. */
  readonly host: string;
  readonly token: string;
  /** PEM file of the control plane's CA; undefined means a CA of the system. */
  readonly caFile: string | undefined;
  /** Whether asking for work can succeed; for a runner in the process of the control plane. */
  readonly mayHaveWork?: () => Promise<boolean>;
}

/** A runner whose settings, folder and users are checked. */
export interface PreparedRunner {
  start(target: RunnerTarget): Runner;
}

export interface Runner {
  /** Interrupts the running phases, which end as errored, and resolves when all their processes have ended. */
  stop(): Promise<void>;
}

const DEFAULT_FOLDER = 'keelson-runner';
/** Time between two questions for work, over all slots. */
const POLL_MS = 2000;
/** The same in the process of the control plane, which only looks into its store. */
const NEAR_POLL_MS = 200;
/** Output of a plan or an apply. A log may have 32 MiB, and the reason for the interruption must fit into it. */
const OUTPUT_LIMIT_BYTES = 31 * 1024 * 1024;

const chooseConcurrency = (given: number | undefined, hasOwnUsers: boolean): number => {
  if (hasOwnUsers) return given ?? 2;
  if (given !== undefined && given > 1)
    throw new Error(
      `KEELSON_RUNNER_CONCURRENCY is ${given}, and runs have the user of the runner: only one of them may be executed at a time. Start the runner as root, or set 1.`,
    );
  return 1;
};

const chooseEnvironment = (
  names: readonly string[],
  environment: RunnerParts['environment'],
): Record<string, string> =>
  Object.fromEntries(
    ['PATH', ...names].flatMap((name) => {
      const value = environment[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );

/**
 * Checks the settings and prepares the folder.
 * @throws Error naming the setting that prevents the start; `ExecutionUnavailable` when the machine does
 *   not let it work
 */
export const prepareRunner = async ({
  config,
  environment: given,
  isUnsafe,
  logger: parent,
}: RunnerParts): Promise<PreparedRunner> => {
  const logger = parent.child({ service: 'runner' });
  const folder = resolve(config.runnerFolder ?? join(tmpdir(), DEFAULT_FOLDER));
  const places = { folder, firstUserId: config.runnerFirstUserId };
  const ranges = isUnsafe ? undefined : config.runnerAllowedRanges;
  const toPlace = await preparePlaces(BUILT_IN_RUNNER, places, ranges, logger);
  const { owner } = toPlace(0);
  const concurrency = chooseConcurrency(config.runnerConcurrency, owner.uid !== undefined);
  const environment = chooseEnvironment(config.runnerEnvironment, given);
  const path = environment['PATH'] ?? '';
  const tools = {
    path,
    folder: config.runnerToolsFolder && resolve(config.runnerToolsFolder),
    only: config.runnerTool,
    acceptsOther: config.runnerOtherRelease,
  };
  const common = {
    program: BUILT_IN_RUNNER,
    confinement:
      ranges === undefined
        ? undefined
        : {
            ranges,
            readable: [...toToolFolders(path, owner), ...config.runnerReadablePaths],
          },
    environment,
    cliConfigFile: config.runnerCliConfigFile && resolve(config.runnerCliConfigFile),
  };
  const limits = {
    timeLimitSeconds: config.runnerTimeLimitSeconds,
    outputLimitBytes: OUTPUT_LIMIT_BYTES,
  };
  return {
    start: ({ address, host, token, caFile, mayHaveWork }) => {
      const work = {
        pollMs: (mayHaveWork === undefined ? POLL_MS : NEAR_POLL_MS) * concurrency,
        mayHaveWork: mayHaveWork ?? (() => Promise.resolve(true)),
      };
      const stopping = new AbortController();
      const slots = Array.from({ length: concurrency }, (_, index) => {
        const name = `runner-${index + 1}`;
        const controlPlane = new ControlPlane(address, token);
        const log = logger.child({ slot: name });
        const task = { address, host, ...limits };
        const place = { ...common, ...toPlace(index), controlPlane, task, caFile, log };
        return serveSlot(
          { name, place, controlPlane, tools, ...work, logger: log },
          stopping.signal,
        );
      });
      logger.info({ folder, concurrency, firstUserId: owner.uid ?? null }, 'waiting for runs');
      return {
        stop: async () => {
          stopping.abort();
          await Promise.all(slots);
        },
      };
    },
  };
};
