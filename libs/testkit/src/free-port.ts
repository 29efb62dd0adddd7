import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range from which Linux takes the local ports of outgoing connections, so that a restarted server
 * finds its port free.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

/**
 * Test files that run at the same time have separate ranges. Otherwise one could take a port that another has
 * found and not used yet, or whose server it is restarting.
 */
const RANGES = 16;
const PER_RANGE = (LAST_PORT - FIRST_PORT) / RANGES;
const range = Number(process.env['VITEST_POOL_ID'] ?? 0) % RANGES;

/**
 * Ports that this file found before. They stay reserved, because a stopped server may be restarted on its
 * port.
 */
const found = new Set<number>();

const isFree = async (port: number): Promise<boolean> => {
  const server = createServer();
  try {
    await once(server.listen(port, '127.0.0.1'), 'listening');
  } catch {
    // On a loopback port of this range, the only possible failure is that it is taken.
    return false;
  }
  await new Promise((closed) => server.close(closed));
  return true;
};

/** A loopback port on which nothing listens, for servers that cannot choose one themselves. */
export const findFreePort = async (): Promise<number> => {
  for (;;) {
    const port = FIRST_PORT + range * PER_RANGE + randomInt(PER_RANGE);
    if (found.has(port)) continue;
    found.add(port);
    if (await isFree(port)) return port;
  }
};
