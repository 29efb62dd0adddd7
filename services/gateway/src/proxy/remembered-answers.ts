/**
 * Answers to requests without credentials, given again while they are provably what would be answered
 * anew: the decision of sys rests on the same state (`DecisionState`), and the service says that its
 * answer stands. Both compare with the heads of their stores; nothing is kept by time. Only within one
 * process: a gateway that reaches its services over the network asks them each time.
 */
import type { IncomingMessage } from 'node:http';
import type { EdgeBody, StandingResponse } from '@keelson/edge';

export interface RememberedAnswer {
  /** That the decision rested on. */
  readonly state: object;
  readonly response: StandingResponse;
  /** For metrics. */
  readonly group: string;
}

/** What decisions about requests without a token rest on: the same object while they hold; undefined while sealed. */
export type DecisionStates = () => Promise<object | undefined>;

/** What an answer takes besides its key and its content, the part of pki included; measured. */
export const OVERHEAD_BYTES = 650;

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
