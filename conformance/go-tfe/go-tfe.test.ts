/** The Go tests of this folder: the published go-tfe client, unchanged, against a control plane of its own. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findBinary, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const GO = await findBinary('go', 'golang').catch(() => undefined);
if (GO === undefined) {
  process.stderr.write('\n*** NOT TESTED: go is not in PATH, the tests with go-tfe do not run\n\n');
}

const directory = await temporaryDirectory();
let stop = () => Promise.resolve<number | null>(null);
let environment: NodeJS.ProcessEnv = {};

beforeAll(async () => {
  if (GO === undefined) return;
  const keelson = await startKeelson({ dataFolder: directory.path });
  stop = () => keelson.stop();
  const facts = await readFile(join(keelson.dataFolder, 'first-run.json'), 'utf8');
  const { ca_certificate_file } = JSON.parse(facts) as { ca_certificate_file: string };
  environment = {
    ...process.env,
    SSL_CERT_FILE: ca_certificate_file,
    KEELSON_ADDRESS: keelson.https,
    KEELSON_API_TOKEN: keelson.apiToken,
  };
});
afterAll(async () => {
  await stop();
  await directory[Symbol.asyncDispose]();
});

const go = async (env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<string> => {
  const run = promisify(execFile)(GO ?? 'go', args, { cwd: import.meta.dirname, env });
  const { stdout, stderr } = await run.catch((failed: { stdout?: string; stderr?: string }) => ({
    stdout: failed.stdout ?? '',
    stderr: failed.stderr ?? '',
  }));
  return stdout + stderr;
};

test.runIf(GO !== undefined)('go-tfe drives workspaces, states, teams and variables', async () => {
  // Built apart: modules come from a proxy that another authority vouches for.
  await go(process.env, 'mod', 'download');
  expect(await go(process.env, 'vet', './...')).toBe('');
  const report = await go(environment, 'test', '-count=1', './...');
  expect(report).toMatch(/^ok\s/m);
  expect(report).not.toContain('FAIL');
});
