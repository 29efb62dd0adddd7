/**
 * The thread that writes all SQLite files of this process, so that no read and no other work waits for a
 * disk. One thread is enough, because flushes of files on one disk wait for each other anyway, and a
 * thread takes 12 MB.
 */
import type { SQLInputValue } from 'node:sqlite';
import { Worker } from 'node:worker_threads';

/** A statement that is run once for each row of parameters. */
export interface WriteStatement {
  readonly sql: string;
  readonly rows: readonly (readonly SQLInputValue[])[];
  /** The transaction is rolled back when this statement changes no row. */
  readonly mustChange?: boolean;
}

/**
 * `whole` is a complete transaction. A transaction of several jobs is opened by `begin`, extended by each `part`,
 * and ended by `commit` or `rollback`.
 */
export type WriteJob =
  | { readonly whole: readonly WriteStatement[] }
  | { readonly part: readonly WriteStatement[] }
  | 'begin'
  | 'commit'
  | 'rollback'
  | 'checkpoint'
  | 'close';

export interface WriteRequest {
  readonly file: string;
  readonly job: WriteJob;
}

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
  readonly #worker: Worker;
  /** Jobs whose answers are awaited, oldest first: the thread answers in the order of the calls. */
  readonly #pending: PromiseWithResolvers<Written>[] = [];
  #endedBy: Error | undefined;

  constructor() {
    this.#worker = new Worker(new URL('./writer-thread-entry.ts', import.meta.url), {
      name: 'sqlite-writer',
    });
    this.#worker.on('message', (answer: WriteAnswer) => this.#settle(answer));
    this.#worker.on('error', (error) => this.#end(error));
    this.#worker.on('exit', () => this.#end(new Error('the thread that writes has ended')));
    this.#worker.unref();
  }

  get hasEnded(): boolean {
    return this.#endedBy !== undefined;
  }

  async carryOut(request: WriteRequest): Promise<Written> {
    if (this.#endedBy !== undefined) throw this.#endedBy;
    const answer = Promise.withResolvers<Written>();
    this.#pending.push(answer);
    // A process that waits for nothing else must not end before the answer.
    this.#worker.ref();
    this.#worker.postMessage(request);
    return answer.promise;
  }

  #settle({ error, ...written }: WriteAnswer): void {
    const job = this.#pending.shift();
    if (this.#pending.length === 0) this.#worker.unref();
    if (error === undefined) job?.resolve(written);
    else job?.reject(new WriteError(error));
  }

  #end(cause: Error): void {
    this.#endedBy ??= cause;
    for (const job of this.#pending.splice(0)) job.reject(this.#endedBy);
  }
}

let running: WriterThread | undefined;

/** The thread of this process. It starts with the first file, and again if it has ended unexpectedly. */
export const writerThread = (): Pick<WriterThread, 'carryOut'> => {
  if (running === undefined || running.hasEnded) running = new WriterThread();
  return running;
};
