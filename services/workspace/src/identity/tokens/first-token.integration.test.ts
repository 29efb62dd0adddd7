/** The first token of a distributed deployment: its source and its lifetime. */
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { temporaryDirectory } from '@keelson/testkit';
import { describe, expect, test } from 'vitest';
import { startHarness } from '../../../test/workspace-harness.ts';
import { adoptBootstrapToken } from './first-token-operations.ts';
import { withTokensOfFiles } from './token-files.ts';

const loadFirstToken = async (workspaceBootstrapTokenFile: string, set: object = {}) => {
  const config = await withTokensOfFiles({ workspaceBootstrapTokenFile, ...set });
  return (config as { readonly workspaceBootstrapToken?: string }).workspaceBootstrapToken;
};

describe('the file of the first token', () => {
  test('is created once, by whichever replica is first, and is readable only by its owner', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'token');
    const replicas = await Promise.all(Array.from({ length: 20 }, () => loadFirstToken(file)));
    expect(new Set(replicas).size).toBe(1);
    expect(await readFile(file, 'utf8')).toBe(`${replicas[0]}\n`);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await readdir(folder.path)).toEqual(['token']);
    expect(await loadFirstToken(file)).toBe(replicas[0]);
    expect(await loadFirstToken(join(folder.path, 'other'))).not.toBe(replicas[0]);
  });

  test('is not touched if a token is configured', async () => {
    await using folder = await temporaryDirectory();
    const set = { workspaceBootstrapToken: 'chosen' };
    expect(await loadFirstToken(join(folder.path, 'token'), set)).toBe('chosen');
    expect(await readdir(folder.path)).toEqual([]);
    expect(await withTokensOfFiles({})).toEqual({});
  });

  test('is never overwritten: if it contains no token, the start fails', async () => {
    await using folder = await temporaryDirectory();
    const file = join(folder.path, 'token');
    await writeFile(file, 'short\n');
    await expect(loadFirstToken(file)).rejects.toThrow(`${file} holds no token of at least 32`);
    expect(await readFile(file, 'utf8')).toBe('short\n');
    await mkdir(join(folder.path, 'folder'));
    await expect(loadFirstToken(join(folder.path, 'folder'))).rejects.toThrow('EISDIR');
    await expect(loadFirstToken(join(folder.path, 'none', 'token'))).rejects.toThrow('ENOENT');
  });
});

describe('the first token', () => {
  const [first, second] = ['first-'.repeat(8), 'second-'.repeat(8)] as const;

  test('belongs to the administrator, and is invalid once deleted or replaced', async () => {
    await using harness = await startHarness();
    const adopt = (secret: string) => adoptBootstrapToken(harness.store, harness.clock, secret);
    const statuses = async () => {
      const ask = async (token: string) =>
        (await harness.call('GET', '/account/details', undefined, token)).status;
      return [await ask(first), await ask(second), await ask(harness.adminToken)];
    };
    await adopt(first);
    expect(await statuses()).toEqual([200, 401, 200]);
    const attributes = { name: 'acme', email: 'ops@example.com' };
    const organization = { data: { type: 'organizations', attributes } };
    expect((await harness.call('POST', '/organizations', organization, first)).status).toBe(201);
    await adopt(first);
    await adopt(second);
    expect(await statuses()).toEqual([401, 200, 200]);

    const { data } = await harness.call('GET', '/account/details', undefined, second);
    const { list } = await harness.call('GET', `/users/${data.id}/authentication-tokens`);
    const made = list.find(({ attributes }) => attributes['description'] === 'bootstrap');
    await harness.call('DELETE', `/authentication-tokens/${made?.id}`);
    await adopt(second);
    expect(await statuses()).toEqual([401, 401, 200]);
  });
});
