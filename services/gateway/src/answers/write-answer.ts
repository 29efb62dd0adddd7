/** Writes the answer of a service to the connection. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { EdgeResponse } from '@keelson/edge';

/**
 * node:http sends a string in one write with the head, but bytes as a vector of two, which costs
 * more than everything else about a small answer. Latin-1 preserves every byte.
 */
const ONE_WRITE_BYTES = 8_192;
const toLatin1 = ({ buffer, byteOffset, byteLength }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, byteLength).toString('latin1');

const CACHE_CONTROL = 'cache-control';

/** RFC 9112 §6.3: these have no content, and no length is announced. */
const hasNoContent = (status: number): boolean => status === 204 || status === 304 || status < 200;

/**
 * Writes the response. If the body fails midway, the connection is closed, so that no client takes
 * it for complete.
 * @param headers override the service's headers of the same name, except for `cache-control`: only the service
 *   knows whether an answer is the same for everybody
 * @returns undefined when the whole response has been written
 */
export const writeAnswer = (
  response: ServerResponse,
  { head, body }: EdgeResponse,
  headers: Readonly<Record<string, string>>,
): Promise<void> | undefined => {
  if (response.destroyed) return undefined;
  const lines: string[] = [];
  const decidesCaching = head.headers.some(({ name }) => name === CACHE_CONTROL);
  const overrides = (name: string): boolean =>
    name in headers && !(name === CACHE_CONTROL && decidesCaching);
  for (const name in headers) if (overrides(name)) lines.push(name, headers[name] ?? '');
  let hasLength = false;
  for (const { name, value } of head.headers) {
    if (name === 'content-length') hasLength = true;
    if (!overrides(name)) lines.push(name, value);
  }
  if (body instanceof Uint8Array) {
    if (!hasLength && !hasNoContent(head.status))
      lines.push('content-length', String(body.byteLength));
    response.writeHead(head.status, lines);
    if (body.byteLength > ONE_WRITE_BYTES) response.end(body);
    else response.end(toLatin1(body), 'latin1');
    return undefined;
  }
  response.writeHead(head.status, lines);
  return pipeline(Readable.from(body, { objectMode: false }), response);
};
