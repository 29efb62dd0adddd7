/** The two ACME servers that are compared, with the same resolver and the same challenge port. */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, findFreePort, ServerProcess, startKeelson } from '@keelson/testkit';

const run = promisify(execFile);

export interface AcmeSurroundings {
  readonly folder: string;
  /** "127.0.0.1:PORT" */
  readonly dns: string;
  readonly httpPort: number;
}

export interface AcmeServer {
  readonly directory: string;
  readonly pid: number;
  stop(): Promise<unknown>;
}

/** Answers every name with 127.0.0.1. */
export const startNames = async (): Promise<{ address: string; stop(): Promise<void> }> => {
  const [port, management] = [await findFreePort(), await findFreePort()];
  const none = ['http01', 'https01', 'tlsalpn01'].flatMap((kind) => [`-${kind}`, '']);
  const server = new ServerProcess({
    file: await findBinary('pebble-challtestsrv', 'pebble'),
    args: [
      ...none,
      '-defaultIPv6',
      '',
      '-dns01',
      `127.0.0.1:${port}`,
      '-management',
      `127.0.0.1:${management}`,
    ],
    ready: /Starting management server/,
  });
  await server.start();
  return { address: `127.0.0.1:${port}`, stop: () => server.stop() };
};

export const startPebble = async ({
  folder,
  dns,
  httpPort,
}: AcmeSurroundings): Promise<AcmeServer> => {
  const [certificate, privateKey] = [join(folder, 'pebble.pem'), join(folder, 'pebble-key.pem')];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const subject = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost'];
  const files = ['-keyout', privateKey, '-out', certificate];
  await run('openssl', ['req', '-x509', ...key, ...subject, ...files]);
  const [port, managementPort] = [await findFreePort(), await findFreePort()];
  const config = join(folder, 'pebble.json');
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate,
    privateKey,
    httpPort,
    tlsPort: 1,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
  };
  await writeFile(config, JSON.stringify({ pebble }));
  const settings = {
    PEBBLE_VA_NOSLEEP: '1',
    PEBBLE_WFE_NONCEREJECT: '0',
    // Makes every order prove its name.
    PEBBLE_AUTHZREUSE: '0',
  };
  const server = new ServerProcess({
    file: await findBinary('env', 'coreutils'),
    args: [
      ...Object.entries(settings).map(([name, value]) => `${name}=${value}`),
      await findBinary('pebble', 'pebble'),
      '-config',
      config,
      '-dnsserver',
      dns,
    ],
    ready: /Listening on/,
  });
  await server.start();
  return {
    directory: `https://localhost:${port}/dir`,
    pid: server.pid ?? 0,
    stop: () => server.kill(),
  };
};

export const startAuthority = async ({
  folder,
  dns,
  httpPort,
}: AcmeSurroundings): Promise<AcmeServer> => {
  const keelson = await startKeelson({
    dataFolder: join(folder, 'keelson'),
    env: { KEELSON_ACME_HTTP_PORT: String(httpPort), KEELSON_LOG_LEVEL: 'warn' },
  });
  const post = async (path: string, body: unknown): Promise<void> => {
    const answer = await fetch(`${keelson.http}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-service-token': keelson.rootToken, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`POST ${path}: ${answer.status} ${await answer.text()}`);
  };
  const headers = { allowed_response_headers: ['Location', 'Replay-Nonce', 'Link', 'Retry-After'] };
  await post('sys/mounts/pki', { type: 'pki', config: { max_lease_ttl: '87600h', ...headers } });
  const root = { common_name: 'Bench Root', ttl: '87600h', key_type: 'ec' };
  await post('pki/root/generate/internal', root);
  await post('pki/config/cluster', { path: `${keelson.https}/v1/pki` });
  await post('pki/config/acme', { enabled: true, dns_resolver: dns });
  return {
    directory: `${keelson.https}/v1/pki/acme/directory`,
    pid: keelson.pid,
    stop: () => keelson.stop(),
  };
};
