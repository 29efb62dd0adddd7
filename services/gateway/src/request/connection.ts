import type { IncomingMessage } from 'node:http';
import { Http2ServerRequest } from 'node:http2';

/** The connection of a request, which several requests of HTTP/2 share. */
export const connectionOf = (request: IncomingMessage | Http2ServerRequest): object =>
  (request instanceof Http2ServerRequest ? request.stream.session : undefined) ?? request.socket;
