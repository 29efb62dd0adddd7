/**
 * Checks that a connection passes before its bytes reach the HTTP parser: the proxy header, the connection limit of its client and, on the
 * TLS port, a check that it speaks TLS.
 */

import type { Server, Socket } from 'node:net';
import { createNetworks } from '@keelson/edge/networks';
import { guarded } from '@keelson/errors';
import type { LimitConnections } from '../limits/client-connections.ts';
import { plainAddress } from '../limits/client-network.ts';
import { takeBytes } from './first-bytes.ts';
import { malformedRequestAnswer, PLAIN_HTTP } from './malformed-request.ts';
import { readProxyHeader } from './proxy-protocol.ts';

/** The event that hands a connection to the parser of its server. */
export const ACCEPTED = 'admitted';

/** The first byte of a TLS connection: a record of the handshake (RFC 8446 §5.1). */
const TLS_HANDSHAKE = 0x16;

export interface GuardRules {
  /** Addresses and networks whose connections begin with a PROXY protocol header. */
  readonly proxyProtocolFrom: readonly string[];
  readonly limitConnections: LimitConnections;
  /** Time limit for the header, and for the first byte on the TLS port. */
  readonly withinMs: number;
  /** Called before the handshake of each TLS connection, which waits for it. */
  readonly beforeHandshake: () => Promise<void>;
  /** Called with the address of a configured proxy whose connection is refused. */
  readonly onRefused: (proxy: string, reason: string) => void;
}

/** From now on, limits, audit entries and the log see this address. */
const showAddress = (socket: Socket, remoteAddress: string): void => {
  Object.defineProperty(socket, 'remoteAddress', { value: remoteAddress });
};

/** The two addresses of a TCP connection, which a TLS socket shares with the socket below it. */
const endsOf = ({ remoteAddress, remotePort, localAddress, localPort }: Socket): string =>
  `${remoteAddress} ${remotePort} ${localAddress} ${localPort}`;

/** Answers a plain HTTP request on the TLS port without waiting for the rest of it. */
const answerPlainHttp = (socket: Socket, first: Buffer): void => {
  const rest = socket.read() as Buffer | null;
  const rawPacket = rest === null ? first : Buffer.concat([first, rest]);
  // Bytes that still arrive are read, because closing with unread bytes would reset the connection before
  // the client has seen the answer.
  socket.resume();
  socket.end(malformedRequestAnswer(Object.assign(new Error(), { code: PLAIN_HTTP, rawPacket })));
};

/**
 * Makes every connection pass the guard before the server's own listener receives it, as the event
 * `ACCEPTED`.
 */
export const guardConnections = (
  server: Server,
  isTls: boolean,
  { proxyProtocolFrom, limitConnections, withinMs, beforeHandshake, onRefused }: GuardRules,
): void => {
  const proxies = createNetworks(proxyProtocolFrom);
  /** Client addresses of TLS connections, by the two addresses of the connection. */
  const clients = new Map<string, string>();

  const readHeader = async (socket: Socket): Promise<boolean> => {
    const proxy = plainAddress(socket.remoteAddress ?? '');
    if (!proxies.includes(proxy)) return true;
    const header = await readProxyHeader(socket);
    if (header === undefined) return false;
    if ('fault' in header) {
      onRefused(proxy, header.fault);
      return false;
    }
    if (header.client === undefined) return true;
    if (isTls) {
      const ends = endsOf(socket);
      clients.set(ends, header.client);
      socket.once('close', () => clients.delete(ends));
    }
    showAddress(socket, header.client);
    return true;
  };

  /** Whether the connection begins like TLS; if not, it is answered here. */
  const speaksTls = async (socket: Socket): Promise<boolean> => {
    const first = await takeBytes(socket, 1);
    if (first === undefined) return false;
    if (first[0] !== TLS_HANDSHAKE) {
      answerPlainHttp(socket, first);
      return false;
    }
    socket.unshift(first);
    return true;
  };

  const admit = (socket: Socket): void => {
    limitConnections(socket);
    if (!socket.destroyed) server.emit(ACCEPTED, socket);
  };

  const receive = async (socket: Socket): Promise<void> => {
    const onError = (): void => void socket.destroy();
    socket.on('error', onError);
    const deadline = setTimeout(() => socket.destroy(), withinMs);
    socket.once('close', () => clearTimeout(deadline));
    if (!(await readHeader(socket))) return void socket.destroy();
    if (isTls && !(await speaksTls(socket))) return;
    if (isTls) await beforeHandshake();
    clearTimeout(deadline);
    if (socket.destroyed) return;
    admit(socket);
    socket.off('error', onError);
  };

  for (const own of server.listeners('connection')) server.on(ACCEPTED, own as () => void);
  server.removeAllListeners('connection');
  server.on(
    'connection',
    guarded('gateway/server', (socket: Socket) => {
      // Without a proxy header to read, connections on the plain port do not wait here.
      if (isTls || proxyProtocolFrom.length > 0) void receive(socket);
      else admit(socket);
    }),
  );
  if (isTls)
    server.prependListener(
      'secureConnection',
      guarded('gateway/server', (socket: Socket) => {
        const client = clients.get(endsOf(socket));
        if (client !== undefined) showAddress(socket, client);
      }),
    );
};
