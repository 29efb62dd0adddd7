/**
 * A real server as a child process: ready when its log says so, and gone when its output is closed, which is
 * after the last of its own children has ended. Nothing here waits for a fixed time.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { findBinary } from './find-binary.ts';

export interface ServerCommand {
  readonly file: string;
  readonly args: readonly string[];
  /** Matches the log once the server accepts connections. */
  readonly ready: RegExp;
  /** User and group of the server if this process is root. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** Signal that asks the server to stop. */
  readonly stopSignal?: NodeJS.Signals;
}

/** Enough to show why a server did not start. */
const KEPT_LOG_CHARACTERS = 4000;

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

/**
 * On Linux the kernel ends the server together with this process in every case, because no `exit` handler
 * runs after a kill.
 */
const endingWithUs = async (file: string, args: readonly string[]): Promise<[string, string[]]> =>
  process.platform === 'linux'
    ? [await findBinary('setpriv', 'util-linux'), ['--pdeathsig', 'KILL', '--', file, ...args]]
    : [file, [...args]];

export class ServerProcess {
  readonly #command: ServerCommand;
  #child: ChildProcess | undefined;
  #closed: Promise<unknown> = Promise.resolve();
  #log = '';

  constructor(command: ServerCommand) {
    this.#command = command;
  }

  /** The newest lines of the server's output. */
  get log(): string {
    return this.#log;
  }

  /** undefined while it does not run. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  /**
   * Resolves once the server accepts connections.
   * @throws Error with its log if it ends instead
   */
  async start(): Promise<void> {
    if (this.#child !== undefined) return;
    const { file, args, ready, user } = this.#command;
    const child = spawn(...(await endingWithUs(file, args)), {
      stdio: ['ignore', 'pipe', 'pipe'],
      ...user,
    });
    running.add(child);
    this.#child = child;
    this.#closed = once(child, 'close').finally(() => {
      running.delete(child);
      if (this.#child === child) this.#child = undefined;
    });
    this.#log = '';
    const isReady = new Promise<void>((resolve) => {
      const read = (chunk: Buffer): void => {
        this.#log = (this.#log + chunk.toString()).slice(-KEPT_LOG_CHARACTERS);
        if (ready.test(this.#log)) resolve();
      };
      child.stdout.on('data', read);
      child.stderr.on('data', read);
    });
    const ended = this.#closed.then(() => {
      throw new Error(`${file} ended before it was ready:\n${this.#log}`);
    });
    await Promise.race([isReady, ended]);
    ended.catch(() => undefined); // An end after the start is handled by the caller that stops it.
  }

  /** Asks it to stop and waits until it has ended. */
  stop(): Promise<void> {
    return this.#end(this.#command.stopSignal ?? 'SIGTERM');
  }

  /** kill -9: no time to flush or to close connections. */
  kill(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Freezes it: connections stay open and nothing answers until `resume`. */
  pause(): void {
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    this.#child?.kill('SIGCONT');
  }

  async #end(signal: NodeJS.Signals): Promise<void> {
    this.resume();
    this.#child?.kill(signal);
    await this.#closed;
  }
}
