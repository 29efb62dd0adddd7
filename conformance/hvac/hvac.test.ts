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
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const REQUIREMENTS = fileURLToPath(new URL('requirements.txt', import.meta.url));
const SCENARIO = fileURLToPath(new URL('scenario.py', import.meta.url));

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

test('hvac uses health, tokens, policies, wrapping, messages, mounts, a certificate authority, approle, userpass, jwt, kubernetes and identity', async () => {
  const env = {
    ...process.env,
    PYTHONPATH: packages,
    SERVER_ADDRESS: keelson.http,
    SERVER_TOKEN: keelson.rootToken,
  };
  const { stdout } = await run('python3', [SCENARIO], { env });
  expect(stdout.trim()).toBe('done');
});
