/**
 * Calls between two threads of the process: each has functions that the other may call, by their names. What is given
 * and answered is copied, so it has only plain values and bytes.
 */
import type { MessagePort, Worker } from 'node:worker_threads';
import { type ErrorCode, type ErrorParams, KeelsonError } from '@keelson/errors';

/** Functions by name, each with one argument. */
export type Calls<C> = { readonly [N in keyof C]: (given: never) => Promise<unknown> };

type Given<F> = F extends (given: infer G) => unknown ? G : never;
type Answer<F> = F extends (given: never) => Promise<infer A> ? A : never;

type Message =
  | { readonly id: number; readonly name: string; readonly given: unknown }
  | { readonly answers: number; readonly value: unknown }
  | { readonly answers: number; readonly code: ErrorCode; readonly params: ErrorParams };

/** @param Theirs the functions of the other thread */
export class ThreadPort<Theirs extends Calls<Theirs>> {
  readonly #channel: Pick<MessagePort | Worker, 'postMessage'>;
  readonly #own: Readonly<Record<string, (given: never) => Promise<unknown>>>;
  readonly #pending = new Map<number, PromiseWithResolvers<unknown>>();
  #lastId = 0;

  /** @param own functions that the other thread may call */
  constructor(
    channel: MessagePort | Worker,
    own: Readonly<Record<string, (given: never) => Promise<unknown>>>,
  ) {
    this.#channel = channel;
    this.#own = own;
    channel.on('message', (message: Message) => this.#receive(message));
  }

  /** @throws KeelsonError of the function; `internal` for any other error, whose text stays in its thread */
  call<Name extends keyof Theirs & string>(
    name: Name,
    given: Given<Theirs[Name]>,
  ): Promise<Answer<Theirs[Name]>> {
    const id = ++this.#lastId;
    const answer = Promise.withResolvers<unknown>();
    this.#pending.set(id, answer);
    this.#post({ id, name, given });
    return answer.promise as Promise<Answer<Theirs[Name]>>;
  }

  #post(message: Message): void {
    this.#channel.postMessage(message);
  }

  #receive(message: Message): void {
    if ('name' in message) void this.#answer(message);
    else {
      const answer = this.#pending.get(message.answers);
      this.#pending.delete(message.answers);
      if ('code' in message) answer?.reject(new KeelsonError(message.code, message.params));
      else answer?.resolve(message.value);
    }
  }

  async #answer({ id, name, given }: Extract<Message, { id: number }>): Promise<void> {
    try {
      const own = this.#own[name];
      if (own === undefined) throw new Error(`no function ${name}`);
      this.#post({ answers: id, value: await own(given as never) });
    } catch (error) {
      const { code, params } = KeelsonError.from(error);
      this.#post({ answers: id, code, params });
    }
  }
}
