/** Signing in with a certificate over TLS: the lines of docs/client-certificates.md, proxies, and clients that lie. */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import {
  documentedCommands,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

/** Address of a proxy that terminates TLS. */
const PROXY = '127.0.0.2';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: { KEELSON_CLIENT_CERTIFICATES_FROM: PROXY },
  });
}, 60_000);
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

test('an operator signs in with a certificate until it is revoked', async () => {
  const commands = documentedCommands('docs/client-certificates.md', "An operator's certificate")
    .replaceAll('localhost:8443', new URL(keelson.https).host)
    .replaceAll('$PWD/data', keelson.dataFolder);
  const env = { ...process.env, K: keelson.http, ROOT: keelson.rootToken, TMPDIR: folder.path };
  const script = `set -eo pipefail\n${commands}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script], { env, cwd: folder.path });
  expect(stdout.trim().split('\n')).toEqual([
    'cert-operator',
    '3600',
    'the token cannot be renewed: its login would be refused now',
    'failed to match all constraints for this login certificate',
  ]);
});

test('a header with a certificate, which proves no key, is not that of a client', async () => {
  const login = await fetch(`${keelson.http}/v1/auth/cert/login`, {
    method: 'POST',
    headers: { 'client-cert': ':AAAA:' },
  });
  expect([login.status, await login.json()]).toEqual([
    400,
    { errors: ['client certificate must be supplied'] },
  ]);
});

describe('behind a proxy that terminates TLS', () => {
  let certificate: string;
  /** Asks from an address, with a certificate as the proxy passes it on. */
  const ask = (from: string, path: string, body: string, type = 'application/json') =>
    new Promise<readonly [number | undefined, string]>((resolve, reject) => {
      const headers = { 'client-cert': certificate, 'content-type': type };
      const sent = httpRequest(
        keelson.http + path,
        { method: 'POST', headers, localAddress: from, agent: false },
        (response) => {
          text(response).then((answer) => resolve([response.statusCode, answer]), reject);
        },
      );
      sent.on('error', reject);
      sent.end(body);
    });
  const administer = async (path: string, body: object) => {
    const response = await fetch(`${keelson.http}/v1/${path}`, {
      method: 'POST',
      headers: { 'x-service-token': keelson.rootToken },
      body: JSON.stringify(body),
    });
    const answer = await response.text();
    return answer === '' ? {} : JSON.parse(answer).data;
  };

  beforeAll(async () => {
    await administer('sys/mounts/devices', { type: 'pki' });
    await administer('devices/root/generate/internal', { common_name: 'Devices', key_type: 'ec' });
    const role = { allow_any_name: true, enforce_hostnames: false, key_type: 'ec', ttl: '1h' };
    await administer('devices/roles/device', role);
    await administer('devices/config/est', {
      enabled: true,
      default_mount: true,
      default_path_policy: 'role:device',
      authenticators: { cert: {} },
    });
    const issued = await administer('devices/issue/device', { common_name: 'printer' });
    certificate = `:${new X509Certificate(issued.certificate).raw.toString('base64')}:`;
    await administer('sys/auth/proxied', { type: 'cert' });
    await administer('auth/proxied/certs/printer', { certificate: issued.issuing_ca });
  });

  test('a client signs in with the certificate that the proxy names, and nobody else does', async () => {
    const [status, answer] = await ask(PROXY, '/v1/auth/proxied/login', '{}');
    expect([status, JSON.parse(answer).auth?.metadata]).toMatchObject([
      200,
      { common_name: 'printer' },
    ]);
    expect((await ask('127.0.0.3', '/v1/auth/proxied/login', '{}'))[0]).toBe(400);
  });

  test('a device enrols by EST with the certificate that the proxy names, and nobody else does', async () => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const files = ['-keyout', join(folder.path, 'new.key'), '-outform', 'DER'];
    const options = ['req', '-new', ...key, ...files, '-subj', '/CN=printer'];
    const { stdout } = await promisify(execFile)('openssl', options, { encoding: 'buffer' });
    const enrol = (from: string) =>
      ask(from, '/.well-known/est/simpleenroll', stdout.toString('base64'), 'application/pkcs10');
    expect((await enrol(PROXY))[0]).toBe(200);
    expect((await enrol('127.0.0.3'))[0]).toBe(401);
  });
});
