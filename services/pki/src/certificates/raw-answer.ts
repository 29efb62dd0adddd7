/** Answers with a media type other than JSON. */
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
 * is hidden from a client that asks later. undefined: the time is unknown, or the second is not over.
 */
const lastModifiedMs = (modifiedAtMs: number | undefined, nowMs: number): number | undefined => {
  if (modifiedAtMs === undefined) return undefined;
  const endMs = (Math.floor(modifiedAtMs / 1000) + 1) * 1000;
  return endMs <= nowMs ? endMs : undefined;
};

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

/** Bytes of a type, or 304 where the client has them already. */
export const rawUnlessUnmodified = async (
  freshness: Freshness,
  modifiedAtMs: number | undefined,
  contentType: string,
  content: () => Uint8Array | string | Promise<Uint8Array>,
): Promise<FinalAnswer> => {
  const unmodified = unmodifiedAnswer(freshness, modifiedAtMs);
  if (unmodified !== undefined) return unmodified;
  const lastMs = lastModifiedMs(modifiedAtMs, freshness.nowMs);
  return rawAnswer(
    contentType,
    await content(),
    lastMs === undefined ? {} : { 'last-modified': new Date(lastMs).toUTCString() },
  );
};
