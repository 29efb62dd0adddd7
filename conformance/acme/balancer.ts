/** A single address that distributes connections over several ports in turn. */
import { once } from 'node:events';
import type { AddressInfo, Socket } from 'node:net';
import { createConnection, createServer } from 'node:net';

export interface Balancer extends Disposable {
  /** "http://127.0.0.1:PORT". */
  readonly url: string;
}

/** @param urls "http://127.0.0.1:PORT" of the servers */
export const startBalancer = async (urls: readonly string[]): Promise<Balancer> => {
  const ports = urls.map((url) => Number(new URL(url).port));
  let turn = 0;
  const open = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    return socket.once('close', () => open.delete(socket)).on('error', () => socket.destroy());
  };
  const server = createServer((client) => {
    const target = createConnection(ports[turn++ % ports.length] as number, '127.0.0.1');
    keep(client).pipe(keep(target)).pipe(client);
    client.once('close', () => target.destroy());
    target.once('close', () => client.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    [Symbol.dispose]: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
};
