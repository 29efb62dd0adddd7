/**
 * Answers to requests without credentials, given again while they are provably what would be answered
 * anew: the decision of sys rests on the same state (`DecisionState`), and the service says that its
 * answer stands. Both compare with the heads of their stores; nothing is kept by time. Only within one
 * process: a gateway that reaches its services over the network asks them each time.
 */
import type { IncomingMessage } from 'node:http';
import type { EdgeBody, EdgeResponse } from '@keelson/edge';

export interface RememberedAnswer {
  /** That the decision rested on. */
  readonly state: object;
  readonly response: EdgeResponse & { readonly stands: () => Promise<boolean> };
  /** For metrics. */
  readonly group: string;
}

/** What decisions about requests without a token rest on: the same object while they hold; undefined while sealed. */
export type DecisionStates = () => Promise<object | undefined>;

const MAX_ANSWERS = 131_072;
const MAX_BYTES = 128 * 1024 * 1024;
/** Of one answer with its key. */
const LARGEST_BYTES = 1024 * 1024;
/** What an answer takes besides its key and its content, the service's part included; measured. */
const OVERHEAD_BYTES = 650;
const LARGEST_REQUEST_BODY_BYTES = 4096;

/** Headers that an answer may depend on, or that say who asks. */
const MAY_MATTER = /^(?:x-service-|x-vault-|if-)|^(?:authorization|range)$/;

const mayMatter = new Map<string, boolean>();

/** The same few names come with every request. */
const matters = (name: string): boolean => {
  let known = mayMatter.get(name);
  if (known === undefined) {
    known = MAY_MATTER.test(name);
    if (mayMatter.size < 256) mayMatter.set(name, known);
  }
  return known;
};

/** Whether the answer to a request may be a remembered one; a body must still be read into the key. */
export const isRepeatable = (method: string, { headers }: IncomingMessage): boolean => {
  if (method !== 'GET' && method !== 'POST') return false;
  for (const name in headers) if (matters(name)) return false;
  return method === 'GET'
    ? headers['content-length'] === undefined && headers['transfer-encoding'] === undefined
    : Number(headers['content-length']) <= LARGEST_REQUEST_BODY_BYTES;
};

/** No target of a request holds a space, so a key with a body is no other key. */
export const answerKey = (url: string, method: string, { buffered }: EdgeBody): string =>
  method === 'GET' ? url : `${url} ${Buffer.from(buffered ?? []).toString('latin1')}`;

/** Bounded by number and by size; the oldest go first. */
export class RememberedAnswers {
  readonly #answers = new Map<string, RememberedAnswer>();
  #bytes = 0;

  find(key: string): RememberedAnswer | undefined {
    return this.#answers.get(key);
  }

  put(key: string, answer: RememberedAnswer): void {
    const bytes = sizeOf(key, answer);
    if (bytes > LARGEST_BYTES) return;
    this.#remove(key);
    this.#answers.set(key, answer);
    this.#bytes += bytes;
    for (const oldest of this.#answers.keys()) {
      if (this.#answers.size <= MAX_ANSWERS && this.#bytes <= MAX_BYTES) break;
      this.#remove(oldest);
    }
  }

  clear(): void {
    this.#answers.clear();
    this.#bytes = 0;
  }

  #remove(key: string): void {
    const former = this.#answers.get(key);
    if (former === undefined) return;
    this.#answers.delete(key);
    this.#bytes -= sizeOf(key, former);
  }
}

const sizeOf = (key: string, { response: { body } }: RememberedAnswer): number =>
  body instanceof Uint8Array ? key.length + body.byteLength + OVERHEAD_BYTES : Infinity;
