/** Where phases are executed: by processes on this machine, or each in a Job of Kubernetes (`kubernetes/`). */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { access, mkdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import {
  type ClaimedPhase,
  type ControlPlane,
  clearPlace,
  executePhase,
  findBinary,
  isOpen,
  type Place,
  type Program,
  preparePlaces,
  type Say,
  type Tools,
  toToolFolders,
  withoutAgentSettings,
} from '@keelson/agent';

export interface ProcessSettings extends Tools {
  /** Address of the control plane, without a trailing slash. */
  readonly address: string;
  /** Folder for the agent's identity and its current phase. */
  readonly folder: string;
  /** PEM file of a CA trusted for the control plane, in addition to the system's. */
  readonly caFile: string | undefined;
  /** Files and addresses for runs in a sandbox; absent if they are executed without one. */
  readonly confinement: Place['confinement'];
  /** As set; undefined means ids that follow from the folder. */
  readonly firstUserId: number | undefined;
  /** Time after which a plan or an apply is interrupted. */
  readonly timeLimitSeconds: number;
}

export interface Execution {
  /** Lets the tool finish what it has started, and store the state. */
  interrupt(): void;
  /** Resolves when the outcome is reported. */
  readonly ended: Promise<unknown>;
}

export interface PhaseExecutor {
  /** Ends what an agent before this one has left. */
  recover(): Promise<void>;
  begin(phase: ClaimedPhase): Execution;
}

const AGENT: Program = {
  name: 'agent',
  prefix: 'KEELSON_AGENT_',
  unsafe: 'KEELSON_AGENT_EXECUTION=unsafe',
};

/** As the built-in runner: a log may have 32 MiB, and the reason for an interruption must fit into it. */
const OUTPUT_LIMIT_BYTES = 31 * 1024 * 1024;

/** The file of a program, which the sandbox is given; the name itself if there is none in PATH. */
const locate = async (name: string, path: string): Promise<string> => {
  if (name.includes('/')) return resolve(name);
  for (const folder of path.split(delimiter)) {
    const file = join(folder, name);
    const isProgram = await access(file, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (folder !== '' && isProgram) return resolve(file);
  }
  return name;
};

const toLog = (say: Say): Place['log'] => {
  const note = (values: object, text: string): void => {
    const shown = Object.entries(values).map(([name, value]) => `${name}: ${String(value)}`);
    say([text, ...shown].join(', '));
  };
  return { info: note, warn: note, error: note };
};

/** Users that runs have of their own cannot reach a private folder: the phases are elsewhere, also at the next start. */
const choosePlaces = async ({ folder, firstUserId }: ProcessSettings): Promise<string> => {
  await mkdir(folder, { recursive: true, mode: 0o711 });
  const hasOwnUsers = process.getuid?.() === 0 && firstUserId !== 0;
  if (!hasOwnUsers || isOpen(folder)) return join(folder, 'phases');
  const name = createHash('sha256').update(folder).digest('hex').slice(0, 12);
  return join(tmpdir(), `keelson-agent-${name}`);
};

/**
 * Each phase is executed by a process of its own, in a sandbox unless runs have none.
 * @throws Error naming a setting; `ExecutionUnavailable` where the machine does not let phases be executed
 */
export const executeInProcesses = async (
  config: ProcessSettings,
  controlPlane: ControlPlane,
  environment: NodeJS.ProcessEnv,
  say: Say,
): Promise<PhaseExecutor> => {
  const { address, caFile, confinement, firstUserId } = config;
  const folder = await choosePlaces(config);
  const log = toLog(say);
  const toPlace = await preparePlaces(AGENT, { folder, firstUserId }, confinement?.ranges, log);
  const given = Object.fromEntries(
    Object.entries(withoutAgentSettings(environment)).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );
  const path = given['PATH'] ?? '';
  const { owner, ...own } = toPlace(0);
  const place: Place = {
    ...own,
    owner,
    program: AGENT,
    confinement: confinement && {
      ranges: confinement.ranges,
      readable: [...toToolFolders(path, owner), ...confinement.readable],
    },
    controlPlane,
    task: {
      address,
      host: new URL(address).host,
      timeLimitSeconds: config.timeLimitSeconds,
      outputLimitBytes: OUTPUT_LIMIT_BYTES,
    },
    environment: given,
    caFile,
    cliConfigFile: given['TF_CLI_CONFIG_FILE'],
    log,
  };
  return {
    // The registration says that the agent has no phase any more.
    recover: () => clearPlace(place, async () => undefined),
    begin: (phase) => {
      const stopping = new AbortController();
      const findTool = async (): Promise<string> =>
        locate(await findBinary(config, phase.attributes['runtime-version']), path);
      return {
        interrupt: () => stopping.abort(),
        ended: executePhase(place, phase, findTool, stopping.signal),
      };
    },
  };
};
