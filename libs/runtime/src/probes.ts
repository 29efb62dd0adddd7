/** Where orchestrators ask a service whose own port speaks nothing but gRPC over mTLS. */
import type { Server } from 'node:http';

// An import loads whatever the module has getters for: undici, 5 MB and 30 ms.
const { createServer } = process.getBuiltinModule('node:http');

/** Longer than that an orchestrator does not wait, either. */
const ANSWER_WITHIN_MS = 3000;

export interface Probes {
  /** From now on not ready, so that nothing new is sent here; then closed. */
  close(): Promise<void>;
  /** The one it listens on; undefined when it does not. */
  readonly port: number | undefined;
}

const within = (work: Promise<unknown>, limitMs: number): Promise<boolean> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs);
    work
      .then(
        () => resolve(true),
        () => resolve(false),
      )
      .finally(() => clearTimeout(timer));
  });

const listen = (server: Server, address: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const colon = address.lastIndexOf(':');
    const host = address.slice(0, colon).replaceAll(/[[\]]/g, '');
    server.once('error', reject);
    server.listen(Number(address.slice(colon + 1)), host, () => {
      const bound = server.address();
      resolve(typeof bound === 'object' && bound !== null ? bound.port : 0);
    });
  });

/**
 * `GET /healthz`: the process answers. `GET /readyz`: so do its neighbours, without which it serves nothing;
 * 503 else. Nothing of it is secret, and nobody has to be known.
 * @param address host:port; nothing listens when it is undefined
 * @param askNeighbours rejects when one does not answer
 */
export const startProbes = async (
  address: string | undefined,
  askNeighbours: () => Promise<unknown>,
): Promise<Probes> => {
  if (address === undefined) return { port: undefined, close: () => Promise.resolve() };
  let isStopping = false;
  const isReady = async (): Promise<boolean> =>
    !isStopping && (await within(askNeighbours(), ANSWER_WITHIN_MS));
  const server = createServer((request, response) => {
    const answer = (status: number, text: string): void => {
      response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
      response.end(`{"status":"${text}"}\n`);
    };
    if (request.url === '/healthz') answer(200, 'alive');
    else if (request.url === '/readyz')
      void isReady().then((ready) => answer(ready ? 200 : 503, ready ? 'ready' : 'not ready'));
    else answer(404, 'unknown');
  });
  const port = await listen(server, address);
  return {
    port,
    close: () => {
      isStopping = true;
      return new Promise((resolve) => {
        server.close(() => resolve());
      });
    },
  };
};
