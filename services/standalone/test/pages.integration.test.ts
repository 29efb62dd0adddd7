/** The lines of pages of the documentation, pasted word for word against a server of their own. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openRunbookShell, type RunbookShell } from './runbook-shell.ts';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let shell: RunbookShell;

beforeEach(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  shell = openRunbookShell();
  await shell.set({ K: keelson.http, ROOT: keelson.rootToken });
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

test('backup.md', async () => {
  expect(await paste('backup.md')).toEqual(['SHA256SUMS.sealed\ncode 0', 'code 0', 'code 0']);
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
