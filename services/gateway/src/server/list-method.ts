/**
 * LIST as a real method, although Node's parser knows no such method.
 *
 * The parser itself finds the place: it stops with HPE_INVALID_METHOD at the third letter of a request
 * that begins LIST, having framed everything before it. When the answers before it have been sent, the
 * connection is given to the server again from that request on, as a connection whose first method
 * reads LINK and is answered as LIST. No framing is done here, so there is no second opinion on where a
 * request ends, and nothing through which a request could be smuggled.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ContinuedConnection } from './continued-connection.ts';

/** Letters of LIST that the parser accepts, as it knows LINK. */
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

interface Progress {
  unanswered: number;
  /** The request parsed last; what stops the parser while it is incomplete is in its body. */
  latest: IncomingMessage | undefined;
  onAnswered: (() => void) | undefined;
}

/**
 * Bytes from the start of a LIST request on; undefined when something else stopped the parser. Letters
 * that came in an earlier packet are taken for those of LIST: a listener for every packet would keep
 * Node from reading the socket in native code, at 6 µs for each request. What is lost is the refusal of
 * a method that does not exist and is cut within its first letters, as GE, then ST.
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
  /** The method of a request, which may be LIST. Called once for each request, in order. */
  takeMethod(request: IncomingMessage, response: ServerResponse): string;
  /** True when the error was a LIST request, which is then under way; false leaves the connection alone. */
  continueAsList(error: ParseError, connection: Connection): boolean;
  /**
   * Calls back when an answer to what stopped the parser is next: answers go out in the order of the
   * requests (RFC 9112 §9.3.2). A request whose body is broken has no other answer than that.
   */
  whenNext(connection: Connection, proceed: () => void): void;
}

/** Teaches a server LIST. `event` is what the server takes a connection by. */
export const teachList = (server: Server, event: 'connection' | 'secureConnection'): ListMethod => {
  const progressOf = new WeakMap<object, Progress>();

  server.on(event, (connection: Connection) => {
    const progress: Progress = {
      unanswered: 0,
      latest: undefined,
      onAnswered: undefined,
    };
    progressOf.set(connection, progress);
  });

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
    // Told while nobody listened, because an earlier answer was under way.
    if (raw.readableEnded) continued.push(null);
    raw.resume();
  };

  const whenNext = (connection: Connection, proceed: () => void): void => {
    const progress = progressOf.get(connection);
    const before = (progress?.unanswered ?? 0) - (progress?.latest?.complete === false ? 1 : 0);
    if (progress === undefined || before <= 0) proceed();
    else progress.onAnswered = proceed;
  };

  return {
    takeMethod: (request, response) => {
      const { socket, method = '' } = request;
      const progress = progressOf.get(socket);
      if (progress !== undefined) {
        progress.unanswered += 1;
        progress.latest = request;
        response.once('close', () => {
          progress.unanswered -= 1;
          if (progress.unanswered === (progress.latest?.complete === false ? 1 : 0))
            progress.onAnswered?.();
        });
      }
      const connection: unknown = socket;
      return connection instanceof ContinuedConnection && connection.takeList() ? 'LIST' : method;
    },

    continueAsList: (error, connection) => {
      if (connection instanceof ContinuedConnection && connection.isOtherMethod) return false;
      const progress = progressOf.get(connection);
      const bytes = progress && listBytes(error);
      if (progress === undefined || bytes === undefined) return false;
      // A listener ends the native reading; paused before that, the socket would not be read again.
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
