/**
 * The network access of git: an HTTP proxy on loopback for one fetch. It resolves names itself and
 * connects only to permitted addresses, whatever a repository, redirect or submodule names. It
 * closes all connections once the byte limit is exceeded.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request as sendRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { Outbound } from '@keelson/outbound';
import { isSameSecret } from '../model/secret-comparison.ts';

export interface EgressProxy extends AsyncDisposable {
  /** With the credentials that it asks for. */
  readonly url: string;
  /** Why it refused or ended a connection, undefined when it did not. */
  readonly refusal: string | undefined;
}

export interface EgressLimits {
  readonly outbound: Pick<Outbound, 'addressesOf'>;
  /** In both directions, over all connections. */
  readonly limitBytes: number;
}

const HOP_HEADERS: ReadonlySet<string> = new Set([
  'connection',
  'proxy-authorization',
  'proxy-connection',
]);

const BAD_GATEWAY = 'HTTP/1.1 502 Bad Gateway\r\nconnection: close\r\n\r\n';

export const openEgressProxy = async ({
  outbound,
  limitBytes,
}: EgressLimits): Promise<EgressProxy> => {
  const password = randomBytes(24).toString('hex');
  const expected = `Basic ${Buffer.from(`git:${password}`).toString('base64')}`;
  const sockets = new Set<Duplex>();
  let passedBytes = 0;
  let refusal: string | undefined;

  const refuse = (why: string): void => {
    refusal ??= why;
    for (const socket of sockets) socket.destroy();
  };
  const hold = <S extends Duplex>(socket: S): S => {
    sockets.add(socket);
    // The end of the connection informs the other side; the error adds nothing.
    socket.on('error', () => socket.destroy());
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
  const count = (socket: Socket): Socket => {
    let seenBytes = 0;
    const add = (): void => {
      const bytes = socket.bytesRead + socket.bytesWritten;
      passedBytes += bytes - seenBytes;
      seenBytes = bytes;
      if (passedBytes > limitBytes)
        refuse(`the repository is larger than the ${limitBytes} bytes that a fetch may transfer`);
    };
    socket.on('data', add);
    socket.once('close', add);
    return socket;
  };
  const reach = async (host: string, port: number): Promise<Socket> => {
    const [address] = await outbound.addressesOf(host);
    const socket = hold(connect({ host: address ?? '', port }));
    await once(socket, 'connect');
    return count(socket);
  };
  const isOurs = ({ headers }: IncomingMessage): boolean =>
    isSameSecret(headers['proxy-authorization'], expected);
  const whyNot = (error: unknown): string => {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (typeof code === 'string') return code;
    return error instanceof Error ? error.message : 'unknown error';
  };

  const server = createServer((request, response) => {
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
        passed.once('response', (answer) => {
          response.writeHead(answer.statusCode ?? 502, answer.headers);
          answer.pipe(response);
          answer.once('error', () => response.destroy());
        });
        passed.once('error', () => response.destroy());
        request.pipe(passed);
      },
      (error: unknown) => {
        refusal ??= whyNot(error);
        response.writeHead(502).end();
      },
    );
  });
  server.on('connect', (request: IncomingMessage, client: Duplex) => {
    hold(client);
    const { hostname, port } = new URL(`http://${request.url ?? ''}`);
    if (!isOurs(request)) {
      client.end('HTTP/1.1 407 Proxy Authentication Required\r\nconnection: close\r\n\r\n');
      return;
    }
    reach(hostname, Number(port || '80')).then(
      (socket) => {
        client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
        client.pipe(socket).pipe(client);
        client.once('close', () => socket.destroy());
      },
      (error: unknown) => {
        refusal ??= whyNot(error);
        client.end(BAD_GATEWAY);
      },
    );
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://git:${password}@127.0.0.1:${port}`,
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
