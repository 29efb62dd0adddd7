/** Answers that are bytes of a type of their own. */
import { type FinalAnswer, rawResponse } from '@keelson/secrets-api';

const NOTHING = new Uint8Array(0);

/** Bytes of a type; nothing to show is 204 on these paths. */
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

/**
 * The same, or 304 where the client has this state already (RFC 9110 §13.1.3). Times on the wire are
 * whole seconds.
 */
export const rawUnlessUnmodified = async (
  requestHeaders: Readonly<Record<string, string>>,
  modifiedAtMs: number,
  contentType: string,
  content: () => Uint8Array | Promise<Uint8Array>,
): Promise<FinalAnswer> => {
  const modifiedAtSecondMs = Math.floor(modifiedAtMs / 1000) * 1000;
  const headers = { 'last-modified': new Date(modifiedAtSecondMs).toUTCString() };
  const sinceMs = Date.parse(requestHeaders['if-modified-since'] ?? '');
  return modifiedAtSecondMs <= sinceMs
    ? rawResponse(304, '', NOTHING, headers)
    : rawAnswer(contentType, await content(), headers);
};
