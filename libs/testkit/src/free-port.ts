import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/**
 * Below the range from which Linux takes the local ports of outgoing connections, so that a server that
 * is stopped and started again finds its port free.
 */
const FIRST_PORT = 20_000;
const LAST_PORT = 32_000;

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
    const port = randomInt(FIRST_PORT, LAST_PORT);
    if (await isFree(port)) return port;
  }
};
