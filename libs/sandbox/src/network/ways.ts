/**
 * The side of the sandbox: its first program listens on the loopback interface, which is the only one, and passes
 * connections on to the socket of the egress.
 */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { guarded } from '@keelson/errors';
import { type Endpoint, toAuthority, type Way } from './way.ts';

export type { Way } from './way.ts';

const join = (one: Duplex, other: Duplex): void => {
  one.once('close', () => other.destroy());
  other.once('close', () => one.destroy());
  one.pipe(other).pipe(one);
};

/** The end of a connection informs the other side; the error adds nothing. */
const hold = <S extends Duplex>(socket: S): S => {
  socket.on('error', () => socket.destroy());
  return socket;
};

const passToProxy =
  (socketPath: string) =>
  (client: Socket): void =>
    join(hold(client), hold(connect(socketPath)));

const passToServer =
  (socketPath: string, endpoint: Endpoint) =>
  (client: Socket): void => {
    hold(client);
    const asked = request({ socketPath, method: 'CONNECT', path: toAuthority(endpoint) });
    asked.once('error', () => client.destroy());
    asked.once(
      'connect',
      guarded('sandbox/network', ({ statusCode }: IncomingMessage, server: Duplex) => {
        hold(server);
        if (statusCode === 200) join(client, server);
        else {
          server.destroy();
          client.destroy();
        }
      }),
    );
    asked.end();
  };

const listen = async (port: number, host: string, pass: (client: Socket) => void) => {
  const server = createServer({ allowHalfOpen: true }, pass);
  // The ways alone do not keep the program running.
  server.unref();
  await once(server.listen(port, host), 'listening');
};

/** Opens the ways out of the sandbox, until the program ends. */
export const openWays = async ({ socket, proxyPort, forwarded }: Way): Promise<void> => {
  await listen(proxyPort, '127.0.0.1', passToProxy(socket));
  for (const endpoint of forwarded) {
    await listen(endpoint.port, '127.0.0.1', passToServer(socket, endpoint));
    // A machine without IPv6 has no such address.
    await listen(endpoint.port, '::1', passToServer(socket, endpoint)).catch(() => undefined);
  }
};
