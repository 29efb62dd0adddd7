/**
 * Two gateways and two certificate authorities as processes of their own, with PostgreSQL and Redis, behind
 * one address that passes each connection to the gateways in turn.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  findBinary,
  findFreePort,
  ServerProcess,
  startPostgres,
  startRedis,
  temporaryDirectory,
} from '@keelson/testkit';

const run = promisify(execFile);

const REPOSITORY = fileURLToPath(new URL('../../', import.meta.url));

export interface Distributed extends AsyncDisposable {
  /** "http://127.0.0.1:PORT" of the one address. */
  readonly url: string;
  readonly gateways: readonly ServerProcess[];
  readonly authorities: readonly ServerProcess[];
  readonly rootToken: string;
}

/** Passes connections to the ports in turn; to the next where one does not accept. */
const balance = async (ports: readonly number[]): Promise<Server> => {
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
  server.once('close', () => {
    for (const socket of open) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return server;
};

const processOf = async (
  main: string,
  settings: Readonly<Record<string, string>>,
  ready: RegExp,
): Promise<ServerProcess> =>
  new ServerProcess({
    file: await findBinary('env', 'coreutils'),
    args: [
      ...Object.entries(settings).map(([name, value]) => `KEELSON_${name}=${value}`),
      process.execPath,
      join(REPOSITORY, main),
    ],
    ready,
  });

/** @param settings of the authorities, besides what they need to run: "ACME_HTTP_PORT" */
export const startDistributed = async (
  settings: Readonly<Record<string, string>>,
): Promise<Distributed> => {
  const stack = new AsyncDisposableStack();
  try {
    const directory = stack.use(await temporaryDirectory());
    const [postgres, redis] = await Promise.all([startPostgres(), startRedis()]);
    stack.use(postgres);
    stack.use(redis);
    const trust = join(directory.path, 'trust');
    const issuer = join(REPOSITORY, 'libs/rpc/src/internal-issuer/main.ts');
    await run(process.execPath, [issuer, trust]);
    const port = async (): Promise<string> => `127.0.0.1:${await findFreePort()}`;
    const [sysAddress, ...pkiAddresses] = [await port(), await port(), await port()];
    const kept = async (database: string, address: string) => ({
      DATABASE_URL: await postgres.createDatabase(database),
      REDIS_URL: redis.url,
      RPC_ADDRESS: address,
    });
    const enrolled = (service: string) => ({
      SYS_ADDRESSES: sysAddress as string,
      INTERNAL_CA_FILE: join(trust, service, 'internal-ca-certificate.pem'),
      JOIN_TOKEN_FILE: join(trust, service, 'join-token'),
    });
    const start = async (process: ServerProcess): Promise<ServerProcess> => {
      stack.defer(() => process.kill());
      await process.start();
      return process;
    };
    await start(
      await processOf(
        'services/sys/src/main.ts',
        {
          ...(await kept('sys', sysAddress as string)),
          PKI_ADDRESSES: pkiAddresses.join(),
          INTERNAL_CA_FILE: join(trust, 'sys', 'internal-ca.pem'),
          UNSEAL_KEY_FILE: join(directory.path, 'unseal.key'),
        },
        /"msg":"serving"/,
      ),
    );
    const shared = await kept('pki', '');
    const authorities = await Promise.all(
      pkiAddresses.map(async (address) =>
        start(
          await processOf(
            'services/pki/src/main.ts',
            { ...shared, ...enrolled('pki'), ...settings, RPC_ADDRESS: address },
            /"msg":"serving"/,
          ),
        ),
      ),
    );
    const gatewayPorts = [await findFreePort(), await findFreePort()];
    const gateways = await Promise.all(
      gatewayPorts.map(async (httpPort) =>
        start(
          await processOf(
            'services/gateway/src/main.ts',
            {
              ...enrolled('gateway'),
              PKI_ADDRESSES: pkiAddresses.join(),
              HTTP_PORT: String(httpPort),
            },
            /"msg":"listening"/,
          ),
        ),
      ),
    );
    const balancer = await balance(gatewayPorts);
    stack.defer(async () => {
      balancer.close();
    });
    const url = `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`;
    const answer = await fetch(`${url}/v1/sys/init`, {
      method: 'PUT',
      body: JSON.stringify({ secret_shares: 1, secret_threshold: 1 }),
    });
    if (!answer.ok) throw new Error(`init: ${answer.status} ${await answer.text()}`);
    const { root_token: rootToken } = (await answer.json()) as { root_token: string };
    const owned = stack.move();
    return {
      url,
      gateways,
      authorities,
      rootToken,
      [Symbol.asyncDispose]: () => owned.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
};
