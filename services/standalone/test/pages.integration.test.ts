/** The lines of pages of the documentation, pasted word for word against a server of their own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  publicAddress,
  type S3Server,
  startKeelson,
  startS3,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { openRunbookShell, type RunbookShell } from './runbook-shell.ts';

const COMMAND = join(import.meta.dirname, '../../cli/src/main.ts');

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let shell: RunbookShell;
let objects: S3Server;
let storage: Readonly<Record<string, string>>;

beforeAll(async () => {
  objects = await startS3();
  const { endpoint, bucket, accessKeyId, secretAccessKey } = objects.access;
  storage = {
    KEELSON_OBJECT_STORAGE_ENDPOINT: endpoint,
    KEELSON_OBJECT_STORAGE_BUCKET: bucket,
    KEELSON_OBJECT_STORAGE_ACCESS_KEY_ID: accessKeyId,
    KEELSON_OBJECT_STORAGE_SECRET_ACCESS_KEY: secretAccessKey,
  };
});
afterAll(() => objects?.[Symbol.asyncDispose]());

beforeEach(async () => {
  folder = await temporaryDirectory();
  const { KEELSON_PUBLIC_URL: address = '', ...port } = await publicAddress();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: {
      ...storage,
      ...port,
      // Browsers have passkeys for names of hosts only.
      KEELSON_PUBLIC_URL: address.replace('127.0.0.1', 'localhost'),
      KEELSON_BACKUP_EVERY_SECONDS: '86400',
    },
  });
  shell = openRunbookShell();
  await shell.set({ K: keelson.http, ROOT: keelson.rootToken, API: keelson.apiToken });
  await shell.paste(`cd '${folder.path}'`);
});
afterEach(async () => {
  await shell?.[Symbol.asyncDispose]();
  await keelson?.stop();
  await folder[Symbol.asyncDispose]();
});

/** The output of each block of a page, with the exit code of its last command. */
const paste = async (page: string): Promise<readonly string[]> => {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const printed: string[] = [];
  for (const [, block = ''] of text.matchAll(/^```sh\n([\s\S]*?)^```$/gm))
    printed.push(await shell.paste(`{ ${block} }; echo "code $?"`));
  return printed;
};

const isBackedUp = async (): Promise<boolean> => {
  const told = await fetch(`${keelson.http}/v1/sys/storage/backups`, {
    headers: { 'X-Service-Token': keelson.rootToken },
  });
  const { data } = (await told.json()) as { readonly data: { readonly last_success: unknown } };
  return data.last_success !== null;
};

test('backup.md', async () => {
  await shell.set(storage);
  await shell.paste(
    `export ${Object.keys(storage).join(' ')}; keelson() { '${process.execPath}' '${COMMAND}' "$@"; }`,
  );
  while (!(await isBackedUp())) await new Promise(setImmediate);
  expect(await paste('backup.md')).toEqual([
    'SHA256SUMS.sealed\ncode 0',
    'code 0',
    'code 0',
    expect.stringMatching(
      /^Restored keelson-\d{8}T\d{9}Z\.snapshot\. The server serves again.*\ncode 0$/,
    ),
  ]);
  const asked = await fetch(`${keelson.http}/v1/sys/storage/raft/snapshot`, {
    headers: { 'X-Service-Token': keelson.rootToken },
  });
  await asked.arrayBuffer();
  expect(asked.status).toBe(200);
});

test('certificate-authority.md', async () => {
  expect(await paste('certificate-authority.md')).toEqual([
    'code 0',
    'leaf.pem: OK\ncode 0',
    'leaf.pem: revoked\n1\ncode 0',
    expect.stringMatching(/^(?:Running|Finished)\ncode 0$/),
    'crl-signing,ocsp-signing,read-only\nleaf-2.pem: OK\ncode 0',
    'leaf-3.pem: OK\nleaf-3.pem: OK\ncode 0',
    '1\nleaf-4.pem: OK\ncode 0',
  ]);
});

test('signing-in.md', async () => {
  const [
    setUp,
    role,
    login,
    destroyed,
    user,
    own,
    factor,
    passkey,
    locked,
    entity,
    disabled,
    job,
    group,
    runs,
    people,
    oneSignIn,
  ] = await paste('signing-in.md');
  expect(
    [setUp, role, destroyed, entity, disabled, runs].map((text) =>
      text?.replaceAll(/\s+/g, ' ').trim(),
    ),
  ).toEqual(Array(6).fill('code 0'));
  expect(login).toMatch(/"display_name":"approle"[\s\S]*"role_name":"ci"[\s\S]*code 0/);
  expect(job).toMatch(/"entity_id":"[0-9a-f-]{36}"[\s\S]*code 0/);
  expect(group).toMatch(/^1\ncode 0/);
  expect(own).toBe('2\n0\ncode 0');
  expect(factor).toMatch(/otpauth:\/\/totp\/Keelson[\s\S]*\n[\w-]{100,}\ncode 0/);
  expect(passkey).toBe('webauthn\ncode 0');
  expect(locked).toBe('0\ncode 0');
  expect(people).toBe('720\ntrue\ncode 0');
  expect(oneSignIn).toBe('true\ncode 0');
  expect(user).toMatch(/"display_name":"userpass-alice"[\s\S]*code 0/);
});

test('access.md', async () => {
  expect(await paste('access.md')).toEqual([
    'code 0',
    '204\ncode 0',
    '200\n403\n403\ncode 0',
    '200\ncreate,update\ndeny\ncode 0',
    'token-ci\n403\ncode 0',
    '204\n2\nhashed\ncode 0',
    'team-a/\n200\ncode 0',
  ]);
});
