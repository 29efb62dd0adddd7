/** Other services on the machine of the stage, with which a run has no business. */
import { execFileSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { chmodSync, mkdirSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { dirname } from 'node:path';
import { METADATA_PORT, SERVICE_PORTS, STAGE_ADDRESSES } from './network.ts';

/** The machine in its network. */
export const OUTSIDE_ADDRESS = '203.0.113.2';

const UDP_PORT = 8125;
/** Owned by root; each with the rights that it has on a usual machine. */
const SOCKETS: readonly (readonly [path: string, mode: number])[] = [
  ['/run/redis/redis.sock', 0o777],
  ['/run/postgresql/.s.PGSQL.5432', 0o777],
  ['/run/dbus/system_bus_socket', 0o666],
  ['/run/docker.sock', 0o660],
  ['/run/containerd/containerd.sock', 0o660],
  ['/run/systemd/private', 0o600],
];

const KNOCK_MS = 100;

const listen = (server: Server, where: object): Promise<void> =>
  new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, resolve);
  });

export interface StageServices {
  readonly connections: (socket: string) => number;
  readonly greetings: (words: string) => number;
  readonly datagrams: () => number;
  readonly hasAccepted: (port: number) => boolean;
  /** Tries from now on whether somebody listens on the port. */
  readonly knock: (port: number) => void;
}

/** Gives the network namespace the addresses of a real machine, without a way to anywhere else. */
export const prepareNetwork = (): void => {
  const ip = (...args: readonly string[]) => execFileSync('ip', args);
  ip('link', 'set', 'lo', 'up');
  for (const address of Object.values(STAGE_ADDRESSES)) {
    const isLong = address.includes(':');
    ip('addr', 'add', `${address}/${isLong ? 128 : 32}`, 'dev', 'lo', ...(isLong ? ['nodad'] : []));
  }
  ip('link', 'add', 'outside', 'type', 'veth', 'peer', 'name', 'away');
  ip('link', 'set', 'away', 'up');
  ip('addr', 'add', `${OUTSIDE_ADDRESS}/24`, 'dev', 'outside');
  ip('link', 'set', 'outside', 'up');
  ip('route', 'add', 'default', 'via', '203.0.113.1');
};

export const startServices = async (): Promise<StageServices> => {
  const connected: string[] = [];
  const words: string[] = [];
  let datagrams = 0;
  const accepted = new Set<number>();
  for (const port of new Set([...Object.values(SERVICE_PORTS), METADATA_PORT])) {
    const server = createServer((socket) => {
      let text = '';
      socket.on('data', (chunk: Buffer) => (text += chunk.toString()));
      socket.on('error', () => undefined);
      socket.on('close', () => words.push(text.trim()));
    });
    await listen(server, { port, host: '::' });
  }
  const note = (name: string) =>
    createServer((socket) => {
      connected.push(name);
      socket.on('error', () => undefined);
      socket.destroy();
    });
  for (const [path, mode] of SOCKETS) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o755 });
    await listen(note(path), { path });
    chmodSync(path, mode);
  }
  await listen(note('abstract'), { path: '\0hostile-canary' });
  const udp = createSocket('udp4', () => (datagrams += 1));
  udp.bind(UDP_PORT, '127.0.0.1');
  return {
    connections: (name) => connected.filter((one) => one === name).length,
    greetings: (wanted) => words.filter((one) => one === wanted).length,
    datagrams: () => datagrams,
    hasAccepted: (port) => accepted.has(port),
    knock: (port) => {
      setInterval(() => {
        const socket = connect(port, '127.0.0.1', () => {
          accepted.add(port);
          socket.destroy();
        });
        socket.on('error', () => undefined);
      }, KNOCK_MS).unref();
    },
  };
};
