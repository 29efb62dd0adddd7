/** The provisioning tool as a process: its output as it comes, and two ways to stop it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { access, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { StringDecoder } from 'node:string_decoder';
import type { AgentConfig } from './config.ts';

export interface Outcome {
  /** null: ended by a signal. */
  readonly code: number | null;
  readonly stdout: string;
  /** Both streams, as they came. */
  readonly output: string;
}

/** Where one phase lets the tool run. */
export interface ToolPlace {
  readonly binary: string;
  readonly folder: string;
  readonly environment: NodeJS.ProcessEnv;
  /** Holds the id of the process while there is one, for who finds the phase after a crash. */
  readonly pidFile: string;
}

/** Kills a tool with what it started: provisioners run programs. */
const killGroup = ({ pid }: ChildProcess): void => {
  if (pid === undefined) return;
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It ended by itself, and all the others.
  }
};

/** What was asked of a phase from outside; the tool is told when it runs. */
export class Interruption {
  #child: ChildProcess | undefined;
  #reason: 'canceled' | 'abandoned' | undefined;
  #killTimer: NodeJS.Timeout | undefined;

  get reason(): 'canceled' | 'abandoned' | undefined {
    return this.#reason;
  }

  /** Lets the tool finish what it has begun and store it. */
  cancel(): void {
    if (this.#reason !== undefined) return;
    this.#reason = 'canceled';
    this.#child?.kill('SIGINT');
  }

  /** The phase is not this agent's any more: the tool has `graceMs` from now to write its state. */
  abandon(graceMs: number): void {
    if (this.#reason === 'abandoned') return;
    const wasAsked = this.#reason === 'canceled';
    this.#reason = 'abandoned';
    if (wasAsked) {
      this.#kill();
      return;
    }
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

/** The binary of a version, or the one that there is. */
export const findBinary = async (
  { terraform, versionsFolder }: Pick<AgentConfig, 'terraform' | 'versionsFolder'>,
  version: string | null,
): Promise<string> => {
  if (versionsFolder === undefined || version === null) return terraform;
  const file = join(versionsFolder, version, 'terraform');
  return access(file).then(
    () => file,
    () => terraform,
  );
};

/** Runs the tool once. `onOutput` sees text as it comes, from both streams. */
export const runTool = async (
  { binary, folder, environment, pidFile }: ToolPlace,
  args: readonly string[],
  interruption: Interruption,
  onOutput: (text: string) => void = () => undefined,
): Promise<Outcome> => {
  const child = spawn(binary, args, {
    cwd: folder,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A group of its own: a signal to the agent is not one to the tool.
    detached: true,
  });
  let stdout = '';
  let output = '';
  const collect = (stream: NodeJS.ReadableStream, isStdout: boolean): void => {
    const decoder = new StringDecoder('utf8');
    const add = (text: string): void => {
      output += text;
      if (isStdout) stdout += text;
      if (text !== '') onOutput(text);
    };
    stream.on('data', (chunk: Buffer) => add(decoder.write(chunk)));
    stream.on('end', () => add(decoder.end()));
  };
  collect(child.stdout, true);
  collect(child.stderr, false);
  const closed = once(child, 'close') as Promise<[number | null]>;
  interruption.attach(child);
  try {
    if (child.pid !== undefined) await writeFile(pidFile, String(child.pid));
    const [code] = await closed;
    // What it started goes on otherwise, with nobody to see it.
    if (interruption.reason !== undefined) killGroup(child);
    return { code, stdout, output };
  } finally {
    interruption.detach();
  }
};
