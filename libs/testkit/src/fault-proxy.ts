/**
 * A TCP proxy with the faults of a network: it delays data, withholds it (a partition: bytes arrive when it
 * ends, as retransmission does), or cuts connections and refuses new ones.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface FaultProxy extends AsyncDisposable {
  readonly port: number;
  /** Forwards immediately, starting with withheld data. */
  pass(): void;
  /** Every chunk arrives `delayMs` later, in both directions. */
  delay(delayMs: number): void;
  /** Withholds all data; connections stay open. */
  stall(): void;
  /** Resets all connections and every new one until `pass`, `delay` or `stall`. */
  cut(): void;
  /** Connections that are forwarded now. */
  readonly connectionCount: number;
}

class Link {
  /** Chunks in order, each with the time at which it may be forwarded. */
  #queue: { readonly chunk: Buffer; readonly dueMs: number }[] = [];
  #timer: NodeJS.Timeout | undefined;
  readonly #from: Socket;
  readonly #to: Socket;
  readonly #fault: { readonly delayMs: number };

  constructor(from: Socket, to: Socket, fault: { readonly delayMs: number }) {
    this.#from = from;
    this.#to = to;
    this.#fault = fault;
    from.on('data', (chunk: Buffer) => {
      this.#queue.push({ chunk, dueMs: performance.now() + fault.delayMs });
      this.flush();
    });
    to.on('drain', () => from.resume());
    from.once('close', () => this.#end());
  }

  /** Sends what is due and sets a timer for the rest. */
  flush(): void {
    clearTimeout(this.#timer);
    if (this.#fault.delayMs === Number.POSITIVE_INFINITY) {
      this.#from.pause();
      return;
    }
    const nowMs = performance.now();
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      const dueMs = Math.min(next.dueMs, nowMs + this.#fault.delayMs);
      if (dueMs > nowMs) {
        this.#timer = setTimeout(() => this.flush(), dueMs - nowMs);
        return;
      }
      this.#queue.shift();
      if (!this.#to.write(next.chunk)) this.#from.pause();
    }
    if (!this.#to.writableNeedDrain) this.#from.resume();
  }

  #end(): void {
    clearTimeout(this.#timer);
    for (const { chunk } of this.#queue) this.#to.write(chunk);
    this.#queue = [];
    this.#to.end();
  }
}

export interface ProxyAddress {
  readonly host: string;
  readonly port: number;
}

const LOOPBACK = '127.0.0.1';

/**
 * @param upstream target of the connections; a number is a loopback port
 * @param listen listening address; a free loopback port by default
 */
export const startFaultProxy = async (
  upstream: number | ProxyAddress,
  listen: ProxyAddress = { host: LOOPBACK, port: 0 },
): Promise<FaultProxy> => {
  const target = typeof upstream === 'number' ? { host: LOOPBACK, port: upstream } : upstream;
  const fault = { delayMs: 0, isCut: false };
  const sockets = new Set<Socket>();
  const links = new Set<Link>();
  const change = (delayMs: number): void => {
    fault.delayMs = delayMs;
    fault.isCut = false;
    for (const link of links) link.flush();
  };
  const listener = createServer((client) => {
    if (fault.isCut) {
      client.resetAndDestroy();
      return;
    }
    const server = connect(target);
    const pair = [new Link(client, server, fault), new Link(server, client, fault)];
    for (const link of pair) links.add(link);
    for (const socket of [client, server]) {
      sockets.add(socket);
      // The end of the connection already informs the peer; the error adds nothing.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        for (const link of pair) links.delete(link);
      });
    }
  });
  await once(listener.listen(listen), 'listening');
  const resetAll = (): void => {
    for (const socket of sockets) socket.resetAndDestroy();
  };
  return {
    port: (listener.address() as AddressInfo).port,
    pass: () => change(0),
    delay: change,
    stall: () => change(Number.POSITIVE_INFINITY),
    cut() {
      fault.isCut = true;
      resetAll();
    },
    get connectionCount() {
      return sockets.size / 2;
    },
    async [Symbol.asyncDispose]() {
      resetAll();
      await new Promise((closed) => listener.close(closed));
    },
  };
};
