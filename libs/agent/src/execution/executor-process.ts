/** The executor process of a phase, seen from outside of it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { guarded } from '@keelson/errors';
import {
  type ControlGroup,
  type Egress,
  type Endpoint,
  openEgress,
  SOURCES,
  toSandboxCommand,
  writeIdentityFiles,
  writeSystemCallFilter,
} from '@keelson/sandbox';
import { PART_IS_OVER, type Task } from '../executor/task.ts';
import { endProcessesOf } from '../owners/end-processes.ts';
import type { Owner } from '../owners/owners.ts';
import type { PhasePart } from '../phase.ts';
import { endGroup, type PlaceFolder } from './place.ts';

/** The program, also for the check whether a user can execute it. */
export const EXECUTOR = fileURLToPath(new URL('../executor/executor.ts', import.meta.url));

/** Longest line of an executor that is logged; a longer one would come from its tool. */
const MAX_LINE_LENGTH = 2000;

/** Processes and threads of a run, which is far more than tools and providers have. */
export const MAX_PROCESSES = 2048;
/** Size of `/tmp`; the temporary files of a run are in its folder. */
const TEMPORARY_BYTES = 256 * 1024 * 1024;
const MAX_FILE_BYTES = 16 * 1024 * 1024 * 1024;
/** Memory of one process, which is more than the largest providers have. */
const MAX_PROCESS_BYTES = 3 * 1024 * 1024 * 1024;
const OUT_OF_MEMORY = 'its processes together needed more memory than a run may have';
/** Time in which an executor must end after its time limit. */
export const OVERTIME_SECONDS = 120;

/** The files and addresses that runs in a sandbox may read and reach. */
export interface Confinement {
  /** Addresses or CIDR ranges beyond the internet. */
  readonly ranges: readonly string[];
  /** Files and folders, in addition to the tools of the system. */
  readonly readable: readonly string[];
}

export interface ExecutorOptions {
  readonly owner: Owner;
  /** Makes the control group of an executor; absent where the machine has none for runs. */
  readonly createGroup?: (() => Promise<ControlGroup>) | undefined;
  readonly folder: PlaceFolder;
  /** Absent where runs have no sandbox. */
  readonly confinement: Confinement | undefined;
  readonly say: (text: string) => void;
}

/** How an executor has ended: it has reported the phase, or done its part of it, or neither. */
export type ExecutorEnd =
  | { readonly kind: 'over' | 'part' }
  | { readonly kind: 'fault'; readonly reason: string };

export interface ExecutorProcess {
  readonly pid: number | undefined;
  /** Ends the phase as errored: the tool is interrupted, and its results so far are stored. */
  stop(): void;
  /** Ends it at once. */
  kill(): void;
  /**
   * Resolves when its user has no process left.
   */
  readonly ended: Promise<ExecutorEnd>;
}

const explain = (code: number | null, signal: NodeJS.Signals | null): string => {
  if (code === null) return `signal ${signal}`;
  // Programs that start another one, such as bubblewrap, report its signal in this way.
  const name = Object.entries(constants.signals).find(([, number]) => number === code - 128)?.[0];
  return name === undefined ? `code ${code}` : `signal ${name}`;
};

const toEndpoint = (address: string): Endpoint => {
  const { protocol, hostname, port } = new URL(address);
  return { host: hostname, port: Number(port) || (protocol === 'http:' ? 80 : 443) };
};

/** Where the control plane lets the phase fetch and store its files, which may be another name of it. */
const addressesOf = ({ phase }: Task): readonly string[] =>
  Object.entries(phase?.attributes ?? {}).flatMap(([name, value]) =>
    name.endsWith('-url') && typeof value === 'string' ? [value] : [],
  );

interface Start {
  readonly task: Task;
  readonly command: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  /** The way out of the sandbox, if it has one. */
  readonly egress?: Egress;
}

// The code of the run has the same user, and would open the debugger of a process that holds its secrets.
const COMMAND = [process.execPath, '--disable-sigusr1', EXECUTOR];

const pathOf = ({ environment }: Task): Record<string, string> => ({
  PATH: environment['PATH'] ?? '',
});

const confine = async (
  task: Task,
  { owner, folder, confinement }: ExecutorOptions,
): Promise<Start> => {
  const own = { ...pathOf(task), HOME: folder.home };
  if (confinement === undefined) return { task, command: COMMAND, environment: own };
  const egress = await openEgress({
    socket: join(folder.run, 'egress.sock'),
    user: owner,
    servers: [task.address, `https://${task.host}`, ...addressesOf(task)].map(toEndpoint),
    ranges: confinement.ranges,
    only: task.phase?.attributes['allowed-egress'] ?? task.allowedEgress,
  });
  const user = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0, ...owner };
  const command = toSandboxCommand(
    {
      readOnly: [
        ...SOURCES,
        ...confinement.readable,
        ...(task.tool === '' ? [] : [task.tool]),
        folder.root,
      ],
      files: await writeIdentityFiles(folder.root, { ...user, home: folder.home }),
      writable: [folder.run],
      workingFolder: folder.run,
      environment: { ...own, ...egress.environment, NODE_USE_ENV_PROXY: '1' },
      seconds: task.timeLimitSeconds + OVERTIME_SECONDS,
      processes: MAX_PROCESSES,
      temporaryBytes: TEMPORARY_BYTES,
      fileBytes: MAX_FILE_BYTES,
      processBytes: MAX_PROCESS_BYTES,
      systemCallFilter: await writeSystemCallFilter(folder.root),
    },
    COMMAND,
  );
  const environment = { ...task.environment, ...egress.environment };
  const proxyUrl = egress.environment['HTTP_PROXY'];
  const part: PhasePart | undefined =
    task.part?.kind === 'init'
      ? { kind: 'init', sshAgent: { ...task.part.sshAgent, proxyUrl } }
      : task.part;
  return {
    task: { ...task, ...(part && { part }), environment, way: egress.way },
    command,
    environment: pathOf(task),
    egress,
  };
};

/** Starts a command once it has a line to read, before which it is moved into its group. */
const awaitLine = (command: readonly string[]): readonly string[] => [
  'sh',
  '-c',
  'read -r _ && exec "$@"',
  'sh',
  ...command,
];

/** Starts the executor of a phase, in a sandbox unless there is none. @throws Error when that fails */
export const startExecutor = async (
  given: Task,
  options: ExecutorOptions,
): Promise<ExecutorProcess> => {
  const { owner, folder, say } = options;
  const { task, command, environment, egress } = await confine(given, options);
  const group = await options.createGroup?.();
  const [program = '', ...args] = group === undefined ? command : awaitLine(command);
  const child: ChildProcess = spawn(program, args, {
    ...owner,
    cwd: folder.run,
    env: environment,
    stdio: ['pipe', 'pipe', 'pipe'],
    // A separate process group, so that signals of the terminal do not reach it.
    detached: true,
  });
  for (const stream of [child.stdout, child.stderr])
    if (stream !== null)
      createInterface({ input: stream }).on(
        'line',
        guarded('agent/execution', (line) => say(line.slice(0, MAX_LINE_LENGTH))),
      );
  // The process may end before it reads its input.
  child.stdin?.on('error', () => undefined);
  const finished = async (): Promise<ExecutorEnd> => {
    try {
      const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
      if (code === 0) return { kind: 'over' };
      if (code === PART_IS_OVER) return { kind: 'part' };
      const reason = explain(code, signal);
      return { kind: 'fault', reason: (await group?.hasRunOutOfMemory()) ? OUT_OF_MEMORY : reason };
    } catch (error) {
      return { kind: 'fault', reason: String(error) };
    } finally {
      if (child.pid !== undefined) endGroup(child.pid);
      await group
        ?.end()
        .catch((error: unknown) => say(`a control group is left: ${String(error)}`));
      await egress?.[Symbol.asyncDispose]();
      await endProcessesOf(owner, say);
    }
  };
  const ended = finished();
  if (group !== undefined && child.pid !== undefined) {
    try {
      await group.add(child.pid);
    } catch (error) {
      child.stdin?.end();
      await ended;
      throw error;
    }
    child.stdin?.write('\n');
  }
  child.stdin?.write(`${JSON.stringify(task)}\n`);
  return {
    pid: child.pid,
    stop: () => child.stdin?.end(),
    kill: () => {
      if (child.pid !== undefined) endGroup(child.pid);
    },
    ended,
  };
};
