/** hvac, the Python client library, unmodified from its registry, against a real process. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import {
  installPythonPackages,
  type KeelsonProcess,
  startKeelson,
  temporaryDirectory,
} from '@keelson/testkit';
import { DIRECTORY_READER, startDirectory } from '@keelson/testkit/ldap-directory';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';

const run = promisify(execFile);
const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));

let folder: Awaited<ReturnType<typeof temporaryDirectory>>;
let keelson: KeelsonProcess;
let packages: string;

beforeAll(async () => {
  folder = await temporaryDirectory();
  packages = await installPythonPackages(REQUIREMENTS);
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    // Where the scenario has an API server of Kubernetes.
    env: { KEELSON_OUTBOUND_RANGES: '127.0.0.0/8' },
  });
});
afterAll(async () => {
  await keelson?.stop();
  await folder?.[Symbol.asyncDispose]();
});

const perform = async (script: string, more: NodeJS.ProcessEnv = {}): Promise<string> => {
  const env = {
    ...process.env,
    PYTHONPATH: packages,
    SERVER_ADDRESS: keelson.http,
    SERVER_TOKEN: keelson.rootToken,
    ...more,
  };
  const path = fileURLToPath(new URL(script, import.meta.url));
  return (await run('python3', [path], { env })).stdout.trim();
};

test('hvac uses health, tokens, policies, wrapping, messages, mounts, a certificate authority, approle, userpass, jwt, oidc, kubernetes and identity', async () => {
  expect(await perform('scenario.py')).toBe('done');
});

test('hvac signs in as a person of a directory, and with a client certificate', async () => {
  const directory = await startDirectory();
  onTestFinished(() => directory.stop());
  const printed = await perform('signing_in.py', {
    SERVER_TLS_ADDRESS: keelson.https,
    SERVER_AUTHORITY_FILE: join(keelson.dataFolder, 'tls', 'ca.pem'),
    DIRECTORY_URL: directory.url,
    DIRECTORY_READER: DIRECTORY_READER.binddn,
    DIRECTORY_PASSWORD: DIRECTORY_READER.bindpass,
    FOLDER: folder.path,
  });
  expect(printed).toBe('done');
});
