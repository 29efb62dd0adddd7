/** Load on paths of an HTTP server in turn, and the limit that such benches compare with. */
import autocannon from 'autocannon';
import type { Figure } from './bench.ts';
import { processUsage } from './child-process.ts';
import { freePort, startServer } from './server-process.ts';

const CONNECTIONS = 64;
/** A tenant beyond its share waits. */
const ANSWER_WITHIN_SECONDS = 60;

export interface HttpLoad {
  readonly url: string;
  readonly paths: readonly string[];
  readonly headers?: Readonly<Record<string, string>>;
  /** GET when absent. */
  readonly method?: 'GET' | 'POST';
  /** The same for all requests, or made for each from its number. */
  readonly body?: string | ((turn: number) => string);
  /** 64 when absent. */
  readonly connections?: number;
  /** A refusal is not a failure, and counts as a request. */
  readonly mayBeRefused?: boolean;
}

/** Requests the paths in turn, for a time or a number of times; all requests must succeed, unless they may be refused. */
export const askInTurn = async (
  {
    url,
    paths,
    headers = {},
    method = 'GET',
    body,
    connections = CONNECTIONS,
    mayBeRefused = false,
  }: HttpLoad,
  bound: { readonly duration: number } | { readonly amount: number },
) => {
  let next = 0;
  const result = await autocannon({
    url,
    headers,
    connections,
    timeout: ANSWER_WITHIN_SECONDS,
    ...bound,
    requests: [
      {
        method,
        ...(typeof body === 'string' && { body }),
        path: '/',
        setupRequest: (request) => {
          const turn = next++;
          return {
            ...request,
            path: paths[turn % paths.length] ?? '/',
            ...(typeof body === 'function' && { body: body(turn) }),
          };
        },
      },
    ],
  });
  if (result.errors > 0 || (result.non2xx > 0 && !mayBeRefused))
    throw new Error(`${result.non2xx} refused, ${result.errors} failed`);
  return { perSecond: result.requests.total / result.duration, total: result.requests.total };
};

/**
 * Rate of a server over `seconds`, and its CPU use.
 * @param pid undefined if it is not a process of this bench
 */
export const measureRate = async (
  load: HttpLoad,
  seconds: number,
  pid: number | undefined,
): Promise<
  Pick<Figure, 'value' | 'unit' | 'cpuMicrosecondsPerOperation' | 'peakMemoryMegabytes'>
> => {
  const before = pid === undefined ? undefined : processUsage(pid);
  const { perSecond, total } = await askInTurn(load, { duration: seconds });
  const after = pid === undefined ? undefined : processUsage(pid);
  return {
    value: perSecond,
    unit: '/s',
    ...(before &&
      after && {
        cpuMicrosecondsPerOperation: (after.cpuMicroseconds - before.cpuMicroseconds) / total,
        peakMemoryMegabytes: after.peakMemoryMegabytes,
      }),
  };
};

/** Requests per second of Fastify that answers the same paths with as many bytes, and nothing else. */
export const measureBareFastify = async (
  paths: readonly string[],
  bodyBytes: number,
  seconds: number,
): Promise<NonNullable<Figure['limit']>> => {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const bare = await startServer({
    module: new URL('bare-fastify.ts', import.meta.url),
    env: { PORT: String(port), BODY_BYTES: String(bodyBytes) },
    firstRequest: url,
  });
  try {
    await askInTurn({ url, paths }, { duration: seconds / 4 });
    const { perSecond } = await askInTurn({ url, paths }, { duration: seconds });
    return { name: 'bare Fastify', value: perSecond };
  } finally {
    await bare.stop();
  }
};
