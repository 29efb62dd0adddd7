/** The body of a client's request, never parsed, limited in size, read as the service asks for it. */
import type { IncomingMessage } from 'node:http';
import { bufferedBody, type EdgeBody } from '@keelson/edge';
import { KeelsonError } from '@keelson/errors';

/** A body announced as no larger is read at once, so that it travels in one frame with its head. */
const SMALL_BYTES = 65_536;

const NO_BODY = bufferedBody(new Uint8Array(0));

const joined = (parts: readonly Uint8Array[]): Uint8Array =>
  parts.length === 1 && parts[0] !== undefined ? parts[0] : Buffer.concat(parts);

const limited = async function* (
  request: IncomingMessage,
  limitBytes: number,
): AsyncIterable<Uint8Array> {
  let total = 0;
  // Not destroyed by who stops reading: node would take the socket from it and leave that standing, unread.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    total += chunk.byteLength;
    if (total > limitBytes) throw new KeelsonError('request.too_large', { limitBytes });
    yield chunk;
  }
};

/** A whole body by its events: small ones are most of what arrives, and iterating costs more than they do. */
const receive = (request: IncomingMessage, limitBytes: number): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const breakOff = (): void => reject(new KeelsonError('request.cancelled'));
    if (request.destroyed) return breakOff();
    const parts: Buffer[] = [];
    let total = 0;
    request.on('data', (chunk: Buffer) => {
      total += chunk.byteLength;
      if (total <= limitBytes) parts.push(chunk);
      else reject(new KeelsonError('request.too_large', { limitBytes }));
    });
    request.once('end', () => {
      // It closes after each request: an error made for nothing costs more than receiving the body.
      request.off('close', breakOff);
      resolve(joined(parts));
    });
    request.once('error', reject);
    request.once('close', breakOff);
  });

const collect = async (chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const parts: Uint8Array[] = [];
  for await (const chunk of chunks) parts.push(chunk);
  return joined(parts);
};

/**
 * @param whole when it must be in memory before it is passed on: it is audited, or may be sent twice
 * @throws KeelsonError `request.too_large`
 */
export const incomingBody = async (
  request: IncomingMessage,
  limitBytes: number,
  whole: boolean,
): Promise<EdgeBody> => {
  const { headers } = request;
  const announced = headers['content-length'];
  if (announced === undefined && headers['transfer-encoding'] === undefined) return NO_BODY;
  const sizeBytes = announced === undefined ? undefined : Number(announced);
  if (sizeBytes === 0) return NO_BODY;
  if (sizeBytes !== undefined && sizeBytes > limitBytes)
    throw new KeelsonError('request.too_large', { limitBytes });
  if (whole || (sizeBytes !== undefined && sizeBytes <= SMALL_BYTES))
    return bufferedBody(await receive(request, limitBytes));
  return {
    bytes: (ownLimitBytes) => collect(limited(request, Math.min(limitBytes, ownLimitBytes))),
    chunks: () => limited(request, limitBytes),
  };
};

/** Whether somebody began to read the body and gave up before its end. */
export const isCutShort = (request: IncomingMessage): boolean =>
  request.readableDidRead && !request.complete;

/** How long a client that sends too much is still listened to. */
const DISCARD_WITHIN_MS = 1000;

/**
 * Lets the rest of a refused body run dry, for a bounded time: closing a connection with bytes unread
 * resets it, and the client would see a broken connection instead of the answer.
 */
export const discardRest = (request: IncomingMessage): Promise<void> =>
  new Promise((resolve) => {
    if (request.complete || request.destroyed) return resolve();
    const timer = setTimeout(resolve, DISCARD_WITHIN_MS);
    request.once('close', () => {
      clearTimeout(timer);
      resolve();
    });
    request.once('end', () => {
      clearTimeout(timer);
      resolve();
    });
    request.resume();
    return undefined;
  });
