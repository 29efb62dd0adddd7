/**
 * The servers of the edge, HTTP/1.1 on the plain port and HTTP/2 or HTTP/1.1 on the TLS port: their limits,
 * the LIST method, certificates, and draining.
 */

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import { createSecureServer, type Http2SecureServer } from 'node:http2';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { guarded } from '@keelson/errors';
import type { CertificateSource } from '../tls/self-issued-certificate.ts';
import { ACCEPTED, type GuardRules, guardConnections } from './connection-guard.ts';
import { adaptHttp2, HTTP2_LIMITS, limitSessions, type Sessions } from './http2-sessions.ts';
import { type ListMethod, teachList } from './list-method.ts';
import { malformedRequestAnswer } from './malformed-request.ts';

// Not an import, which would evaluate the module's getters and thereby load undici (5 MB and 30
// ms).
const { createServer: createHttpServer } = process.getBuiltinModule('node:http');

/** Limit of a request's head: request line and headers. */
const MAX_HEAD_BYTES = 32_768;
/** Time limit for a request's head, and for the TLS handshake before the first request. */
const HEADERS_TIMEOUT_MS = 10_000;
const CHECK_INTERVAL_MS = 1_000;
const MAX_HEADERS = 100;

export interface ServerOptions {
  readonly address: string;
  readonly certificate?: CertificateSource | undefined;
  /** Whether a new connection of TLS is asked for a client certificate; the services decide whether to accept it. */
  readonly requestsClientCertificates: () => Promise<boolean>;
  /** Time limit for receiving a whole request; each kind of request has a shorter one. */
  readonly requestTimeLimitMs: number;
  readonly keepAliveMs: number;
  /** Maximum number of open connections on each of the two ports. */
  readonly maxConnections: number;
  /** Called for each connection beyond it. */
  readonly onRefused: () => void;
  readonly guard: Omit<GuardRules, 'withinMs' | 'beforeHandshake'>;
  /** Whether other threads of the process listen on the same ports. */
  readonly sharesPorts: boolean;
  /** Answers a request, whose method may be LIST. */
  readonly answer: RequestListener;
}

/** 0 chooses a free port. */
export interface EdgePorts {
  readonly http: number;
  readonly https: number;
}

export interface HttpServers {
  /** "http://127.0.0.1:8200". */
  listen(ports: EdgePorts): Promise<readonly string[]>;
  /** Refuses new connections, closes idle ones, and waits for those with a request in progress. */
  drain(withinMs: number): Promise<void>;
}

const listenOn = (
  server: NetServer,
  scheme: string,
  { port, host: wanted, reusePort }: { port: number; host: string; reusePort: boolean },
): Promise<string> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host: wanted, reusePort }, () => {
      server.off('error', reject);
      const bound = server.address() as AddressInfo;
      const host = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
      resolve(`${scheme}://${host}:${bound.port}`);
    });
  });

const closed = (server: NetServer): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
  });

export const createHttpServers = (options: ServerOptions): HttpServers => {
  const limits = {
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: options.requestTimeLimitMs + HEADERS_TIMEOUT_MS,
    keepAliveTimeout: options.keepAliveMs,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // Keelson answers a missing Host header with its own error document.
    requireHostHeader: false,
  };

  const guard = {
    ...options.guard,
    withinMs: HEADERS_TIMEOUT_MS,
    beforeHandshake: async () => {
      const requestCert = await options.requestsClientCertificates();
      // Read by the handshakes that begin from now on.
      if (https !== undefined) Object.assign(https, { requestCert });
    },
  };
  /** Open connections, which end when draining takes too long. */
  const connections = new Set<Socket>();
  /**
   * Connections of HTTP/1.1 on which no request has begun, as browsers open them in advance. Node calls them
   * neither idle nor late once the server is closing.
   */
  const unused = new Set<Socket>();

  const attend = (server: NetServer, event: typeof ACCEPTED | 'secureConnection'): void => {
    server.maxConnections = options.maxConnections;
    server.on('drop', options.onRefused);
    server.on('connection', (socket: Socket) => {
      connections.add(socket);
      socket.once('close', () => connections.delete(socket));
    });
    const list: ListMethod = teachList(server, event);
    server.on(event, (socket: Socket) => {
      if (socket instanceof TLSSocket && socket.alpnProtocol === 'h2') return;
      unused.add(socket);
      socket.once('close', () => unused.delete(socket));
    });
    server.on(
      'request',
      guarded('gateway/server', (request: IncomingMessage, response: ServerResponse) => {
        unused.delete(request.socket);
        list.admit(request, response);
        if (adaptHttp2(request, response, MAX_HEAD_BYTES)) options.answer(request, response);
      }),
    );
    server.on(
      'clientError',
      guarded('gateway/server', (error: Error, connection: Socket) => {
        if (list.continueAsList(error, connection)) return;
        connection.pause();
        list.whenNext(connection, () => {
          if (connection.writable)
            connection.end(malformedRequestAnswer(error), () => connection.destroy());
          else connection.destroy();
        });
      }),
    );
  };

  const http = createHttpServer(limits);
  http.maxHeadersCount = MAX_HEADERS;
  guardConnections(http, false, guard);
  attend(http, ACCEPTED);
  const servers: (Server | Http2SecureServer)[] = [http];
  let endRenewal = (): void => undefined;
  let https: Http2SecureServer | undefined;
  let sessions: Sessions | undefined;
  const { certificate } = options;
  if (certificate !== undefined) {
    const secure = createSecureServer({
      ...HTTP2_LIMITS(MAX_HEAD_BYTES, MAX_HEADERS),
      ...certificate.current(),
      allowHTTP1: true,
      http1Options: limits,
      handshakeTimeout: HEADERS_TIMEOUT_MS,
      minVersion: 'TLSv1.2',
      rejectUnauthorized: false,
    });
    // Read by its HTTP/1.1 side.
    Object.assign(secure, { maxHeadersCount: MAX_HEADERS });
    guardConnections(secure, true, guard);
    sessions = limitSessions(secure, {
      firstRequestMs: HEADERS_TIMEOUT_MS,
      keepAliveMs: options.keepAliveMs,
    });
    attend(secure, 'secureConnection');
    endRenewal = certificate.onRenewal((renewed) => secure.setSecureContext(renewed));
    servers.push(secure);
    https = secure;
  }
  return {
    listen: async (ports) => {
      const { address: host, sharesPorts: reusePort } = options;
      const addresses = [await listenOn(http, 'http', { port: ports.http, host, reusePort })];
      if (https !== undefined)
        addresses.push(await listenOn(https, 'https', { port: ports.https, host, reusePort }));
      return addresses;
    },
    drain: async (withinMs) => {
      endRenewal();
      const timer = setTimeout(() => {
        for (const connection of connections) connection.destroy();
      }, withinMs);
      const idle = setInterval(() => {
        for (const server of servers) (server as Server).closeIdleConnections();
        for (const connection of unused) connection.destroy();
        sessions?.endUnused();
        // Connections that wait at the guard have no request either.
        for (const connection of connections) if (connection.bytesRead === 0) connection.destroy();
      }, 50);
      await Promise.all(servers.filter((server) => server.listening).map(closed));
      clearInterval(idle);
      clearTimeout(timer);
    },
  };
};
