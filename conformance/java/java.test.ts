/** The public Java driver for the secrets API, unmodified from its registry, against a real process. */
import { execFile } from 'node:child_process';
import { cp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify, stripVTControlCharacters } from 'node:util';
import {
  findBinary,
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
  keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
});
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

test('the Java driver uses mounts, tokens, a certificate authority, wrapping and the seal', async () => {
  const maven = await findBinary('mvn', 'maven');
  // The build leaves files behind.
  const project = join(folder.path, 'project');
  await cp(import.meta.dirname, project, { recursive: true });
  const facts = JSON.parse(await readFile(join(keelson.dataFolder, 'first-run.json'), 'utf8'));
  const env = {
    ...process.env,
    SERVER_ADDRESS: keelson.http,
    SERVER_TOKEN: keelson.rootToken,
    SERVER_SHARES: facts.unseal_keys.join(','),
  };
  const { stdout } = await promisify(execFile)(maven, ['-q', '-B', 'compile', 'exec:java'], {
    cwd: project,
    env,
  }).catch((failed: { readonly stdout: string }) => failed);
  // It has what failed. Maven resets the colours of a terminal also where there is none.
  expect(stripVTControlCharacters(stdout).trim()).toBe('done');
});
