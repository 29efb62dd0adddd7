import { findBinary } from './find-binary.ts';
import { findFreePort } from './free-port.ts';
import { ServerProcess } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface RedisOptions {
  /** Whether acknowledged data survives a kill; otherwise every start is empty. */
  readonly durable?: boolean;
  /** Replicates the server on this port. */
  readonly replicaOfPort?: number;
  /** File with its users; without one, everybody is admitted. */
  readonly accessFile?: string;
  /** Certificate and key; the port then takes TLS only. */
  readonly tls?: { readonly certificateFile: string; readonly keyFile: string };
}

export interface RedisServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly process: ServerProcess;
}

/** A Redis server on a free loopback port. */
export const startRedis = async (options: RedisOptions = {}): Promise<RedisServer> => {
  const file = await findBinary('redis-server', 'redis-server');
  const directory = await temporaryDirectory();
  const port = await findFreePort();
  const settings: Record<string, string> = {
    ...(options.tls === undefined
      ? { port: String(port) }
      : {
          port: '0',
          'tls-port': String(port),
          'tls-cert-file': options.tls.certificateFile,
          'tls-key-file': options.tls.keyFile,
          'tls-auth-clients': 'no',
        }),
    bind: '127.0.0.1',
    dir: directory.path,
    save: '',
    appendonly: options.durable === true ? 'yes' : 'no',
    appendfsync: 'always',
    'repl-diskless-sync-delay': '0',
  };
  const replication =
    options.replicaOfPort === undefined
      ? []
      : ['--replicaof', '127.0.0.1', String(options.replicaOfPort)];
  const server = new ServerProcess({
    file,
    args: [
      ...Object.entries(settings).flatMap(([key, value]) => [`--${key}`, value]),
      ...replication,
      ...(options.accessFile === undefined ? [] : ['--aclfile', options.accessFile]),
    ],
    ready: /Ready to accept connections/,
  });
  await server.start();
  return {
    port,
    url: `redis://127.0.0.1:${port}`,
    process: server,
    async [Symbol.asyncDispose]() {
      await server.kill();
      await directory[Symbol.asyncDispose]();
    },
  };
};
