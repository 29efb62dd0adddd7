/** Fetching with the real git from a real server. */

import { execFile } from 'node:child_process';
import { access, mkdir, readdir, readFile, readlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { createOutbound } from '@keelson/outbound';
import { createPublicAddressPolicy } from '@keelson/outbound/addresses';
import {
  type RepositoryServer,
  startRepositoryServer,
  startSshServer,
  temporaryDirectory,
} from '@keelson/testkit';
import {
  afterAll,
  beforeAll,
  beforeEach,
  describe,
  expect,
  onTestFinished,
  test,
  vi,
} from 'vitest';
import { FetchedRepository, type FetchLimits } from './fetched-repository.ts';
import { archiveCommit } from './repository-archive.ts';

let server: RepositoryServer;
beforeAll(async () => {
  server = await startRepositoryServer();
});
afterAll(() => server[Symbol.asyncDispose]());
beforeEach(() => {
  server.beforeGit = () => false;
});

const LIMITS: FetchLimits = { timeLimitMs: 60_000, limitBytes: 64 * 1024 * 1024 };
const TOKEN = 'secret-token-of-the-tests';

const unpack = async (pieces: AsyncIterable<Uint8Array>): Promise<Record<string, string>> => {
  await using folder = await temporaryDirectory();
  const archive = join(folder.path, 'archive.tar.gz');
  const unpacked = join(folder.path, 'files');
  await mkdir(unpacked);
  await writeFile(archive, pieces);
  await promisify(execFile)('tar', ['-xzf', archive, '-C', unpacked]);
  const files: Record<string, string> = {};
  for (const entry of await readdir(unpacked, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (entry.isSymbolicLink()) files[relative(unpacked, path)] = await readlink(path);
    if (entry.isFile()) files[relative(unpacked, path)] = await readFile(path, 'utf8');
  }
  return files;
};

const use = async <T>(
  repository: string,
  work: (fetched: FetchedRepository) => Promise<T>,
  {
    ranges = ['127.0.0.1'],
    limits = LIMITS,
    sshKey,
  }: { ranges?: string[]; limits?: FetchLimits; sshKey?: string } = {},
): Promise<T> => {
  const outbound = createOutbound({
    policy: createPublicAddressPolicy(ranges),
    timeoutMs: 10_000,
  });
  const cloneUrl = `${server.url}/${repository}.git`;
  try {
    const source = { cloneUrl, username: 'u', token: TOKEN, sshKey };
    return await FetchedRepository.use(source, limits, outbound, work);
  } finally {
    await outbound.close();
  }
};

const filesOf = (
  repository: string,
  ref = 'refs/heads/main',
  withSubmodules = false,
  options: Parameters<typeof use>[2] = {},
) =>
  use(
    repository,
    async (fetched) => {
      const folder = await fetched.create();
      const sha = await fetched.fetch(folder, fetched.cloneUrl, ref);
      return unpack(
        archiveCommit(fetched, folder, sha, { withSubmodules, limitBytes: LIMITS.limitBytes }),
      );
    },
    options,
  );

/** Links a commit as the submodule at "m". */
const link = async (repository: string, url: string, sha: string) => {
  await server.commit(repository, {
    '.gitmodules': `[submodule "m"]\n\tpath = m\n\turl = ${url}\n`,
  });
  await server.git(repository, 'update-index', '--add', '--cacheinfo', `160000,${sha},m`);
  await server.git(repository, 'commit', '--quiet', '--allow-empty', '--message=link');
  await server.git(repository, 'push', '--quiet', 'origin', 'main');
};

describe('a fetch', () => {
  test('contains all files of one commit, regardless of the attributes of the repository', async () => {
    await server.commit('a/plain', { 'old.tf': 'before' });
    const sha = await server.commit('a/plain', {
      'main.tf': 'now $Format:%H$',
      'deep/er/x.tf': 'y',
      '.gitattributes': 'main.tf export-subst\ndeep export-ignore\n',
    });
    await use('a/plain', async (fetched) => {
      expect(await fetched.lookUp()).toMatchObject({ defaultBranch: 'main' });
      const folder = await fetched.create();
      expect(await fetched.fetch(folder, fetched.cloneUrl, 'refs/heads/main')).toBe(sha);
      expect(await fetched.describe(folder, sha)).toMatchObject({ sha, author: 'Ada' });
      const files = await unpack(
        archiveCommit(fetched, folder, sha, {
          withSubmodules: false,
          limitBytes: LIMITS.limitBytes,
        }),
      );
      expect(files).toMatchObject({ 'old.tf': 'before', 'main.tf': 'now $Format:%H$' });
      expect(files['deep/er/x.tf']).toBe('y');
    });
  });

  test('finds an annotated tag, and the files that differ between two commits', async () => {
    const before = await server.commit('a/tags', { 'one.tf': '1' });
    const after = await server.commit('a/tags', { 'two/three.tf': '2' });
    await server.git('a/tags', 'tag', '--annotate', '--message=m', 'v1.0.0');
    await server.git('a/tags', 'push', '--quiet', 'origin', 'v1.0.0');
    await use('a/tags', async (fetched) => {
      const folder = await fetched.create();
      expect(await fetched.fetch(folder, fetched.cloneUrl, 'refs/tags/v1.0.0')).toBe(after);
      await fetched.fetch(folder, fetched.cloneUrl, before);
      expect(await fetched.changedFiles(folder, before, after)).toEqual(['two/three.tf']);
    });
  });

  test('contains symbolic links without following them', async () => {
    await server.commit('a/links', { 'main.tf': '' });
    await server.git('a/links', 'config', 'core.symlinks', 'true');
    const { symlink } = await import('node:fs/promises');
    const top = await server.git('a/links', 'rev-parse', '--show-toplevel');
    await symlink('/etc/passwd', `${top}/escape`);
    await server.commit('a/links', { 'b.tf': '' });
    expect(await filesOf('a/links')).toMatchObject({ escape: '/etc/passwd' });
  });

  test('contains the files of submodules if requested', async () => {
    const inner = await server.commit('a/inner', { 'inner.tf': 'inside' });
    await server.commit('a/outer', {
      'main.tf': '',
      '.gitmodules': '[submodule "m"]\n\tpath = modules/m\n\turl = ../inner.git\n',
    });
    await server.git(
      'a/outer',
      'update-index',
      '--add',
      '--cacheinfo',
      `160000,${inner},modules/m`,
    );
    await server.git('a/outer', 'commit', '--quiet', '--message=link');
    await server.git('a/outer', 'push', '--quiet', 'origin', 'main');
    expect(await filesOf('a/outer', 'refs/heads/main', true)).toMatchObject({
      'modules/m/inner.tf': 'inside',
    });
    expect(Object.keys(await filesOf('a/outer'))).not.toContain('modules/m/inner.tf');
  });

  test.for([
    ['file:///etc', 'http and https'],
    ['git@host.example:a/b.git', 'http and https'],
    ['http://[::1]:1/a/b.git', 'the address policy permits no address of ::1'],
  ] as const)('refuses a submodule at %s', async ([url, reason]) => {
    const inner = await server.commit('a/inner', { [`${Math.abs(url.length)}.tf`]: url });
    await link('a/bad', url, inner);
    await expect(filesOf('a/bad', 'refs/heads/main', true)).rejects.toThrow(reason);
  });

  test('contains submodules at SSH addresses, fetched with the key and through the proxy', async () => {
    await using ssh = await startSshServer(server.folder);
    const nested = await server.commit('ssh/nested', { 'nested.tf': 'deep' });
    await server.commit('ssh/inner', { 'inner.tf': 'inside' });
    // Relative to an address of SSH.
    await link('ssh/inner', '../nested.git', nested);
    const inner = await server.git('ssh/inner', 'rev-parse', 'HEAD');
    await link('ssh/outer', `ssh://git@${ssh.authority}/ssh/inner.git`, inner);
    const fetch = (options: Parameters<typeof use>[2]) =>
      filesOf('ssh/outer', 'refs/heads/main', true, options);
    expect(await fetch({ sshKey: ssh.privateKey })).toMatchObject({
      'm/inner.tf': 'inside',
      'm/m/nested.tf': 'deep',
    });
    expect(ssh.commands).toEqual([
      "git-upload-pack '/ssh/inner.git'",
      "git-upload-pack '/ssh/nested.git'",
    ]);
    await expect(fetch({})).rejects.toThrow('over SSH where the OAuth token has an SSH key');
    await using other = await startSshServer(server.folder);
    await expect(fetch({ sshKey: other.privateKey })).rejects.toThrow(
      /the submodule m: git: git@127\.0\.0\.1: Permission denied \(publickey\)/,
    );
    await expect(fetch({ sshKey: 'no-key' })).rejects.toThrow('Permission denied');
    expect(ssh.commands).toHaveLength(2);
  });

  test.for([
    ['ssh://git@[::1]:1/a/b.git', 'the submodule m is at'],
    ['ssh://git@10.0.0.1:22/a/b.git', 'the address policy permits no address of 10.0.0.1'],
    ['git@10.0.0.1:a/b.git', 'the address policy permits no address of 10.0.0.1'],
    ['ssh://git@-oProxyCommand=x/a/b.git', 'the submodule m is at'],
    ['ssh://-oProxyCommand=x@127.0.0.1/a/b.git', 'the submodule m is at'],
    ['ssh://git@`touch${IFS}x`/a/b.git', 'the submodule m is at'],
    ['ssh://git:password@127.0.0.1/a/b.git', 'the submodule m is at'],
    ['file:///etc', 'the submodule m is at'],
    ['ext::sh -c true', 'the submodule m is at'],
  ] as const)('with an SSH key refuses a submodule at %s', async ([url, reason]) => {
    await using ssh = await startSshServer(server.folder);
    const inner = await server.commit('a/unreached', { [`${url.length}.tf`]: url });
    await link('a/refused', url, inner);
    const fetching = filesOf('a/refused', 'refs/heads/main', true, { sshKey: ssh.privateKey });
    await expect(fetching).rejects.toThrow(reason);
  });

  test('sends the token only to its server, and shows it in no error', async () => {
    const seen: (string | undefined)[] = [];
    server.beforeGit = (request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(403).end(`no ${TOKEN}`);
      return true;
    };
    const failed = await filesOf('a/plain').catch((error: unknown) => String(error));
    expect(seen[0]).toBe(`Basic ${Buffer.from(`u:${TOKEN}`).toString('base64')}`);
    expect(failed).toContain('403');
    expect(failed).not.toContain(TOKEN);
  });

  test('runs no hooks, neither those of the machine nor those of its user', async () => {
    await server.commit('a/hooks', { 'main.tf': '' });
    await using machine = await temporaryDirectory();
    const trace = join(machine.path, 'trace');
    const hooks = join(machine.path, 'template', 'hooks');
    await mkdir(hooks, { recursive: true });
    await writeFile(join(hooks, 'reference-transaction'), `#!/bin/sh\ntouch ${trace}\n`, {
      mode: 0o755,
    });
    await writeFile(join(machine.path, '.gitconfig'), `[core]\n\thooksPath = ${hooks}\n`);
    vi.stubEnv('HOME', machine.path);
    vi.stubEnv('GIT_TEMPLATE_DIR', join(machine.path, 'template'));
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(await filesOf('a/hooks')).toHaveProperty('main.tf');
    await expect(access(trace)).rejects.toThrow('ENOENT');
    // Elsewhere they are run.
    const git = (...args: string[]) => promisify(execFile)('git', args, { cwd: machine.path });
    await git('init', '--quiet', 'own');
    await git('-C', 'own', 'fetch', '--quiet', join(server.folder, 'a/hooks.git'), 'main:fetched');
    await access(trace);
  });

  test('refuses addresses that are not permitted', () =>
    expect(use('a/plain', (fetched) => fetched.lookUp(), { ranges: [] })).rejects.toThrow(
      'the address policy permits no address of 127.0.0.1',
    ));

  test('follows no redirect', async () => {
    server.beforeGit = (_request, response) => {
      response.writeHead(302, { location: 'http://169.254.169.254/x.git/info/refs' }).end();
      return true;
    };
    await expect(use('a/plain', (fetched) => fetched.lookUp())).rejects.toThrow(/git: /);
  });

  test('ends when it takes too long', async () => {
    server.beforeGit = () => true;
    const limits = { ...LIMITS, timeLimitMs: 300 };
    await expect(use('a/plain', (fetched) => fetched.lookUp(), { limits })).rejects.toThrow(
      'took longer than the 0.3 seconds',
    );
  });

  test('ends when the server goes on sending a little at a time', async () => {
    server.beforeGit = (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-advertisement' });
      const dripping = setInterval(() => response.write('0'), 20);
      response.once('close', () => clearInterval(dripping));
      return true;
    };
    const limits = { ...LIMITS, timeLimitMs: 1000 };
    await expect(use('a/plain', (fetched) => fetched.lookUp(), { limits })).rejects.toThrow(
      'took longer than the 1 seconds',
    );
  });

  test('ends when the server sends a pack without an end', async () => {
    await server.commit('a/endless', { 'main.tf': '' });
    let posts = 0;
    server.beforeGit = (request, response) => {
      // The first one lists references.
      if (request.method !== 'POST' || (posts += 1) === 1) return false;
      request.resume();
      response.writeHead(200, { 'content-type': 'application/x-git-upload-pack-result' });
      // Progress messages (side band 2), of which a client takes any number.
      const message = Buffer.from(`fff0\u0002${'.'.repeat(0xfff0 - 5)}`);
      response.write('000dpackfile\n');
      const send = (): void => {
        while (!response.destroyed && response.write(message));
        response.once('drain', send);
      };
      send();
      return true;
    };
    const limits = { ...LIMITS, limitBytes: 5_000_000 };
    const fetching = use(
      'a/endless',
      async (fetched) => fetched.fetch(await fetched.create(), fetched.cloneUrl, 'refs/heads/main'),
      { limits },
    );
    await expect(fetching).rejects.toThrow('larger than the 5000000 bytes');
  });

  test('ends when it transfers too much', async () => {
    const { randomBytes } = await import('node:crypto');
    await server.commit('a/large', { 'large.bin': randomBytes(1_500_000).toString('hex') });
    const limits = { ...LIMITS, limitBytes: 500_000 };
    await expect(
      use(
        'a/large',
        async (fetched) =>
          fetched.fetch(await fetched.create(), fetched.cloneUrl, 'refs/heads/main'),
        { limits },
      ),
    ).rejects.toThrow('larger than the 500000 bytes');
  });
});
