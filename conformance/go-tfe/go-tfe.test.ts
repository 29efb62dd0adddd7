/** The Go tests of this folder: the published go-tfe client, unchanged, against its own control plane. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { findFreePort, findGoModule, startKeelson, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const client = await findGoModule(import.meta.dirname);

const directory = await temporaryDirectory();
let stop = () => Promise.resolve<number | null>(null);
let environment: Readonly<Record<string, string>> = {};

beforeAll(async () => {
  const port = String(await findFreePort());
  const keelson = await startKeelson({
    dataFolder: directory.path,
    // OAuth clients have a callback address only where the public address is known.
    env: { KEELSON_HTTPS_PORT: port, KEELSON_PUBLIC_URL: `https://localhost:${port}` },
  });
  stop = () => keelson.stop();
  const facts = await readFile(join(keelson.dataFolder, 'first-run.json'), 'utf8');
  const { ca_certificate_file } = JSON.parse(facts) as { ca_certificate_file: string };
  environment = {
    SSL_CERT_FILE: ca_certificate_file,
    KEELSON_ADDRESS: keelson.https,
    KEELSON_API_TOKEN: keelson.apiToken,
  };
});
afterAll(async () => {
  await stop();
  await directory[Symbol.asyncDispose]();
});

test('go-tfe drives workspaces, states, teams and variables', async () => {
  expect(await client.vet()).toBe('');
  const report = await client.test(environment);
  expect(report).toMatch(/^ok\s/m);
  expect(report).not.toContain('FAIL');
});
