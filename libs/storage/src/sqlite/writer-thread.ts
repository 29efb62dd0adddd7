/**
 * The thread that writes all SQLite files of this process, so that no read and no other work waits for a
 * disk. One thread is enough, because flushes of files on one disk wait for each other anyway, and a
 * thread takes 12 MB. Threads that serve requests each have a port to it.
 */
import type { SQLInputValue } from 'node:sqlite';
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import type { TurnEnd } from './shared-head.ts';

/** A statement that is run once for each row of parameters. */
export interface WriteStatement {
  readonly sql: string;
  readonly rows: readonly (readonly SQLInputValue[])[];
  /** The transaction is rolled back when this statement changes no row. */
  readonly mustChange?: boolean;
}

/**
 * `whole` is a complete transaction, which may end the turn of a commit. A transaction of several jobs is opened by `begin`, extended by each `part`,
 * and ended by `commit` or `rollback`.
 */
export type WriteJob =
  | { readonly whole: readonly WriteStatement[]; readonly ended?: TurnEnd | undefined }
  | { readonly part: readonly WriteStatement[] }
  | 'begin'
  | 'commit'
  | 'rollback'
  | 'checkpoint'
  | 'close';

export interface WriteOrder {
  readonly file: string;
  /** Identifies the writer: jobs of others wait while it has a transaction of several jobs open. */
  readonly by: string;
  readonly job: WriteJob;
}

/** An order, or the port of another thread whose orders are carried out from now on. */
export type WriteRequest = (WriteOrder & { readonly id: number }) | { readonly port: MessagePort };

/** SQLite's write-ahead log after an attempt to copy it into the main file. */
export interface LogState {
  readonly bytes: number;
  /** Absent if everything was copied that no read needs. */
  readonly error?: { readonly message: string; readonly errcode: number };
}

export interface Written {
  readonly isWritten: boolean;
  /** Present if the job included a checkpoint. */
  readonly log?: LogState;
}

export interface WriteAnswer extends Written {
  /** That of the request. */
  readonly id: number;
  readonly error?: { readonly message: string; readonly errcode: number };
}

/** An error that was thrown while a job was carried out; `errcode` is NaN if it is not SQLite's. */
export class WriteError extends Error {
  readonly errcode: number;

  constructor({ message, errcode }: NonNullable<WriteAnswer['error']>) {
    super(message);
    this.errcode = errcode;
  }
}

class WriterThread {
  readonly #channel: Worker | MessagePort;
  /** Orders whose answers are awaited, by their ids. */
  readonly #pending = new Map<number, PromiseWithResolvers<Written>>();
  #lastId = 0;
  #endedBy: Error | undefined;

  /** @param channel to the thread */
  constructor(channel: Worker | MessagePort) {
    this.#channel = channel;
    const ended = (): void => this.#end(new Error('the thread that writes has ended'));
    channel.on('message', (answer: WriteAnswer) => this.#settle(answer));
    channel.on('error', (error: Error) => this.#end(error));
    channel.on('exit', ended);
    channel.on('close', ended);
    channel.unref();
  }

  get hasEnded(): boolean {
    return this.#endedBy !== undefined;
  }

  async carryOut(order: WriteOrder): Promise<Written> {
    if (this.#endedBy !== undefined) throw this.#endedBy;
    const answer = Promise.withResolvers<Written>();
    const id = ++this.#lastId;
    this.#pending.set(id, answer);
    // A process that waits for nothing else must not end before the answer.
    this.#channel.ref();
    this.#post({ ...order, id });
    return answer.promise;
  }

  /** A port of the same thread for another thread of the process. */
  openPort(): MessagePort {
    const { port1, port2 } = new MessageChannel();
    this.#post({ port: port1 }, [port1]);
    return port2;
  }

  #post(request: WriteRequest, transferred: readonly MessagePort[] = []): void {
    this.#channel.postMessage(request, [...transferred]);
  }

  #settle({ id, error, ...written }: WriteAnswer): void {
    const job = this.#pending.get(id);
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#channel.unref();
    if (error === undefined) job?.resolve(written);
    else job?.reject(new WriteError(error));
  }

  #end(cause: Error): void {
    this.#endedBy ??= cause;
    for (const job of this.#pending.values()) job.reject(this.#endedBy);
    this.#pending.clear();
  }
}

let running: WriterThread | undefined;

const startThread = (): WriterThread =>
  new WriterThread(
    new Worker(new URL('./writer-thread-entry.ts', import.meta.url), { name: 'sqlite-writer' }),
  );

/**
 * The thread of this process. It starts with the first file, and again if it has ended unexpectedly, except for
 * threads that share it.
 */
export const writerThread = (): Pick<WriterThread, 'carryOut'> => {
  if (running === undefined || running.hasEnded) running = startThread();
  return running;
};

/** A port by which another thread of this process writes its files, too; see `writeThrough`. */
export const openWriterPort = (): MessagePort => {
  running ??= startThread();
  return running.openPort();
};

/** Makes this thread write by the thread at the other end of a port. Called before it opens a store. */
export const writeThrough = (port: MessagePort): void => {
  running = new WriterThread(port);
};
