import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findBinary } from './find-binary.ts';
import { findFreePort } from './free-port.ts';
import { ServerProcess } from './server-process.ts';
import { temporaryDirectory } from './temporary-directory.ts';

export interface NatsOptions {
  readonly jetstream?: boolean;
  /** Joins the others of a cluster. */
  readonly cluster?: { readonly port: number; readonly routes: readonly number[] };
  /** PEM files with a certificate for localhost. If set, clients must use TLS. */
  readonly tls?: {
    readonly certificateFile: string;
    readonly keyFile: string;
    /** Clients need a certificate of this CA. */
    readonly clientAuthorityFile?: string;
  };
  /** Further lines of the server's configuration, such as `authorization { token: "t" }`. */
  readonly configuration?: string;
}

export interface NatsServer extends AsyncDisposable {
  readonly port: number;
  readonly url: string;
  readonly process: ServerProcess;
}

const clusterArguments = (
  port: number,
  cluster: { readonly port: number; readonly routes: readonly number[] },
): readonly string[] => [
  `--name=server-${port}`,
  '--cluster_name=keelson',
  `--cluster=nats://127.0.0.1:${cluster.port}`,
  `--routes=${cluster.routes.map((route) => `nats://127.0.0.1:${route}`).join()}`,
];

/** A NATS server on a free loopback port; its streams survive `kill` and `restart`. */
export const startNats = async (options: NatsOptions = {}): Promise<NatsServer> => {
  const file = await findBinary('nats-server', 'nats-server');
  const directory = await temporaryDirectory();
  const port = await findFreePort();
  const configurationFile = join(directory.path, 'nats.conf');
  // The server reserves the limit of each stream, and a small disk in memory would bound their number.
  const streams = options.jetstream
    ? `jetstream { store_dir: ${JSON.stringify(directory.path)}, max_file_store: 256GB }\n`
    : '';
  await writeFile(configurationFile, streams + (options.configuration ?? ''));
  const server = new ServerProcess({
    file,
    args: [
      '--config',
      configurationFile,
      '--addr',
      '127.0.0.1',
      '--port',
      String(port),
      ...(options.tls === undefined
        ? []
        : ['--tls', '--tlscert', options.tls.certificateFile, '--tlskey', options.tls.keyFile]),
      ...(options.tls?.clientAuthorityFile === undefined
        ? []
        : ['--tlsverify', '--tlscacert', options.tls.clientAuthorityFile]),
      ...(options.cluster === undefined ? [] : clusterArguments(port, options.cluster)),
    ],
    ready: /Server is ready/,
  });
  await server.start();
  return {
    port,
    url: options.tls === undefined ? `nats://127.0.0.1:${port}` : `tls://localhost:${port}`,
    process: server,
    async [Symbol.asyncDispose]() {
      await server.kill();
      await directory[Symbol.asyncDispose]();
    },
  };
};
