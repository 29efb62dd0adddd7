/** Limits of HTTP/2 connections, and the conversion of their requests to the form of HTTP/1.1. */

import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  constants,
  type Http2SecureServer,
  Http2ServerRequest,
  type Http2ServerResponse,
  type SecureServerOptions,
  type ServerHttp2Session,
} from 'node:http2';
import { guarded } from '@keelson/errors';

/** Number of bytes that a client may send before they are read. */
const STREAM_WINDOW_BYTES = 256 * 1024;
const SESSION_WINDOW_BYTES = 1024 * 1024;

/** RFC 9113 §6.5.2 recommends no fewer. */
const MAX_STREAMS = 100;

export const HTTP2_LIMITS = (maxHeadBytes: number, maxHeaders: number): SecureServerOptions => ({
  settings: {
    maxConcurrentStreams: MAX_STREAMS,
    maxHeaderListSize: maxHeadBytes,
    initialWindowSize: STREAM_WINDOW_BYTES,
    enablePush: false,
  },
  // Four of them are the pseudo-headers.
  maxHeaderListPairs: maxHeaders + 4,
  // Streams that a client resets before their answer ("rapid reset", CVE-2023-44487): at once, and
  // each second. Beyond that the connection ends.
  streamResetBurst: 500,
  streamResetRate: 50,
  maxSessionInvalidFrames: 100,
  maxSessionRejectedStreams: 100,
});

export interface SessionLimits {
  /** Time limit for the first request of a connection. */
  readonly firstRequestMs: number;
  /** Time after which a connection without a request in progress is closed. */
  readonly keepAliveMs: number;
}

export interface Sessions {
  /** Ends the sessions in which no request has ever begun, as browsers open them in advance. */
  endUnused: () => void;
}

/** Closes sessions in which no request is in progress, and those that never send one. */
export const limitSessions = (server: Http2SecureServer, limits: SessionLimits): Sessions => {
  const unused = new Set<ServerHttp2Session>();
  server.on(
    'session',
    guarded('gateway/server', (session: ServerHttp2Session) => {
      unused.add(session);
      session.setLocalWindowSize(SESSION_WINDOW_BYTES);
      let open = 0;
      let idle = setTimeout(() => session.destroy(), limits.firstRequestMs);
      session.on(
        'stream',
        guarded('gateway/server', (stream) => {
          open += 1;
          unused.delete(session);
          clearTimeout(idle);
          stream.once('close', () => {
            open -= 1;
            // Bytes of a request that is never completed do not count as activity.
            if (open === 0 && !session.destroyed)
              idle = setTimeout(() => session.destroy(), limits.keepAliveMs);
          });
        }),
      );
      session.once('close', () => {
        unused.delete(session);
        clearTimeout(idle);
      });
    }),
  );
  return {
    endUnused: () => {
      for (const session of unused) session.destroy();
    },
  };
};

/**
 * Whether this is an HTTP/2 request, which node:http2 presents with the properties of HTTP/1.1 that the
 * gateway uses. The stated version proves nothing: a client may write HTTP/2.0 in an HTTP/1.1 request.
 */
const isHttp2 = (request: IncomingMessage | Http2ServerRequest): request is Http2ServerRequest =>
  request instanceof Http2ServerRequest;

const headBytes = (rawHeaders: readonly string[]): number =>
  rawHeaders.reduce((total, text) => total + text.length, 0);

/** Aborts the body of a request that its client resets; node:http2 would end it as if it were complete. */
const failWhenReset = (request: Http2ServerRequest): void => {
  const { stream } = request;
  const check = (): void => {
    if (stream.aborted || stream.rstCode !== constants.NGHTTP2_NO_ERROR)
      request.destroy(new Error('the client has reset the request'));
  };
  // Runs before the listeners that end the request.
  stream.prependListener('end', check).prependListener('close', check);
  request.on('error', () => undefined);
};

/** Whether the client has sent its last byte; node:http2 would say so only after the body has been read. */
const showArrival = (request: Http2ServerRequest): void => {
  const { stream } = request;
  Object.defineProperty(request, 'complete', {
    get: () => stream.endAfterHeaders || stream.destroyed || stream.state.remoteClose === 1,
  });
};

/** Ends a stream with its answer even if the client is still sending a body (RFC 9113 §8.1). */
const endWithAnswer = ({ stream }: Http2ServerResponse): void => {
  // A request without a body has ended, even if its end is never read.
  if (stream.endAfterHeaders) return;
  stream.once('finish', () =>
    // The final frame of the answer is written after this event; an earlier reset would truncate the answer.
    setImmediate(() => {
      if (!stream.readableEnded && !stream.closed) stream.close(constants.NGHTTP2_NO_ERROR);
    }),
  );
};

/**
 * Adds the HTTP/1.1 properties that node:http2 omits: the headers for the host and the presence of a body,
 * whether the request has arrived as a whole, and an error if it is aborted.
 * @returns whether to answer the request; one with an oversized head is refused here, because a client may send
 * it before it has acknowledged the limit
 */
export const adaptHttp2 = (
  request: IncomingMessage | Http2ServerRequest,
  response: ServerResponse | Http2ServerResponse,
  maxHeadBytes: number,
): boolean => {
  if (!isHttp2(request)) return true;
  failWhenReset(request);
  showArrival(request);
  endWithAnswer(response as Http2ServerResponse);
  if (headBytes(request.rawHeaders) > maxHeadBytes) {
    (response as Http2ServerResponse).writeHead(431).end();
    return false;
  }
  const { headers, stream } = request;
  headers.host ??= request.authority;
  if (!stream.endAfterHeaders && headers['content-length'] === undefined)
    headers['transfer-encoding'] = 'chunked';
  return true;
};
