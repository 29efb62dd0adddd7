/**
 * Support for the LIST method, which Node's parser does not know.
 *
 * The parser stops with HPE_INVALID_METHOD at the third letter of LIST, having framed everything
 * before it. Once the earlier responses have been sent, the connection is handed to the server
 * again, starting at that request, as a connection whose first method is changed to LINK and
 * answered as LIST. No framing is done here: only one parser decides where a request ends, so no
 * request can be smuggled.
 */

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Server, Socket } from 'node:net';
import { guarded } from '@keelson/errors';
import { ContinuedConnection } from './continued-connection.ts';

/** Letters of LIST that the parser accepts because it knows LINK. */
const ACCEPTED = Buffer.from('LI');
const REFUSED = 'S'.charCodeAt(0);

type Connection = Socket | ContinuedConnection;

interface ParseError extends Error {
  readonly code?: string;
  readonly bytesParsed?: number;
  readonly rawPacket?: Buffer;
}

/** A connection with its parser; only `remove`, which ends the parser's time limits, is used. */
interface Parsed {
  readonly parser?: { remove?(): void } | null;
}

/** The last two requests of a connection. */
interface Progress {
  /** While this request is incomplete, an error of the parser is in its body. */
  latest: IncomingMessage | undefined;
  latestResponse: ServerResponse | undefined;
  previousResponse: ServerResponse | undefined;
}

/**
 * The bytes from the start of a LIST request; undefined when something else stopped the parser.
 * Letters that arrived in an earlier packet are assumed to be those of LIST, because a listener for
 * every packet would keep Node from reading the socket in native code, at 6 µs per request. The
 * only consequence: an unknown method that is split within its first letters, such as GE and ST, is
 * not refused.
 */
const listBytes = ({ code, bytesParsed, rawPacket }: ParseError): Buffer | undefined => {
  if (code !== 'HPE_INVALID_METHOD' || rawPacket === undefined || bytesParsed === undefined)
    return undefined;
  const accepted = rawPacket.subarray(Math.max(0, bytesParsed - ACCEPTED.length), bytesParsed);
  const isList =
    rawPacket[bytesParsed] === REFUSED &&
    accepted.equals(ACCEPTED.subarray(ACCEPTED.length - accepted.length));
  return isList ? Buffer.concat([ACCEPTED, rawPacket.subarray(bytesParsed)]) : undefined;
};

export interface ListMethod {
  /** Called with each request, in order; restores the method of a request that was sent as LIST. */
  admit(request: IncomingMessage, response: ServerResponse): void;
  /**
   * Returns true if the error was a LIST request, which is now handled; otherwise the connection is
   * unchanged.
   */
  continueAsList(error: ParseError, connection: Connection): boolean;
  /**
   * Calls `proceed` when the answer to the parser's error is next in line: answers are sent in the
   * order of the requests (RFC 9112 §9.3.2). For a request whose body is malformed, the error is
   * the answer.
   */
  whenNext(connection: Connection, proceed: () => void): void;
}

/** Makes a server accept LIST. `event` is the event with which its parser receives a connection. */
export const teachList = (server: Server, event: string): ListMethod => {
  const progressOf = new WeakMap<object, Progress>();

  server.on(
    event,
    guarded('gateway/server', (connection: Connection) => {
      progressOf.set(connection, {
        latest: undefined,
        latestResponse: undefined,
        previousResponse: undefined,
      });
    }),
  );

  const handOver = (connection: Connection, bytes: Buffer): void => {
    if (connection.destroyed || connection.writableEnded) return;
    const isContinued = connection instanceof ContinuedConnection;
    const unread = isContinued ? connection.release() : Buffer.alloc(0);
    const raw = isContinued ? connection.raw : connection;
    raw.setTimeout(0);
    for (const listened of ['timeout', 'drain']) raw.removeAllListeners(listened);
    const continued = new ContinuedConnection(raw, event === 'secureConnection');
    server.emit(event, continued);
    continued.receive(Buffer.concat([bytes, unread]));
    // The connection ended while an earlier response was in progress, when nothing listened for it.
    if (raw.readableEnded) continued.push(null);
    raw.resume();
  };

  const whenNext = (connection: Connection, proceed: () => void): void => {
    const progress = progressOf.get(connection);
    // Answers are sent in the order of their requests: once the last one has been sent, all have.
    const last =
      progress?.latest?.complete === false ? progress.previousResponse : progress?.latestResponse;
    if (last === undefined || last.closed) proceed();
    else last.once('close', proceed);
  };

  return {
    admit: (request, response) => {
      const { socket } = request;
      const progress = progressOf.get(socket);
      if (progress !== undefined) {
        progress.previousResponse = progress.latestResponse;
        progress.latest = request;
        progress.latestResponse = response;
      }
      const connection: unknown = socket;
      if (connection instanceof ContinuedConnection && connection.takeList())
        request.method = 'LIST';
    },

    continueAsList: (error, connection) => {
      if (connection instanceof ContinuedConnection && connection.isOtherMethod) return false;
      const progress = progressOf.get(connection);
      const bytes = progress && listBytes(error);
      if (progress === undefined || bytes === undefined) return false;
      // A listener ends native reading; if the socket were paused before that, it would not be read
      // again.
      connection.on('data', () => undefined);
      connection.pause();
      for (const listened of ['data', 'end']) connection.removeAllListeners(listened);
      (connection as Parsed).parser?.remove?.();
      whenNext(connection, () => handOver(connection, bytes));
      return true;
    },

    whenNext,
  };
};
