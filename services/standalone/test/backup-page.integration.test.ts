/** The lines of docs/backup.md, pasted word for word. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openRunbookShell, type RunbookShell } from './runbook-shell.ts';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let shell: RunbookShell;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  shell = openRunbookShell();
  await shell.set({ K: keelson.http, ROOT: keelson.rootToken });
  await shell.paste(`cd '${folder.path}'`);
});
afterAll(async () => {
  await shell?.[Symbol.asyncDispose]();
  await keelson?.stop();
  await folder[Symbol.asyncDispose]();
});

test('work as written', async () => {
  const page = readFileSync(new URL('../../../docs/backup.md', import.meta.url), 'utf8');
  const blocks = Array.from(page.matchAll(/^```sh\n([\s\S]*?)^```$/gm), ([, block = '']) => block);
  const printed: string[] = [];
  for (const block of blocks) printed.push(await shell.paste(`{ ${block} }; echo "code $?"`));
  expect(printed).toEqual(['SHA256SUMS.sealed\ncode 0', 'code 0', 'code 0']);
  const asked = await fetch(`${keelson.http}/v1/sys/storage/raft/snapshot`, {
    headers: { 'X-Service-Token': keelson.rootToken },
  });
  await asked.arrayBuffer();
  expect(asked.status).toBe(200);
});
