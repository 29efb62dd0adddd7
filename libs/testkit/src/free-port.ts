import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range from which Linux takes the local ports of outgoing connections, so that a server that
 * is stopped and started again finds its port free.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/**
 * Files of tests that run at the same time have ranges of their own: else one could take the port that
 * another has found and not yet used, or whose server it has just stopped to start it again.
 */
const RANGES = 16;
const PER_RANGE = (LAST_PORT - FIRST_PORT) / RANGES;
const range = Number(process.env['VITEST_POOL_ID'] ?? 0) % RANGES;

/** Found by this file before; whether or not they are used now, a stopped server may want its own again. */
const found = new Set<number>();

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    // Taken is the one thing that can be wrong with a loopback port of this range.
    return false;
  }
  await new Promise((closed) => server.close(closed));
  return true;
};

/** A loopback port that nothing listens on, for servers that cannot pick one themselves. */
export const findFreePort = async (): Promise<number> => {
  for (;;) {
    const port = FIRST_PORT + range * PER_RANGE + randomInt(PER_RANGE);
    if (found.has(port)) continue;
    found.add(port);
    if (await isFree(port)) return port;
  }
};
