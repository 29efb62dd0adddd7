/** docs/clients.md: every block, pasted as it stands, with the unmodified client against a real process. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import {
  buildGoTool,
  type DnsServer,
  documentedCommands,
  findFreePort,
  type KeelsonProcess,
  startDns,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { buildVault } from '../vault-cli/vault-program.ts';

const run = promisify(execFile);
const CONFORMANCE = dirname(import.meta.dirname);

/** Programs that Debian does not have, by the folder of their Go module. */
const BUILT = {
  caddy: await buildGoTool(join(CONFORMANCE, 'acme/caddy')),
  step: await buildGoTool(join(CONFORMANCE, 'acme/step')),
  vault: await buildVault(),
};

let folder: TemporaryDirectory;
let dns: DnsServer;
let keelson: KeelsonProcess;
let environment: Readonly<Record<string, string>>;

const v1 = async (path: string, body: object): Promise<void> => {
  const response = await fetch(`${keelson.http}/v1/${path}`, {
    method: 'POST',
    headers: { 'x-service-token': keelson.rootToken },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
};

beforeAll(async () => {
  folder = await temporaryDirectory();
  // Apache orders as another user.
  await chmod(folder.path, 0o755);
  dns = await startDns({ defaultAddress: '127.0.0.1' });
  const [httpPort, httpsPort] = [await findFreePort(), await findFreePort()];
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: {
      KEELSON_ACME_HTTP_PORT: String(httpPort),
      KEELSON_ACME_TLS_PORT: String(httpsPort),
    },
  });
  await v1('sys/mounts/pki', { type: 'pki', config: { max_lease_ttl: '8760h' } });
  await v1('pki/root/generate/internal', { common_name: 'Root', key_type: 'ec', ttl: '8000h' });
  await v1('pki/roles/web', { allowed_domains: 'example.com', allow_subdomains: true });
  await v1('pki/config/cluster', { path: `${keelson.https}/v1/pki` });
  await v1('pki/config/acme', { enabled: true, dns_resolver: dns.address });
  await fetch(`${keelson.http}/api/v2/organizations`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${keelson.apiToken}`,
      'content-type': 'application/vnd.api+json',
    },
    body: JSON.stringify({
      data: { type: 'organizations', attributes: { name: 'acme', email: 'ops@example.com' } },
    }),
  });
  const bin = join(folder.path, 'bin');
  await mkdir(bin);
  for (const [name, program] of Object.entries(BUILT)) await symlink(program, join(bin, name));
  environment = {
    PATH: `${bin}:${process.env['PATH']}:/usr/sbin`,
    HOME: folder.path,
    LANG: 'C.UTF-8',
    K: keelson.http,
    HOST: new URL(keelson.https).host,
    CA: join(keelson.dataFolder, 'tls/ca.pem'),
    ROOT: keelson.rootToken,
    API: keelson.apiToken,
    ACME: `${keelson.https}/v1/pki/acme/directory`,
    HTTP_PORT: String(httpPort),
    HTTPS_PORT: String(httpsPort),
  };
});
afterAll(async () => {
  await keelson?.stop();
  await dns?.[Symbol.asyncDispose]();
  await folder[Symbol.asyncDispose]();
});

/** @returns what the block below this heading prints on standard output */
const paste = async (heading: string): Promise<string> => {
  const name = heading.toLowerCase().replaceAll(' ', '-');
  const own = join(folder.path, name);
  await mkdir(own);
  const block = documentedCommands('docs/clients.md', heading);
  try {
    const options = ['--norc', '-eu', '-o', 'pipefail', '-m', '-c', block];
    const { stdout } = await run('bash', options, {
      cwd: own,
      env: { ...environment, NAME: `${name}.example.com` },
    });
    return stdout;
  } catch (error) {
    const { stdout, stderr } = error as { readonly stdout?: string; readonly stderr?: string };
    throw new Error(`${heading} failed:\n${stdout}${stderr}\n${keelson.output()}`, {
      cause: error,
    });
  }
};

test('Vault and OpenBao', async () => {
  expect(await paste('Vault and OpenBao')).toMatch(/\nweb\n259200/);
  const pem = join(folder.path, 'vault-and-openbao/shop.pem');
  expect(await readFile(pem, 'utf8')).toContain('BEGIN CERTIFICATE');
});

test('Vault Agent', async () => {
  expect(await paste('Vault Agent')).toContain('subject=CN = daemon.example.com');
});

test('terraform', async () => {
  expect(await paste('terraform')).toMatch(/hello$/);
});

test.for(['certbot', 'lego'])('%s', async (heading) => {
  expect(await paste(heading)).toContain(`DNS:${heading}.example.com`);
});

test('step', async () => {
  expect(await paste('step')).toContain('DNS:step.example.com');
});

test('Caddy', async () => {
  expect(await paste('Caddy')).toContain('good evening from Caddy');
});

test('Apache httpd', async () => {
  expect(await paste('Apache httpd')).toContain('good evening from Apache');
});

test.for([
  ['clients.md', 'acme', 'acme/v1', 'server'],
  ['signing-in.md', 'vault', 'certmanager/v1', 'serviceAccountRef'],
] as const)(
  'cert-manager: its published types have every field of the manifest of %s',
  async ([page, kind, api, expected]) => {
    const module = 'github.com/cert-manager/cert-manager';
    const cwd = join(CONFORMANCE, 'cert-manager');
    await run('go', ['mod', 'download', module], { cwd });
    const { stdout } = await run('go', ['list', '-m', '-f', '{{.Dir}}', module], { cwd });
    const folder = join(stdout.trim(), 'pkg/apis', api);
    const types = await readFile(join(folder, 'types_issuer.go'), 'utf8');
    const text = await readFile(join(CONFORMANCE, '../docs', page), 'utf8');
    const [, manifest = ''] = new RegExp(`\\n {2}${kind}:\\n([\\s\\S]*?)\`\`\``).exec(text) ?? [];
    const fields = Array.from(manifest.matchAll(/^[ -]+(\w+):/gm), ([, name = '']) => name);
    expect(fields).toContain(expected);
    const unknown = fields.filter((name) => name !== 'name' && !types.includes(`json:"${name}`));
    expect(unknown).toEqual([]);
  },
);
