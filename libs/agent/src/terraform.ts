/** The provisioning tool as a process: its streamed output, and two ways to stop it. */

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import { guarded } from '@keelson/errors';
import { WholeWords } from './whole-words.ts';

export interface Outcome {
  /** Null if it was ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  /** Both streams, in whole words as they came. */
  readonly output: string;
}

/** Binary, folder and environment that one phase runs the tool with. */
export interface ToolPlace {
  readonly binary: string;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Holds the process id while the tool runs, so that recovery after a crash can end it. */
  readonly pidFile: string;
  /** Limits of what the tool prints; none when absent. */
  readonly outputLimits?: OutputLimits | undefined;
}

export interface OutputLimits {
  /** Limit of a command whose output is the log, both streams together. */
  readonly logBytes: number;
  /** Ends the phase's log when a command has printed more. */
  readonly lastWords: string;
}

/** Documents for programs, such as schemas of providers, are larger than logs, and held in memory. */
const MAX_DOCUMENT_BYTES = 256 * 1024 * 1024;

/** Time for a tool that exceeded a limit to write its state. */
export const LIMIT_GRACE_MS = 15_000;

/** Kills a tool with its child processes, because provisioners run programs. */
const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // The whole process group has already ended.
  }
};

/** A request to interrupt the phase, passed to terraform if it is running. */
export class Interruption {
  #child: ChildProcess | undefined;
  #reason: 'canceled' | 'abandoned' | 'exceeded' | undefined;
  #lastWords: string | undefined;
  #killTimer: NodeJS.Timeout | undefined;

  get reason(): 'canceled' | 'abandoned' | 'exceeded' | undefined {
    return this.#reason;
  }

  /** Why the phase was ended here, for its log; undefined where people or the control plane ended it. */
  get lastWords(): string | undefined {
    return this.#lastWords;
  }

  /** Lets the tool finish started operations and store the state. */
  cancel(): void {
    if (this.#reason !== undefined) return;
    this.#reason = 'canceled';
    this.#child?.kill('SIGINT');
  }

  /** The phase no longer belongs to this agent: the tool has `graceMs` from now to write its state. */
  abandon(graceMs: number): void {
    if (this.#reason === 'abandoned') return;
    const wasAsked = this.#reason === 'canceled';
    this.#reason = 'abandoned';
    if (wasAsked) {
      this.#kill();
      return;
    }
    this.#killAfter(graceMs);
  }

  /** The phase reached a limit: it ends as errored, and the tool has `graceMs` from now to write its state. */
  exceed(lastWords: string, graceMs: number): void {
    if (this.#lastWords !== undefined || this.#reason === 'abandoned') return;
    this.#reason = 'exceeded';
    this.#lastWords = lastWords;
    this.#killAfter(graceMs);
  }

  #killAfter(graceMs: number): void {
    this.#child?.kill('SIGINT');
    this.#killTimer = setTimeout(() => this.#kill(), graceMs);
  }

  attach(child: ChildProcess): void {
    this.#child = child;
    if (this.#reason !== undefined) child.kill('SIGINT');
  }

  detach(): void {
    this.#child = undefined;
    clearTimeout(this.#killTimer);
  }

  #kill(): void {
    if (this.#child !== undefined) killGroup(this.#child);
  }
}

/** Where the tool's binaries are. */
export interface Tools {
  /** Binary used when `versionsFolder` is not set or lacks the requested version. */
  readonly terraform: string;
  /** Holds `<version>/terraform`. */
  readonly versionsFolder: string | undefined;
}

/** Settings of an agent begin with it. */
export const AGENT_SETTINGS_PREFIX = 'KEELSON_AGENT_';

/** The environment without the agent's settings, among them its token, because the tool runs untrusted code. */
export const withoutAgentSettings = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(
    Object.entries(environment).filter(([name]) => !name.startsWith(AGENT_SETTINGS_PREFIX)),
  );

/** The binary of a version, or else the default binary. */
export const findBinary = async (
  { terraform, versionsFolder }: Tools,
  version: string | null,
): Promise<string> => {
  if (versionsFolder === undefined || version === null) return terraform;
  const file = join(versionsFolder, version, 'terraform');
  return access(file).then(
    () => file,
    () => terraform,
  );
};

/** Runs the tool once. `onOutput` sees whole words as they come, from both streams, up to the limit. */
export const runTool = async (
  { binary, folder, environment, pidFile, outputLimits }: ToolPlace,
  args: readonly string[],
  interruption: Interruption,
  onOutput?: (text: string) => void,
): Promise<Outcome> => {
  const child = spawn(binary, args, {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A separate process group, so that a signal to the agent does not reach the tool.
    detached: true,
  });
  let stdout = '';
  let output = '';
  let leftBytes = Number.POSITIVE_INFINITY;
  if (outputLimits !== undefined) {
    leftBytes = onOutput === undefined ? MAX_DOCUMENT_BYTES : outputLimits.logBytes;
  }
  const collect = (stream: NodeJS.ReadableStream, isStdout: boolean): void => {
    const decoder = new StringDecoder('utf8');
    const words = new WholeWords((text) => {
      output += text;
      onOutput?.(text);
    });
    const add = (text: string): void => {
      if (isStdout) stdout += text;
      words.add(text);
    };
    stream.on(
      'data',
      guarded('agent', (chunk: Buffer) => {
        if (leftBytes <= 0) return;
        leftBytes -= chunk.length;
        add(decoder.write(chunk));
        if (leftBytes <= 0) interruption.exceed(outputLimits?.lastWords ?? '', LIMIT_GRACE_MS);
      }),
    );
    stream.on(
      'end',
      guarded('agent', () => {
        add(decoder.end());
        // The rest of the last word was dropped at the limit, so that it may be a part of a secret.
        if (leftBytes > 0) words.end();
      }),
    );
  };
  collect(child.stdout, true);
  collect(child.stderr, false);
  const closed = once(child, 'close') as Promise<[number | null]>;
  interruption.attach(child);
  try {
    if (child.pid !== undefined) await writeFile(pidFile, String(child.pid));
    const [code] = await closed;
    // Its child processes would otherwise continue unobserved.
    if (interruption.reason !== undefined) killGroup(child);
    return { code, stdout, output };
  } finally {
    interruption.detach();
  }
};
