/** `keelson login --method cert`, over TLS. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Ended, runProgram } from './run-program.ts';

const MAIN = join(import.meta.dirname, '../src/main.ts');

let folder: TemporaryDirectory;
let server: KeelsonProcess;

const keelson = (...given: readonly string[]): Promise<Ended> =>
  runProgram(process.execPath, [MAIN, ...given], {
    cwd: folder.path,
    env: {
      PATH: process.env['PATH'],
      KEELSON_ADDR: server.https,
      KEELSON_CACERT: join(server.dataFolder, 'tls/ca.pem'),
      KEELSON_CONFIG_DIR: join(folder.path, 'config'),
    },
  });
const logIn = (name: string, key: string, ...more: readonly string[]): Promise<Ended> =>
  keelson('login', '--method', 'cert', '--client-cert', name, '--client-key', key, ...more);

beforeAll(async () => {
  folder = await temporaryDirectory();
  server = await startKeelson({
    dataFolder: join(folder.path, 'data'),
  });
  for (const name of ['alice', 'mallory']) {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-subj', `/CN=${name}`];
    const leaf = ['-addext', 'basicConstraints=critical,CA:FALSE'];
    const options = { cwd: folder.path, stdio: 'ignore' } as const;
    execFileSync('openssl', ['req', '-x509', ...key, ...files, ...leaf], options);
  }
  const v1 = (path: string, body: object): Promise<Response> =>
    fetch(`${server.http}/v1/${path}`, {
      method: 'POST',
      headers: { 'X-Service-Token': server.rootToken },
      body: JSON.stringify(body),
    });
  await v1('sys/auth/cert', { type: 'cert' });
  const certificate = readFileSync(join(folder.path, 'alice.pem'), 'utf8');
  await v1('auth/cert/certs/operator', { certificate });
}, 60_000);
afterAll(async () => {
  await server.stop();
  await folder[Symbol.asyncDispose]();
});

test('a certificate that no role accepts keeps no token, and one that a role accepts does', async () => {
  const refused = await logIn('mallory.pem', 'mallory.key');
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('failed to match')]);
  expect((await logIn('alice.pem', 'alice.key', '--role', 'other')).code).toBe(1);
  expect((await keelson('token', 'lookup')).err).toContain('There is no token');
  expect((await logIn('alice.pem', 'alice.key', '--role', 'operator')).code).toBe(0);
  expect((await keelson('token', 'lookup')).out).toContain('cert-operator');
});

test.for([
  [['absent.pem', 'alice.key'], 'absent.pem of --client-cert cannot be read'],
  [['alice.pem', 'mallory.key'], 'must be a certificate in PEM and its key'],
] as const)('%j is refused with a reason', async ([[name, key], text]) => {
  const { code, err } = await logIn(name, key);
  expect([code, err]).toEqual([1, expect.stringContaining(text)]);
});
