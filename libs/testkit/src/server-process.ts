/**
 * A real server as a child process: ready when its log says so, and gone when its output is closed, which is
 * after the last of its own children has ended. Nothing here waits for a fixed time.
 */
import { once } from 'node:events';
import { type EndingChild, spawnEndingWithUs } from './ending-child.ts';

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

export class ServerProcess {
  readonly #command: ServerCommand;
  #child: EndingChild | undefined;
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
    const child = await spawnEndingWithUs(file, args, user);
    this.#child = child;
    this.#closed = once(child, 'close').finally(() => {
      if (this.#child === child) this.#child = undefined;
    });
    this.#log = '';
    const isReady = new Promise<void>((resolve) => {
      const read = (chunk: Buffer): void => {
        const text = this.#log + chunk.toString();
        // Before it is shortened: much may follow in the same chunk.
        if (ready.test(text)) resolve();
        this.#log = text.slice(-KEPT_LOG_CHARACTERS);
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
