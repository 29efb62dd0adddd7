/** The data of a request as one object, from its JSON or form body or its query string. */
import { type EdgeBody, parseJson, type RouteExchange, SECRETS_LIMITS } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import { isJsonObject, type JsonObject } from './coercions.ts';

const MERGE_PATCH = 'application/merge-patch+json';
const FORM = 'application/x-www-form-urlencoded';
const SAMPLE_BYTES = 512;
const AMPERSAND = 0x26;

/** The parts of a request needed to read its body. */
export interface BodySource {
  readonly head: Pick<RequestHead, 'headers'>;
  readonly body: EdgeBody;
}

/** The parts of a request needed to read its query string. */
export interface QuerySource {
  readonly head: Pick<RequestHead, 'query'>;
  readonly query: URLSearchParams;
}

const mediaType = (exchange: BodySource): string =>
  (exchange.head.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';

/** A repeated parameter becomes a list. */
const fromPairs = (pairs: Iterable<readonly [string, string]>): JsonObject => {
  const values = new Map<string, string | string[]>();
  for (const [name, value] of pairs) {
    const before = values.get(name);
    if (before === undefined) values.set(name, value);
    else if (Array.isArray(before)) before.push(value);
    else values.set(name, [before, value]);
  }
  return Object.fromEntries(values);
};

/** curl labels every body as a form, so that the label alone proves nothing. */
const looksLikeForm = (bytes: Uint8Array): boolean => {
  const start = new TextDecoder().decode(bytes.subarray(0, SAMPLE_BYTES)).trimStart();
  return /^[^\s{["=]+=/.test(start);
};

const parseJsonObject = (bytes: Uint8Array): JsonObject => {
  const document = parseJson(bytes, SECRETS_LIMITS.json);
  if (document === null) return {};
  if (!isJsonObject(document))
    throw new KeelsonError('request.malformed_json', { reason: 'it is not an object' });
  return document;
};

/** @throws KeelsonError `request.invalid` */
const parseForm = (bytes: Uint8Array): JsonObject => {
  // Parameters are counted before they are parsed, as the entries of JSON are (libs/edge, json-text.ts).
  let count = 1;
  for (let at = bytes.indexOf(AMPERSAND); at !== -1; at = bytes.indexOf(AMPERSAND, at + 1)) {
    count += 1;
    if (count > SECRETS_LIMITS.parameters)
      throw new KeelsonError('request.invalid', {
        text: `a form has at most ${SECRETS_LIMITS.parameters} parameters`,
      });
  }
  return fromPairs(new URLSearchParams(new TextDecoder().decode(bytes)));
};

/** The query parameters, without `list`, which only chooses the operation. */
export const readQuery = (exchange: QuerySource): JsonObject => {
  if (exchange.head.query === '') return {};
  const { list: _, ...data } = fromPairs(exchange.query) as Record<string, unknown>;
  return data;
};

/**
 * The body of a write.
 * @throws KeelsonError `request.malformed_json`, `request.invalid`, `request.too_large`
 */
export const readBody = async (exchange: BodySource): Promise<JsonObject> => {
  const bytes = await exchange.body.bytes(SECRETS_LIMITS.bodyBytes);
  if (bytes.byteLength === 0) return {};
  if (mediaType(exchange) === FORM && looksLikeForm(bytes)) return parseForm(bytes);
  return parseJsonObject(bytes);
};

/**
 * The merge patch document of a PATCH.
 * @throws KeelsonError `request.unsupported_media_type` and those of `readBody`
 */
export const readPatch = async (exchange: RouteExchange): Promise<JsonObject> => {
  const type = mediaType(exchange);
  if (type !== MERGE_PATCH)
    throw new KeelsonError('request.unsupported_media_type', {
      text: `PATCH requires Content-Type of ${MERGE_PATCH}, provided ${type}`,
    });
  const bytes = await exchange.body.bytes(SECRETS_LIMITS.bodyBytes);
  return bytes.byteLength === 0 ? {} : parseJsonObject(bytes);
};
