import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBinary } from '../find-binary.ts';
import { findFreePort } from '../free-port.ts';
import { ServerProcess } from '../server-process.ts';
import { temporaryDirectory } from '../temporary-directory.ts';
import { writeExample } from './example-file.ts';
import type { PatroniNode } from './patroni.ts';

export interface HaProxy extends AsyncDisposable {
  readonly port: number;
  readonly process: ServerProcess;
}

const GATEWAYS = new URL('../../../../deploy/proxy/haproxy.cfg', import.meta.url);

const startHaProxy = async (
  write: (folder: string, port: number) => Promise<string>,
): Promise<HaProxy> => {
  await using stack = new AsyncDisposableStack();
  const folder = stack.use(await temporaryDirectory());
  const port = await findFreePort();
  const process = new ServerProcess({
    file: await findBinary('haproxy', 'haproxy'),
    // Only the master process says that it is ready; its worker ends with it.
    args: ['-W', '-db', '-f', await write(folder.path, port)],
    ready: /Loading success/,
  });
  stack.defer(() => process.kill());
  await process.start();
  const owned = stack.move();
  return { port, process, [Symbol.asyncDispose]: () => owned.disposeAsync() };
};

/** Leads to the primary. */
export const startPostgresProxy = (nodes: readonly PatroniNode[]): Promise<HaProxy> =>
  startHaProxy((folder, port) =>
    writeExample(folder, 'haproxy-postgres.cfg', {
      ':5000': `127.0.0.1:${port}`,
      ...Object.fromEntries(
        ['first', 'second', 'third'].map((name, at) => [
          `${name}.example.com:5432 check port 8008`,
          `127.0.0.1:${nodes[at]?.port} check port ${nodes[at]?.restPort}`,
        ]),
      ),
    }),
  );

/** In front of gateways, as in docker-compose.yml. @param urls http://127.0.0.1:PORT of each */
export const startGatewayProxy = (urls: readonly string[]): Promise<HaProxy> =>
  startHaProxy(async (folder, port) => {
    const text = await readFile(GATEWAYS, 'utf8');
    const servers = urls.map((url, at) => `  server gateway${at} ${new URL(url).host}`);
    const settings = text
      .replace('bind :8200', `bind 127.0.0.1:${port}`)
      .replace(/resolvers docker\n(?: .*\n)+/, '')
      .replace(' init-addr none resolvers docker resolve-prefer ipv4', '')
      .replace(/  server-template .*/, servers.join('\n'));
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, settings);
    return file;
  });

/**
 * Passes TCP connections on.
 * @param server address and options of the target: "127.0.0.1:8200 send-proxy-v2"
 */
export const startTcpProxy = (server: string): Promise<HaProxy> =>
  startHaProxy(async (folder, port) => {
    const file = join(folder, 'haproxy.cfg');
    const times = 'timeout connect 5s\n  timeout client 1m\n  timeout server 1m';
    await writeFile(
      file,
      `listen tcp\n  mode tcp\n  ${times}\n  bind 127.0.0.1:${port}\n  server target ${server}\n`,
    );
    return file;
  });
