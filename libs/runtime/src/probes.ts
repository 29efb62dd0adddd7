/** HTTP probes and metrics for orchestrators, for services whose own port only serves gRPC over mTLS. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { guarded, KeelsonError } from '@keelson/errors';

// An import would evaluate the getters of the module and load undici with it: 5 MB and 30 ms.
const { createServer } = process.getBuiltinModule('node:http');

/** Time limit of a probe; orchestrators do not wait longer either. */
const ANSWER_WITHIN_MS = 3000;

export interface Probes {
  /** Reports not ready, so that no new requests are sent here, and then closes. */
  close(): Promise<void>;
  /** Port of the probes; undefined without an address. */
  readonly port: number | undefined;
}

/** @returns why the work failed; undefined if it did not */
const faultOf = (work: Promise<unknown>, limitMs: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    const timer = setTimeout(() => resolve(`no answer within ${limitMs} ms`), limitMs);
    work
      .then(
        () => resolve(undefined),
        (error: unknown) => resolve(KeelsonError.from(error).message),
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

export interface ProbedProcess {
  /** Rejects when a service that this process depends on does not answer. */
  askNeighbours(): Promise<unknown>;
  readonly metrics: {
    /** Text in the Prometheus exposition format. */
    metrics(): Promise<string>;
    readonly contentType: string;
  };
}

/**
 * `GET /healthz`: 200 if the process runs. `GET /readyz`: 200 if the services that this one depends on answer
 * as well, otherwise 503 with the reason. `GET /metrics`: the metrics of the process. The responses contain no secrets and
 * need no authentication.
 * @param address host:port; undefined means no probes
 */
export const startProbes = async (
  address: string | undefined,
  probed: ProbedProcess,
): Promise<Probes> => {
  if (address === undefined) return { port: undefined, close: () => Promise.resolve() };
  let isStopping = false;
  const findFault = async (): Promise<string | undefined> =>
    isStopping ? 'it is about to stop' : faultOf(probed.askNeighbours(), ANSWER_WITHIN_MS);
  const server = createServer(
    guarded('runtime', (request: IncomingMessage, response: ServerResponse) => {
      const answer = (status: number, text: string, reason?: string): void => {
        response.writeHead(status, { 'content-type': 'application/json', connection: 'close' });
        response.end(`${JSON.stringify({ status: text, reason })}\n`);
      };
      if (request.url === '/healthz') answer(200, 'alive');
      else if (request.url === '/readyz')
        void findFault().then((fault) =>
          fault === undefined ? answer(200, 'ready') : answer(503, 'not ready', fault),
        );
      else if (request.url === '/metrics')
        probed.metrics.metrics().then(
          (text) => {
            response.writeHead(200, {
              'content-type': probed.metrics.contentType,
              connection: 'close',
            });
            response.end(text);
          },
          () => answer(500, 'metrics could not be read'),
        );
      else answer(404, 'unknown');
    }),
  );
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
