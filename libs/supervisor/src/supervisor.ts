/**
 * Work on what strangers have written is done by a worker: a process for one task, without the environment and the
 * secrets of this one, in a folder of its own, and limited. Nothing that it does ends this process; a death is an
 * error like others, and whoever has stored the task counts its attempts before they begin.
 */

import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type Readable, Transform, type Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { guarded } from '@keelson/errors';
import { discardFolder, sweepFolders } from './discard-folder.ts';
import { measureGroup } from './group-usage.ts';
import { type FromWorker, type ToWorker, toLine } from './messages.ts';

export { discardFolder } from './discard-folder.ts';

export interface WorkerLimits {
  readonly timeMs: number;
  /** Resident memory of the worker with all processes that it starts. */
  readonly memoryBytes: number;
  readonly processes: number;
  /** Size of its messages, all together. */
  readonly outputBytes: number;
  /** Largest file that it may write. */
  readonly fileBytes: number;
}

/** Work that has ended so many workers is given up. */
export const MAX_DEATHS = 3;

/** The refusal of an answer, which does not end the worker; it receives the message. */
export class Refusal extends Error {}

/** A worker ended before it gave a result. The message says how, and contains nothing that the worker said. */
/** A limit was exceeded; the other end did not speak the protocol; or the process ended by itself. */
export const WORKER_DEATHS = ['limit', 'protocol', 'crash'] as const;
export type WorkerDeathKind = (typeof WORKER_DEATHS)[number];

export class WorkerDeath extends Error {
  readonly kind: WorkerDeathKind;
  /** The end of what it wrote to its error output, for the log. */
  readonly errorOutput: string;

  constructor(kind: WorkerDeathKind, message: string, errorOutput: string) {
    super(message);
    this.kind = kind;
    this.errorOutput = errorOutput;
  }
}

export interface Supervised {
  readonly limits: WorkerLimits;
  /**
   * Answers a question of the worker, which may be anything. The worker receives a `Refusal`; any other
   * error ends the worker, and is thrown.
   */
  readonly answer: (question: unknown, worker: Worker) => Promise<unknown>;
}

/** A worker as it is seen while it works. */
export interface Worker {
  /** Its folder, in which it may write. */
  readonly folder: string;
  /** Aborts when it has ended. */
  readonly signal: AbortSignal;
}

/** Length of the part of the error output that is kept. */
const MAX_ERROR_OUTPUT = 4096;
const LOOK_EVERY_MS = 250;
const ENDING_LOOK_EVERY_MS = 5;
/** Questions of a worker that are answered at the same time. */
const MAX_QUESTIONS = 16;
/** V8 reserves address space that counts as data before a program has used any. */
const RESERVED_BYTES = 1024 * 1024 * 1024;

/** Limits of each process that the kernel holds, without core dumps, which would contain secrets. */
const kernelLimits = ({ memoryBytes, fileBytes }: WorkerLimits): string => {
  const dataKiB = Math.ceil((memoryBytes + RESERVED_BYTES) / 1024);
  return `ulimit -c 0; ulimit -d ${dataKiB}; ulimit -f ${Math.ceil(fileBytes / 512)}; exec "$@"`;
};

type WorkerProcess = ChildProcessByStdio<Writable, Readable, Readable>;

const startProcess = (program: string, folder: string, limits: WorkerLimits): WorkerProcess => {
  const command = [process.execPath, '--disable-sigusr1', program];
  return spawn('/bin/sh', ['-c', kernelLimits(limits), 'sh', ...command], {
    cwd: folder,
    // oxlint-disable-next-line node/no-process-env -- where programs are found; no setting is read
    env: { PATH: process.env['PATH'] ?? '', HOME: folder, TMPDIR: folder, LC_ALL: 'C' },
    stdio: ['pipe', 'pipe', 'pipe'],
    // A process group of its own, which is ended as a whole.
    detached: true,
  });
};

const killGroup = ({ pid }: WorkerProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // All of them have ended.
  }
};

/** The kernel ends processes some time after the signal, and tells nobody but their parents. */
const groupEnded = async ({ pid }: WorkerProcess): Promise<void> => {
  if (pid === undefined) return;
  while ((await measureGroup(pid)).processes > 0) await delay(ENDING_LOOK_EVERY_MS);
};

const upTo = (limitBytes: number, onExceeded: () => void): Transform => {
  let leftBytes = limitBytes;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      leftBytes -= chunk.byteLength;
      if (leftBytes < 0) onExceeded();
      done(null, leftBytes < 0 ? undefined : chunk);
    },
  });
};

/** Ends a group that exceeds a limit. @returns ends the observation */
const watch = (
  child: WorkerProcess,
  { timeMs, memoryBytes, processes }: WorkerLimits,
  end: (reason: string) => void,
): (() => void) => {
  const timer = setTimeout(() => end(`it took longer than ${timeMs / 1000} seconds`), timeMs);
  let isLooking = false;
  const look = async (): Promise<void> => {
    if (isLooking || child.pid === undefined) return;
    isLooking = true;
    const used = await measureGroup(child.pid);
    isLooking = false;
    if (used.memoryBytes > memoryBytes) end(`it used more than ${memoryBytes} bytes of memory`);
    if (used.processes > processes) end(`it started more than ${processes} processes`);
  };
  const looking = setInterval(() => void look(), LOOK_EVERY_MS);
  return () => {
    clearTimeout(timer);
    clearInterval(looking);
  };
};

/** A line of a worker; undefined if it is none of those that `serveTask` writes. */
const toMessage = (line: string): FromWorker | undefined => {
  try {
    const message = JSON.parse(line) as Partial<FromWorker> | null;
    if (message?.kind === 'result') return message as FromWorker;
    return message?.kind === 'question' && typeof message.id === 'number'
      ? (message as FromWorker)
      : undefined;
  } catch {
    return undefined;
  }
};

interface Course {
  readonly result: { readonly value: unknown } | undefined;
  /** The error of an answer. */
  readonly fault: { readonly error: unknown } | undefined;
  /** Which limit it exceeded. */
  readonly excess: { readonly kind: WorkerDeathKind; readonly reason: string } | undefined;
  readonly ended: string;
  readonly errorOutput: string;
}

/** Follows a worker until it and all that it has started have ended. */
const follow = async (
  child: WorkerProcess,
  folder: string,
  task: unknown,
  { limits, answer }: Supervised,
): Promise<Course> => {
  let result: Course['result'];
  let fault: Course['fault'];
  let excess: Course['excess'];
  let errorOutput = '';
  const over = new AbortController();
  const worker: Worker = { folder, signal: over.signal };
  const end = (reason: string, kind: WorkerDeathKind = 'limit'): void => {
    excess ??= { kind, reason };
    killGroup(child);
    // A process that left the group may still hold the other end.
    output.destroy();
  };
  const output = upTo(limits.outputBytes, () =>
    end(`it said more than ${limits.outputBytes} bytes`),
  );
  const heard = once(output, 'close');
  const unwatch = watch(child, limits, end);
  // The process may end before it reads its input.
  child.stdin.on('error', () => undefined);
  const say = (message: ToWorker): void => void child.stdin.write(toLine(message));
  const respond = async (id: number, question: unknown): Promise<void> => {
    try {
      say({ kind: 'answer', id, answer: await answer(question, worker) });
    } catch (error) {
      if (error instanceof Refusal) say({ kind: 'refusal', id, reason: error.message });
      else {
        fault ??= { error };
        killGroup(child);
      }
    }
  };
  const asking = new Set<Promise<void>>();
  const hear = (line: string): void => {
    const message = toMessage(line);
    if (message?.kind === 'result') result ??= { value: message.result };
    else if (message?.kind !== 'question') end('it said something that is no message', 'protocol');
    else if (asking.size >= MAX_QUESTIONS)
      end(`it asked more than ${MAX_QUESTIONS} things at once`);
    else {
      const asked = respond(message.id, message.question).finally(() => asking.delete(asked));
      asking.add(asked);
    }
  };
  createInterface({ input: child.stdout.pipe(output) }).on('line', guarded('supervisor', hear));
  child.stderr.setEncoding('utf8').on(
    'data',
    guarded('supervisor', (text: string) => {
      errorOutput = (errorOutput + text).slice(-MAX_ERROR_OUTPUT);
    }),
  );
  say({ kind: 'task', task });
  const exited = once(child, 'exit').then(
    ([code, signal]) => (code === null ? `by the signal ${signal}` : `with the code ${code}`),
    (error: unknown) => String(error),
  );
  const ended = await exited;
  killGroup(child);
  await groupEnded(child);
  over.abort();
  if (child.pid !== undefined) await heard;
  unwatch();
  await Promise.all(asking);
  return { result, fault, excess, ended, errorOutput };
};

const FOLDER_PREFIX = 'keelson-worker-';
/** Longer than any worker works. */
const ABANDONED_AFTER_MS = 86_400_000;
const SWEEP_EVERY_MS = 3_600_000;
let sweptAtMs = Number.NEGATIVE_INFINITY;

/** Removes folders whose supervisor and worker were killed together, and those that could not be removed before. */
const sweepAbandoned = async (): Promise<void> => {
  const nowMs = performance.now();
  if (nowMs - sweptAtMs < SWEEP_EVERY_MS) return;
  sweptAtMs = nowMs;
  await sweepFolders(tmpdir(), FOLDER_PREFIX, ABANDONED_AFTER_MS);
};

/**
 * Starts a worker for one task, and waits for its end.
 * @param program a file that calls `serveTask` of `@keelson/supervisor/worker`
 * @returns what the worker says is its result: a stranger's word, whose shape the caller checks
 * @throws WorkerDeath
 */
export const superviseTask = async (
  program: string,
  task: unknown,
  supervised: Supervised,
): Promise<unknown> => {
  await sweepAbandoned();
  const folder = await mkdtemp(join(tmpdir(), FOLDER_PREFIX));
  try {
    const child = startProcess(program, folder, supervised.limits);
    const { result, fault, excess, ended, errorOutput } = await follow(
      child,
      folder,
      task,
      supervised,
    );
    if (fault !== undefined) throw fault.error;
    if (excess !== undefined || result === undefined)
      throw new WorkerDeath(
        excess?.kind ?? 'crash',
        excess === undefined ? `it ended ${ended}` : `it was ended because ${excess.reason}`,
        errorOutput,
      );
    return result.value;
  } finally {
    await discardFolder(folder);
  }
};
