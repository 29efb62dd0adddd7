/** The body of a client's request: never parsed, limited in size, read as the service asks for it. */
import type { IncomingMessage } from 'node:http';
import { bufferedBody, type EdgeBody } from '@keelson/edge';
import { guarded, KeelsonError } from '@keelson/errors';
import type { BodyHolding } from '../limits/body-budget.ts';
import type { Exchange } from './exchange.ts';

const NOTHING = new Uint8Array(0);
const NO_BODY = bufferedBody(NOTHING);

/**
 * Collects the pieces of a body in one block, doubled whenever it is full. Keeping the pieces
 * themselves would fragment the C library's heap, which then returns no memory to the system.
 */
class GatheredBytes {
  #block: Uint8Array = NOTHING;
  #length = 0;

  append(piece: Uint8Array): void {
    const length = this.#length + piece.byteLength;
    // Most bodies arrive in one piece, which is used without copying.
    if (this.#length === 0) this.#block = piece;
    else {
      if (length > this.#block.byteLength) {
        const larger = Buffer.allocUnsafeSlow(Math.max(length, 2 * this.#block.byteLength));
        larger.set(this.bytes);
        this.#block = larger;
      }
      this.#block.set(piece, this.#length);
    }
    this.#length = length;
  }

  get bytes(): Uint8Array {
    return this.#block.subarray(0, this.#length);
  }

  clear(): void {
    this.#block = NOTHING;
    this.#length = 0;
  }
}

/** Limits of one body. */
export interface BodyRules {
  readonly limitBytes: number;
  /** Opens the holding in which the arriving bytes are counted. */
  readonly hold: () => BodyHolding;
}

const limited = async function* (
  request: IncomingMessage,
  limitBytes: number,
  onEnd: () => Promise<void>,
): AsyncIterable<Uint8Array> {
  let total = 0;
  // Not destroyed when a reader stops: Node would detach the socket and leave it open and unread.
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    total += chunk.byteLength;
    if (total > limitBytes) throw new KeelsonError('request.too_large', { limitBytes });
    yield chunk;
  }
  await onEnd();
};

/**
 * Reads a whole body by events: most bodies are small, and async iteration would cost more than
 * reading them.
 */
const receive = (
  request: IncomingMessage,
  limitBytes: number,
  holding: BodyHolding,
): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const breakOff = (): void => reject(new KeelsonError('request.cancelled'));
    if (request.destroyed) return breakOff();
    const gathered = new GatheredBytes();
    let total = 0;
    const onData = guarded('gateway/request', (chunk: Buffer): void => {
      total += chunk.byteLength;
      try {
        if (total > limitBytes) throw new KeelsonError('request.too_large', { limitBytes });
        holding.take(chunk.byteLength);
        gathered.append(chunk);
      } catch (error) {
        // Later bytes are discarded.
        request.off('data', onData);
        gathered.clear();
        reject(error as Error);
      }
    });
    request.on('data', onData);
    request.once(
      'end',
      guarded('gateway/request', () => {
        // Removed, because 'close' follows every request, and creating an unused error costs more
        // than receiving the body.
        request.off('close', breakOff);
        resolve(gathered.bytes);
      }),
    );
    request.once('error', reject);
    request.once('close', breakOff);
  });

const collect = async (chunks: AsyncIterable<Uint8Array>): Promise<Uint8Array> => {
  const gathered = new GatheredBytes();
  for await (const chunk of chunks) gathered.append(chunk);
  return gathered.bytes;
};

/** The announced size of the body; `undefined` if it is sent in chunks. */
const announcedBytes = ({ headers }: IncomingMessage): number | undefined => {
  const announced = headers['content-length'];
  if (announced !== undefined) return Number(announced);
  return headers['transfer-encoding'] === undefined ? 0 : undefined;
};

/**
 * Whether the whole request has been received, so that a decision that is made from now on is as
 * recent as the request.
 */
export const hasArrived = (request: IncomingMessage): boolean =>
  request.complete || announcedBytes(request) === 0;

const requireWithin = (sizeBytes: number | undefined, limitBytes: number): void => {
  if (sizeBytes !== undefined && sizeBytes > limitBytes)
    throw new KeelsonError('request.too_large', { limitBytes });
};

/**
 * The whole body. It is complete before the request is passed on, because the rights of the caller
 * are looked up when the last byte has arrived: a client that keeps a body open would otherwise act
 * with rights that have ended.
 * @throws KeelsonError `request.too_large`, `request.bodies_under_way`
 */
export const wholeBody = async (
  request: IncomingMessage,
  { limitBytes, hold }: BodyRules,
): Promise<EdgeBody> => {
  const sizeBytes = announcedBytes(request);
  if (sizeBytes === 0) return NO_BODY;
  requireWithin(sizeBytes, limitBytes);
  return bufferedBody(await receive(request, limitBytes, hold()));
};

/**
 * A body of any size, passed on as it arrives.
 * @param onEnd called when its last byte has arrived; an error of it ends the body
 * @throws KeelsonError `request.too_large`
 */
export const streamedBody = (
  request: IncomingMessage,
  limitBytes: number,
  onEnd: () => Promise<void> = () => Promise.resolve(),
): EdgeBody => {
  const sizeBytes = announcedBytes(request);
  if (sizeBytes === 0) return NO_BODY;
  requireWithin(sizeBytes, limitBytes);
  return {
    bytes: (ownLimitBytes) => collect(limited(request, Math.min(limitBytes, ownLimitBytes), onEnd)),
    chunks: () => limited(request, limitBytes, onEnd),
  };
};

/** Whether reading the body began and stopped before its end. */
export const isCutShort = (request: IncomingMessage): boolean =>
  request.readableDidRead && !request.complete;

/** Time for which the rest of an oversized body is received and discarded. */
const DISCARD_WITHIN_MS = 1000;

/**
 * Discards the rest of a refused body, for a bounded time: closing a connection with unread bytes
 * resets it, and the client would see a broken connection instead of the answer.
 */
const discardRest = (request: IncomingMessage): Promise<void> =>
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

/**
 * Closes the connection with the response, because the rest of an unread body would be parsed as the next
 * request.
 */
export const endWithAnswer = async ({ request, answerHeaders }: Exchange): Promise<void> => {
  answerHeaders['connection'] = 'close';
  await discardRest(request);
};
