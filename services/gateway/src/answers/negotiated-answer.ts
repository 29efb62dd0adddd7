/**
 * Validators (RFC 9110 §8.8) and compression (§8.4) of answers. The APIs write past Fastify's `onSend` hooks
 * (`answer-with.ts`), so its plugins for these would never run.
 */
import { hash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { EdgeResponse } from '@keelson/edge';
import type { Exchange } from '../request/exchange.ts';
import { API_V2, OWN, type Surface } from '../request/surface.ts';
import { responseBytes } from './response-bytes.ts';

/** Smaller bodies take longer to compress than to send, and are written together with the head. */
const LEAST_BYTES = 8192;

/** Larger bodies are streamed as they arrive. */
const MOST_BYTES = 4 * 1024 * 1024;

const JSON_TYPE = /^application\/(?:vnd\.api\+)?json\b/;

const ENCODERS = {
  br: (body: Uint8Array) =>
    promisify(brotliCompress)(body, {
      params: {
        // Half the time of gzip's default level, with a better result for lists of resources.
        [constants.BROTLI_PARAM_QUALITY]: 3,
        [constants.BROTLI_PARAM_SIZE_HINT]: body.byteLength,
      },
    }),
  gzip: (body: Uint8Array) => promisify(gzip)(body, { level: 4 }),
} as const;
type Encoding = keyof typeof ENCODERS;
const ENCODINGS = Object.keys(ENCODERS);

const headerOf = ({ head }: EdgeResponse, wanted: string): string | undefined =>
  head.headers.find(({ name }) => name === wanted)?.value;

const withHeaders = (
  { head }: EdgeResponse,
  body: Uint8Array,
  added: Readonly<Record<string, string>>,
  status = head.status,
): EdgeResponse => ({
  head: {
    ...head,
    status,
    headers: [
      ...head.headers.filter(({ name }) => name !== 'content-length' && !(name in added)),
      ...Object.entries(added).map(([name, value]) => ({ name, value })),
    ],
  },
  body,
});

/** RFC 9110 §13.1.2: the weak comparison. */
const matches = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.trim() === '*' ||
  ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);

const NO_BODY = new Uint8Array();

const isValidated = (surface: Surface): boolean => surface === API_V2 || surface === OWN;

/**
 * Gives the answer to a GET of /api/v2, and of the gateway's own documents, an `ETag`, and answers 304 when
 * the client has the same. The digest covers the body that this caller receives after the check of its permissions, so it
 * reveals nothing about other callers' answers. An answer with `no-store` gets no `ETag`.
 */
const validate = ({ surface, request }: Exchange, answer: EdgeResponse): EdgeResponse => {
  const { body } = answer;
  if (request.method !== 'GET' || !isValidated(surface) || !(body instanceof Uint8Array))
    return answer;
  if (headerOf(answer, 'cache-control') !== undefined) return answer;
  const opaque = `"${hash('sha256', body, 'base64url').slice(0, 27)}"`;
  // Weak, because one validator covers every content coding.
  const added = { etag: `W/${opaque}`, 'cache-control': 'private, no-cache' };
  const known = request.headers['if-none-match'];
  return known !== undefined && matches(known, opaque)
    ? withHeaders(answer, NO_BODY, { ...added, vary: 'accept-encoding' }, 304)
    : withHeaders(answer, body, added);
};

/**
 * Whether an answer may be compressed. An answer that contains both a secret and text of an attacker may not
 * be, because its compressed size, which is visible on the network, reveals how similar the two are
 * (CVE-2013-3587, "BREACH"). Issued keys and new tokens are answers to writing requests; stored secrets are
 * read below cubbyhole/, or their service marks the answer `no-store`.
 */
const mayCompress = ({ head: { method, path } }: Exchange, answer: EdgeResponse): boolean =>
  (method === 'GET' || method === 'LIST') &&
  !path.startsWith('/cubbyhole/') &&
  headerOf(answer, 'cache-control') !== 'no-store';

/** A body in the codings that clients have asked for, for answers that are the same for many requests. */
export type EncodedForms = Map<string, Promise<Uint8Array>>;

const compress = async (
  exchange: Exchange,
  answer: EdgeResponse,
  forms: EncodedForms,
): Promise<EdgeResponse> => {
  const { request } = exchange;
  const { body } = answer;
  if (!mayCompress(exchange, answer)) return answer;
  if (!(body instanceof Uint8Array) || body.byteLength < LEAST_BYTES) return answer;
  const vary = { vary: 'accept-encoding' };
  const accepted = request.headers['accept-encoding'];
  const encoding = typeof accepted === 'string' ? negotiate(accepted, ENCODINGS) : null;
  if (encoding === null) return withHeaders(answer, body, vary);
  const encoded = forms.get(encoding) ?? ENCODERS[encoding as Encoding](body);
  forms.set(encoding, encoded);
  return withHeaders(answer, await encoded, { ...vary, 'content-encoding': encoding });
};

/** Joins a body that arrived in pieces, if it is small enough to be hashed or compressed. */
const gathered = async (answer: EdgeResponse): Promise<EdgeResponse> => {
  if (answer.body instanceof Uint8Array) return answer;
  const bytes = Number(headerOf(answer, 'content-length') ?? Number.POSITIVE_INFINITY);
  return bytes <= MOST_BYTES ? { ...answer, body: await responseBytes(answer) } : answer;
};

const negotiate200 = async (
  exchange: Exchange,
  answer: EdgeResponse,
  forms: EncodedForms = new Map(),
): Promise<EdgeResponse> => compress(exchange, validate(exchange, await gathered(answer)), forms);

/**
 * The answer in a form that this client accepts. Only JSON answers with status 200 are changed.
 * @param forms of the same body, to which a new form is added
 */
export const negotiated = (
  exchange: Exchange,
  answer: EdgeResponse,
  forms?: EncodedForms,
): EdgeResponse | Promise<EdgeResponse> => {
  const { head, body } = answer;
  if (head.status !== 200) return answer;
  // Most answers of /v1 return here, at no cost.
  const isSmall = body instanceof Uint8Array && body.byteLength < LEAST_BYTES;
  if (isSmall && !isValidated(exchange.surface)) return answer;
  return JSON_TYPE.test(headerOf(answer, 'content-type') ?? '')
    ? negotiate200(exchange, answer, forms)
    : answer;
};
