/**
 * A separate control plane that serves ACME, and the environment in which its clients prove names: a DNS
 * server, a web server with a folder, and a TLS server for tls-alpn-01. Names resolve to 127.0.0.1, where
 * these servers run; clients with their own server use `OWN_ADDRESS`, with the same ports.
 */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo, Server } from 'node:net';
import { basename, join } from 'node:path';
import { createSecureContext, createServer as createTlsServer } from 'node:tls';
import { promisify } from 'node:util';
import {
  type DnsServer,
  findBinary,
  startDns,
  startKeelson,
  temporaryDirectory,
} from '@keelson/testkit';

const run = promisify(execFile);

/** A loopback address for the clients' own servers, because the test's servers use the ports of 127.0.0.1. */
export const OWN_ADDRESS = '127.0.0.77';

const MOUNT = 'pki';

export interface AcmeSite extends AsyncDisposable {
  /** For the clients' files. */
  readonly folder: string;
  /** CA certificate that clients must trust, PEM. */
  readonly caFile: string;
  /** The root of what is issued, PEM. */
  readonly rootFile: string;
  readonly httpPort: number;
  readonly tlsPort: number;
  /** Folder of the files that the web server serves. */
  readonly webroot: string;
  /** Where tls-alpn-01 finds "NAME.crt.pem" and "NAME.key.pem". */
  readonly alpnFolder: string;
  readonly dns: DnsServer;
  /** POST present and cleanup with {fqdn, value} set and remove TXT records. */
  readonly hookUrl: string;
  /** URL of a directory: "", "roles/web/". */
  directory(prefix?: string): string;
  /**
   * Returns the response's `data`.
   * @throws Error unless it succeeded
   */
  call(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  /** An external account binding for a directory. */
  newBinding(prefix?: string): Promise<{ readonly kid: string; readonly hmac: string }>;
  /**
   * Runs a file with a minimal environment.
   * @throws Error with its output
   */
  run(
    file: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<string>;
  /** Like `run`, for a program of Debian. */
  execute(
    program: string,
    debianPackage: string,
    args: readonly string[],
    env?: Readonly<Record<string, string>>,
  ): Promise<string>;
  isRevoked(certificatePem: string): Promise<boolean>;
  /** The reasons that openssl reads from the CRL and from the OCSP response, which it verifies. */
  revocationReasons(certificatePem: string): Promise<readonly (string | undefined)[]>;
  /**
   * Verifies the chain up to the root as relying parties do.
   * @returns names of the leaf
   */
  verify(chainPem: string, rootFile?: string): Promise<string>;
}

const listen = async (server: Server): Promise<number> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return (server.address() as AddressInfo).port;
};

const readBody = async (request: IncomingMessage): Promise<string> => {
  let body = '';
  for await (const chunk of request) body += String(chunk);
  return body;
};

const startHooks = async (dns: DnsServer): Promise<{ server: Server; url: string }> => {
  const values = new Map<string, Set<string>>();
  const answer = async (request: IncomingMessage): Promise<void> => {
    const asked = JSON.parse(await readBody(request)) as { fqdn: string; value: string };
    const name = asked.fqdn.replace(/\.$/, '').toLowerCase();
    const kept = values.get(name) ?? new Set();
    values.set(name, kept);
    if (request.url === '/present') kept.add(asked.value);
    else kept.delete(asked.value);
    dns.set(name, 'TXT', [...kept]);
  };
  const server = createServer((request, response) => {
    answer(request).then(
      () => response.end(),
      (error: unknown) => response.writeHead(500).end(String(error)),
    );
  });
  const port = await listen(server);
  return { server, url: `http://127.0.0.1:${port}` };
};

const startWeb = (folder: string) =>
  createServer((request, response) => {
    const token = /^\/\.well-known\/acme-challenge\/([\w-]+)$/.exec(request.url ?? '')?.[1];
    const file = join(folder, '.well-known/acme-challenge', token ?? 'none');
    readFile(file).then(
      (content) => response.end(content),
      () => response.writeHead(404).end(),
    );
  });

const startAlpn = (folder: string) =>
  createTlsServer({
    ALPNProtocols: ['acme-tls/1'],
    SNICallback: (name, done) => {
      try {
        const read = (kind: string) => readFileSync(join(folder, `${name}.${kind}.pem`));
        done(null, createSecureContext({ cert: read('crt'), key: read('key') }));
      } catch (error) {
        done(error as Error);
      }
    },
  }).on('tlsClientError', () => undefined);

/** @param env further settings of the control plane */
export const startAcmeSite = async (
  env: Readonly<Record<string, string>> = {},
): Promise<AcmeSite> => {
  const directory = await temporaryDirectory();
  const folder = directory.path;
  const webroot = join(folder, 'webroot');
  const alpnFolder = join(folder, 'alpn');
  await mkdir(join(webroot, '.well-known/acme-challenge'), { recursive: true });
  await mkdir(alpnFolder);
  const dns = await startDns({ defaultAddress: '127.0.0.1' });
  const hooks = await startHooks(dns);
  const web = startWeb(webroot);
  const alpn = startAlpn(alpnFolder);
  const httpPort = await listen(web);
  const tlsPort = await listen(alpn);
  const keelson = await startKeelson({
    dataFolder: join(folder, 'keelson'),
    env: {
      KEELSON_RATE_LIMIT: 'off',
      KEELSON_ACME_HTTP_PORT: String(httpPort),
      KEELSON_ACME_TLS_PORT: String(tlsPort),
      ...env,
    },
  });
  const facts = JSON.parse(await readFile(join(keelson.dataFolder, 'first-run.json'), 'utf8')) as {
    ca_certificate_file: string;
  };

  const call: AcmeSite['call'] = async (method, path, body) => {
    const response = await fetch(`${keelson.http}/v1/${path}`, {
      method,
      headers: { 'x-service-token': keelson.rootToken, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return text === '' ? {} : ((JSON.parse(text) as { data: Record<string, unknown> }).data ?? {});
  };

  await call('POST', `sys/mounts/${MOUNT}`, {
    type: 'pki',
    config: {
      max_lease_ttl: '87600h',
      allowed_response_headers: ['Location', 'Replay-Nonce', 'Link', 'Retry-After'],
    },
  });
  const root = await call('POST', `${MOUNT}/root/generate/internal`, {
    common_name: 'Root of the site',
    ttl: '87600h',
    key_type: 'ec',
    issuer_name: 'root',
  });
  const rootFile = join(folder, 'root.pem');
  await writeFile(rootFile, String(root['certificate']));
  await call('POST', `${MOUNT}/config/cluster`, { path: `${keelson.https}/v1/${MOUNT}` });
  await call('POST', `${MOUNT}/roles/web`, {
    allowed_domains: 'example.com',
    allow_subdomains: true,
    allow_bare_domains: true,
    allow_wildcard_certificates: true,
    key_type: 'any',
    max_ttl: '720h',
  });
  await call('POST', `${MOUNT}/config/acme`, { enabled: true, dns_resolver: dns.address });

  const runFile: AcmeSite['run'] = async (file, args, environment = {}) => {
    try {
      const { stdout, stderr } = await run(file, args, {
        cwd: folder,
        env: { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8', ...environment },
      });
      return stdout + stderr;
    } catch (error) {
      const { stdout, stderr } = error as { stdout?: string; stderr?: string };
      const log = keelson.output();
      throw new Error(`${basename(file)} failed:\n${stdout}${stderr}\n${log}`, { cause: error });
    }
  };

  return {
    folder,
    caFile: facts.ca_certificate_file,
    rootFile,
    httpPort,
    tlsPort,
    webroot,
    alpnFolder,
    dns,
    hookUrl: hooks.url,
    directory: (prefix = '') => `${keelson.https}/v1/${MOUNT}/${prefix}acme/directory`,
    call,
    newBinding: async (prefix = '') => {
      const { id, key } = await call('POST', `${MOUNT}/${prefix}acme/new-eab`);
      return { kid: String(id), hmac: String(key) };
    },
    run: runFile,
    execute: async (program, debianPackage, args, environment) =>
      runFile(await findBinary(program, debianPackage), args, environment),
    isRevoked: async (certificatePem) => {
      const { serialNumber } = new X509Certificate(certificatePem);
      const serial = (serialNumber.toLowerCase().match(/../g) ?? []).join(':');
      return Number((await call('GET', `${MOUNT}/cert/${serial}`))['revocation_time']) > 0;
    },
    revocationReasons: async (certificatePem) => {
      const list = join(folder, 'list.crl');
      const leaf = join(folder, 'revoked.pem');
      const response = await fetch(`${keelson.http}/v1/${MOUNT}/crl`);
      await writeFile(list, await response.bytes());
      await writeFile(leaf, certificatePem);
      const listed = await run('openssl', [
        'crl',
        '-inform',
        'DER',
        '-in',
        list,
        '-noout',
        '-text',
      ]);
      const { serialNumber } = new X509Certificate(certificatePem);
      const entry = listed.stdout
        .split('Serial Number: ')
        .find((text) => text.startsWith(serialNumber));
      const trust = ['-issuer', rootFile, '-CAfile', rootFile];
      const url = `${keelson.http}/v1/${MOUNT}/ocsp`;
      const asked = await run('openssl', ['ocsp', ...trust, '-cert', leaf, '-url', url]);
      if (!asked.stderr.includes('Response verify OK')) throw new Error(asked.stderr);
      return [
        /CRL Reason Code:\s+([\w ]+?)\s*$/m.exec(entry ?? '')?.[1],
        /Reason: (\w+)/.exec(asked.stdout)?.[1],
      ];
    },
    verify: async (chainPem, trusted = rootFile) => {
      const file = join(folder, 'chain-to-verify.pem');
      await writeFile(file, chainPem);
      const args = ['verify', '-CAfile', trusted, '-untrusted', file, file];
      await run('openssl', args);
      return new X509Certificate(chainPem).subjectAltName ?? '';
    },
    [Symbol.asyncDispose]: async () => {
      await keelson.stop();
      for (const server of [web, alpn, hooks.server]) {
        server.close();
        if ('closeAllConnections' in server) (server as typeof web).closeAllConnections();
      }
      await dns[Symbol.asyncDispose]();
      await directory[Symbol.asyncDispose]();
    },
  };
};
