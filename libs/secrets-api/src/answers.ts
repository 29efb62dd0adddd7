/** Responses of /v1: the envelope, and the kinds without it. */
import {
  allowHeader,
  type EdgeRequest,
  type EdgeResponse,
  edgeResponse,
  retryHeader,
} from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { JsonObject } from './coercions.ts';

export interface Answer {
  readonly data?: JsonObject | null;
  /** In place of `data`: the members of `data.keys` as JSON, in one piece or page by page; none is empty. */
  readonly keys?: Uint8Array | AsyncIterable<Uint8Array>;
  readonly warnings?: readonly string[];
  readonly auth?: JsonObject;
  readonly lease?: {
    readonly id: string;
    readonly durationSeconds: number;
    readonly renewable: boolean;
  };
  readonly wrapInfo?: JsonObject;
  /** 200 when absent. */
  readonly status?: number;
  /** Repeats the members of `data` at the top level of the envelope, as some older endpoints do. */
  readonly mirrored?: true;
}

const ANSWERED = Symbol('answered');
/** A response whose bytes are complete. */
export interface FinalAnswer {
  readonly [ANSWERED]: EdgeResponse;
}

/** Whether the bytes of an answer are complete. */
export const isFinal = (answer: Answer | FinalAnswer): answer is FinalAnswer => ANSWERED in answer;

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' } as const;
/** Shared by all responses. */
const JSON_HEADER_LIST = edgeResponse(200, JSON_HEADERS).head.headers;

/** Has the type of other answers, because the vendor's server sends it and clients compare it. */
const EMPTY_RESPONSE = edgeResponse(204, JSON_HEADERS);

const jsonResponse = (status: number, document: unknown): EdgeResponse => ({
  head: { status, headers: JSON_HEADER_LIST },
  body: Buffer.from(JSON.stringify(document)),
});

/** A response with these bytes, such as a certificate or CRL. */
export const rawResponse = (
  status: number,
  contentType: string,
  body: Uint8Array,
  headers: Readonly<Record<string, string>> = {},
): FinalAnswer => ({
  [ANSWERED]: edgeResponse(
    status,
    contentType === '' ? headers : { 'content-type': contentType, ...headers },
    body,
  ),
});

/** An object without the envelope (`sys/health`, `sys/seal-status`, …). */
export const topLevel = (document: JsonObject, status = 200): FinalAnswer => ({
  [ANSWERED]: jsonResponse(status, document),
});

/** `data` inside the envelope and repeated at the top level (`sys/mounts`, …). */
export const mirrored = (data: JsonObject): Answer => ({ data, mirrored: true });

const COMMA = Buffer.from(',');

async function* separated(
  first: Uint8Array,
  second: Uint8Array,
  others: AsyncIterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  yield first;
  yield COMMA;
  yield second;
  for await (const page of others) {
    yield COMMA;
    yield page;
  }
}

/**
 * The response to a LIST of any length. A list of more than one page is sent while it is read, so that it
 * takes the memory of one page and does not block other work.
 * @param pages JSON texts of keys, separated by commas
 * @returns undefined when there are no keys
 */
export const listedKeys = async (
  pages: AsyncGenerator<Uint8Array, void>,
): Promise<Answer | undefined> => {
  const first = await pages.next();
  if (first.done === true) return undefined;
  const second = await pages.next();
  return {
    keys: second.done === true ? first.value : separated(first.value, second.value, pages),
  };
};

/** An envelope without `data`, with the keys of a list as its `data`. */
const keysResponse = (envelope: object, keys: NonNullable<Answer['keys']>): EdgeResponse => {
  const start = Buffer.from(`${JSON.stringify(envelope).slice(0, -1)},"data":{"keys":[`);
  const end = Buffer.from(']}}');
  if (keys instanceof Uint8Array)
    return edgeResponse(200, JSON_HEADERS, Buffer.concat([start, keys, end]));
  const body = async function* (): AsyncGenerator<Uint8Array> {
    yield start;
    yield* keys;
    yield end;
  };
  return edgeResponse(200, JSON_HEADERS, body());
};

/** The response for an answer: 204 if it has no content; `warnings` come from parsing the request. */
export const renderAnswer = (
  answer: Answer | FinalAnswer | undefined,
  request: EdgeRequest,
  warnings: readonly string[],
): EdgeResponse => {
  if (answer === undefined)
    return warnings.length === 0 ? EMPTY_RESPONSE : renderAnswer({}, request, warnings);
  if (ANSWERED in answer) return answer[ANSWERED];
  const allWarnings = answer.warnings === undefined ? warnings : [...answer.warnings, ...warnings];
  const envelope = {
    request_id: request.head.requestId,
    lease_id: answer.lease?.id ?? '',
    renewable: answer.lease?.renewable ?? false,
    lease_duration: answer.lease?.durationSeconds ?? 0,
    wrap_info: answer.wrapInfo ?? null,
    warnings: allWarnings.length === 0 ? null : allWarnings,
    auth: answer.auth ?? null,
    // undefined, and thus omitted, if no engine answers.
    mount_type: request.head.mount?.type,
  };
  if (answer.keys !== undefined) return keysResponse(envelope, answer.keys);
  const document = { ...envelope, data: answer.data ?? null };
  return jsonResponse(
    answer.status ?? 200,
    answer.mirrored ? { ...answer.data, ...document } : document,
  );
};

/** Adds warnings to the envelope of a rendered answer. */
export const envelopeWarnings = {
  inPlaceOfNothing: (text: string, request: EdgeRequest): EdgeResponse =>
    renderAnswer({}, request, [text]),
  inDocument: (document: object, text: string): object | undefined =>
    'warnings' in document
      ? {
          ...document,
          warnings: [...(Array.isArray(document.warnings) ? document.warnings : []), text],
        }
      : undefined,
};

/** A list without keys or content; answered with 404 unless it has warnings. */
export const isEmptyList = (answer: Answer | FinalAnswer): boolean => {
  if (ANSWERED in answer || answer.keys !== undefined || (answer.warnings?.length ?? 0) > 0)
    return false;
  const keys = answer.data?.['keys'];
  return Array.isArray(keys)
    ? keys.length === 0
    : keys === undefined && Object.keys(answer.data ?? {}).length === 0;
};

/** The 404 of a read or list without a result. */
export const nothingFound = (): EdgeResponse => jsonResponse(404, { errors: [] });

/** The error document of a KeelsonError. */
export const renderSecretsError = (error: unknown): EdgeResponse => {
  const known = KeelsonError.from(error);
  const document = { errors: known.message === '' ? [] : [known.message] };
  const headers = { ...JSON_HEADERS, ...allowHeader(known), ...retryHeader(known) };
  return edgeResponse(known.httpStatus, headers, Buffer.from(JSON.stringify(document)));
};

/**
 * Error documents of /v1, for `createEdgeService`.
 * @param onUnexpected called with errors that are bugs, including their cause; the client only receives the
 * id of the request, by which the log entry can be found
 */
export const createSecretsErrorRenderer =
  (onUnexpected: (error: unknown, requestId: string) => void) =>
  (thrown: unknown, { head: { requestId } }: Pick<EdgeRequest, 'head'>): EdgeResponse => {
    const error = KeelsonError.from(thrown);
    if (error.code !== 'internal') return renderSecretsError(error);
    onUnexpected(thrown, requestId);
    return jsonResponse(500, { errors: [`${error.message}, request id ${requestId}`] });
  };
