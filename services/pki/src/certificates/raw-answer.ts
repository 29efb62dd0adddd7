/** Answers with a media type other than JSON. */
import { hash } from 'node:crypto';
import { type FinalAnswer, rawResponse } from '@keelson/secrets-api';

export const CERTIFICATE_TYPE = 'application/pkix-cert';
export const CHAIN_TYPE = 'application/pem-certificate-chain';

/** The description of the answer to a read of one certificate. */
export const STORED_CERTIFICATE = {
  data: {
    certificate: { type: 'string', description: 'PEM.' },
    revocation_time: { type: 'number', description: 'Unix time, or 0.' },
    revocation_time_rfc3339: { type: 'string' },
    issuer_id: { type: 'string' },
  },
} as const;

const NOTHING = new Uint8Array(0);

/** Bytes with a media type; 204 where there is nothing to show. */
export const rawAnswer = (
  contentType: string,
  content: Uint8Array | string | undefined,
  headers: Readonly<Record<string, string>> = {},
): FinalAnswer =>
  content === undefined
    ? rawResponse(204, '', NOTHING)
    : rawResponse(
        200,
        contentType,
        typeof content === 'string' ? Buffer.from(content) : content,
        headers,
      );

/** The headers of a request, which name the version that the client already has, and its time. */
export interface Freshness {
  readonly headers: Readonly<Record<string, string>>;
  readonly nowMs: number;
}

/**
 * The `Last-Modified` for a change at this time: the end of its second, so that no change within that second
 * is hidden from a client that asks later. Undefined if the time is unknown, or the second is not over.
 */
const lastModifiedMs = (modifiedAtMs: number | undefined, nowMs: number): number | undefined => {
  if (modifiedAtMs === undefined) return undefined;
  const endMs = (Math.floor(modifiedAtMs / 1000) + 1) * 1000;
  return endMs <= nowMs ? endMs : undefined;
};

const MAX_AGE_SECONDS = 300;

/**
 * How a public answer may be stored (RFC 9111, RFC 5019 §6.2): for five minutes, so that a change is seen soon, and
 * never beyond half of the validity that is left; after that, one conditional request shows that it is current.
 * @param nextUpdateMs end of the validity; undefined if the content does not expire
 */
const cacheControl = (nextUpdateMs: number | undefined, nowMs: number): string => {
  const leftSeconds =
    nextUpdateMs === undefined ? Number.POSITIVE_INFINITY : (nextUpdateMs - nowMs) / 2000;
  const seconds = Math.max(0, Math.min(MAX_AGE_SECONDS, Math.floor(leftSeconds)));
  return `max-age=${seconds}, public, no-transform, must-revalidate`;
};

/** The same bytes are served until they change, and may be megabytes. */
const etags = new WeakMap<Uint8Array, string>();

const etagOf = (content: Uint8Array): string => {
  let etag = etags.get(content);
  if (etag === undefined) {
    etag = `"${hash('sha256', content, 'base64url')}"`;
    etags.set(content, etag);
  }
  return etag;
};

/** RFC 9110 §13.1.2: the weak comparison. */
const namesEtag = (ifNoneMatch: string, etag: string): boolean =>
  ifNoneMatch.trim() === '*' ||
  ifNoneMatch.split(',').some((candidate) => candidate.trim().replace(/^W\//, '') === etag);

/** 304 where the client has this state already (RFC 9110 §13.1.3), else undefined. */
export const unmodifiedAnswer = (
  { headers, nowMs }: Freshness,
  modifiedAtMs: number | undefined,
): FinalAnswer | undefined => {
  const lastMs = lastModifiedMs(modifiedAtMs, nowMs);
  const sinceMs = Date.parse(headers['if-modified-since'] ?? '');
  return lastMs !== undefined && lastMs <= sinceMs
    ? rawResponse(304, '', NOTHING, { 'last-modified': new Date(lastMs).toUTCString() })
    : undefined;
};

/** Bytes that are public, and the times that decide how long a copy of them is current. */
export interface PublicContent {
  readonly contentType: string;
  readonly content: Uint8Array | string;
  readonly modifiedAtMs: number | undefined;
  /** End of the validity; undefined if the content does not expire. */
  readonly nextUpdateMs?: number | undefined;
}

/** Headers of a public answer, and whether the client has its content already. */
export const publicHeaders = (
  { headers, nowMs }: Freshness,
  { content, modifiedAtMs, nextUpdateMs }: Omit<PublicContent, 'contentType'>,
): { readonly isKnown: boolean; readonly headers: Readonly<Record<string, string>> } => {
  const etag = etagOf(typeof content === 'string' ? Buffer.from(content) : content);
  const lastMs = lastModifiedMs(modifiedAtMs, nowMs);
  const ifNoneMatch = headers['if-none-match'];
  const sinceMs = Date.parse(headers['if-modified-since'] ?? '');
  return {
    // RFC 9110 §13.1.3: the time does not count where the client names a version.
    isKnown:
      ifNoneMatch === undefined
        ? lastMs !== undefined && lastMs <= sinceMs
        : namesEtag(ifNoneMatch, etag),
    headers: {
      'cache-control': cacheControl(nextUpdateMs, nowMs),
      etag,
      ...(lastMs !== undefined && { 'last-modified': new Date(lastMs).toUTCString() }),
    },
  };
};

/** Public bytes of a type, or 304 where the client has them already. */
export const publicAnswer = (freshness: Freshness, shown: PublicContent): FinalAnswer => {
  const { isKnown, headers } = publicHeaders(freshness, shown);
  return isKnown
    ? rawResponse(304, '', NOTHING, headers)
    : rawAnswer(shown.contentType, shown.content, headers);
};
