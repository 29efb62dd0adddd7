/** Signing in with a certificate over TLS: the lines of docs/client-certificates.md, and clients that lie. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  documentedCommands,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
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
