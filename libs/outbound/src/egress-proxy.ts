/**
 * The network access of git, and of a sandbox: an HTTP proxy for one fetch or one run. It resolves names itself and
 * connects only to permitted addresses, whatever a repository, redirect or submodule names. It closes all
 * connections once the byte limit is exceeded.
 */

import { randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import {
  createServer,
  type IncomingMessage,
  type ServerResponse,
  request as sendRequest,
} from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { guarded } from '@keelson/errors';

/** Why the proxy has refused or ended a connection. */
export class EgressRefusal extends Error {
  /** Another attempt would be refused in the same way. */
  readonly isFinal: boolean;

  constructor(message: string, { isFinal = false }: { readonly isFinal?: boolean } = {}) {
    super(message);
    this.isFinal = isFinal;
  }
}

export interface EgressProxy extends AsyncDisposable {
  /** The address with the credentials that the proxy asks for; a proxy on a socket asks for none. */
  readonly url: string;
  /** Why it refused or ended a connection, undefined when it did not. */
  readonly refusal: EgressRefusal | undefined;
}

/** Decides which addresses of a host are permitted. */
export interface AddressLookup {
  /** @param port to which a connection is wanted @throws Error that says why there is none */
  addressesOf(host: string, port?: number): Promise<readonly string[]>;
}

export interface EgressLimits {
  readonly addresses: AddressLookup;
  /** Absent if any number of bytes may be transferred. */
  readonly limit?: {
    /** In both directions, over all connections. */
    readonly bytes: number;
    /** Why it was too much. */
    readonly excess: string;
  };
  /**
   * Path of a socket to listen on. Whoever may connect to it needs no password, and reads whole answers. Without it
   * the proxy listens on loopback, where everybody may connect, with a password.
   */
  readonly socket?: string;
}

const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Connections at the same time. */
const MAX_CONNECTIONS = 512;

/** The headers that git reads. Others, which may be anything, are not passed on. */
const ANSWER_HEADERS = ['content-encoding', 'content-length', 'content-type', 'www-authenticate'];

type AnswerHeaders = Record<string, string | string[]>;

const toWholeHeaders = ({ headers }: IncomingMessage): AnswerHeaders =>
  Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined || HOP_HEADERS.has(name) ? [] : [[name, value]],
    ),
  );

const toAnswerHeaders = ({ headers }: IncomingMessage): AnswerHeaders =>
  Object.fromEntries(
    ANSWER_HEADERS.flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value]] : [];
    }),
  );

/** The host and port of a request to connect; undefined for anything else. */
const toTarget = (authority: string): URL | undefined => {
  const url = `http://${authority}`;
  return URL.canParse(url) ? new URL(url) : undefined;
};

const BAD_GATEWAY = 'HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n';

const toRefusal = (error: unknown): EgressRefusal => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (typeof code === 'string') return new EgressRefusal(code);
  return new EgressRefusal(error instanceof Error ? error.message : 'unknown error');
};

const toHeaders = (answer: IncomingMessage, path: string | undefined): AnswerHeaders =>
  path === undefined ? toAnswerHeaders(answer) : toWholeHeaders(answer);

/** @returns why an answer cannot be passed on */
const passOn = (
  answer: IncomingMessage,
  response: ServerResponse,
  headers: AnswerHeaders,
): EgressRefusal | undefined => {
  const status = answer.statusCode ?? 0;
  // Node writes no other status.
  if (status < 200 || status > 999) {
    answer.destroy();
    response.writeHead(502).end();
    return new EgressRefusal(`the server answered with the status ${status}`);
  }
  try {
    response.writeHead(status, headers);
  } catch (error) {
    answer.destroy();
    response.destroy();
    return toRefusal(error);
  }
  answer.pipe(response);
  answer.once('error', () => response.destroy());
  return undefined;
};

const hasCredentials = ({ headers }: IncomingMessage, expected: Buffer): boolean => {
  const given = Buffer.from(headers['proxy-authorization'] ?? '');
  return given.length === expected.length && timingSafeEqual(given, expected);
};

/** Reports the bytes that a connection transfers in both directions. */
const countBytes = (socket: Socket, add: (bytes: number) => void): Socket => {
  let seenBytes = 0;
  const report = (): void => {
    const bytes = socket.bytesRead + socket.bytesWritten;
    add(bytes - seenBytes);
    seenBytes = bytes;
  };
  socket.on('data', guarded('outbound', report));
  socket.once('close', report);
  return socket;
};

/** A connection to the first of the addresses that answers. */
const connectToFirst = async (
  found: readonly string[],
  port: number,
  hold: (socket: Socket) => Socket,
): Promise<Socket> => {
  let failure: unknown;
  for (const address of found) {
    const socket = hold(connect({ host: address, port }));
    try {
      await once(socket, 'connect');
      return socket;
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
};

export const openEgressProxy = async ({
  addresses,
  limit,
  socket: path,
}: EgressLimits): Promise<EgressProxy> => {
  const password = randomBytes(24).toString('hex');
  const expected = Buffer.from(`Basic ${Buffer.from(`git:${password}`).toString('base64')}`);
  const sockets = new Set<Duplex>();
  let passedBytes = 0;
  let refusal: EgressRefusal | undefined;

  const refuse = (failure: EgressRefusal): void => {
    refusal ??= failure;
    for (const socket of sockets) socket.destroy();
  };
  const hold = <S extends Duplex>(socket: S): S => {
    sockets.add(socket);
    // The end of the connection informs the other side; the error adds nothing.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const count = (socket: Socket): Socket =>
    countBytes(socket, (bytes) => {
      passedBytes += bytes;
      if (limit !== undefined && passedBytes > limit.bytes)
        // Another attempt would transfer as much.
        refuse(new EgressRefusal(limit.excess, { isFinal: true }));
    });
  const reach = async (host: string, port: number): Promise<Socket> =>
    count(await connectToFirst(await addresses.addressesOf(host, port), port, hold));
  const isOurs = (request: IncomingMessage): boolean =>
    path !== undefined || hasCredentials(request, expected);

  const server = createServer(
    guarded('outbound', (request: IncomingMessage, response: ServerResponse) => {
      const target = URL.canParse(request.url ?? '') ? new URL(request.url ?? '') : undefined;
      if (target?.protocol !== 'http:' || !isOurs(request)) {
        response.writeHead(isOurs(request) ? 400 : 407).end();
        return;
      }
      const headers = Object.fromEntries(
        Object.entries(request.headers).filter(([name]) => !HOP_HEADERS.has(name)),
      );
      reach(target.hostname, Number(target.port || '80')).then(
        (socket) => {
          const passed = sendRequest({
            createConnection: () => socket,
            method: request.method ?? 'GET',
            path: `${target.pathname}${target.search}`,
            headers: { ...headers, connection: 'close' },
          });
          passed.once(
            'response',
            guarded('outbound', (answer) => {
              refusal ??= passOn(answer, response, toHeaders(answer, path));
            }),
          );
          passed.once('error', () => response.destroy());
          request.pipe(passed);
        },
        (error: unknown) => {
          refusal ??= toRefusal(error);
          response.writeHead(502).end();
        },
      );
    }),
  );
  server.on(
    'connect',
    guarded('outbound', (request: IncomingMessage, client: Duplex) => {
      hold(client);
      if (!isOurs(request)) {
        client.end('HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\n\r\n');
        return;
      }
      const target = toTarget(request.url ?? '');
      if (target === undefined) {
        refusal ??= new EgressRefusal(`${request.url} is not the address of a server`);
        client.end(BAD_GATEWAY);
        return;
      }
      const { hostname, port } = target;
      reach(hostname, Number(port || '80')).then(
        (socket) => {
          client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
          client.pipe(socket).pipe(client);
          client.once('close', () => socket.destroy());
        },
        (error: unknown) => {
          refusal ??= toRefusal(error);
          client.end(BAD_GATEWAY);
        },
      );
    }),
  );
  server.maxConnections = MAX_CONNECTIONS;
  const place = path === undefined ? { port: 0, host: '127.0.0.1' } : { path };
  await once(server.listen(place), 'listening');
  const address = server.address() as AddressInfo | string;
  return {
    url:
      typeof address === 'string'
        ? `unix:${address}`
        : `http://git:${password}@127.0.0.1:${address.port}`,
    get refusal() {
      return refusal;
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
};
