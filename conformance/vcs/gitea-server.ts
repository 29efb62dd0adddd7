/** Gitea, unmodified from its Go module, with a user and a token; its data is in a temporary folder. */
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  buildTaggedGoProgram,
  findBinary,
  findFreePort,
  ServerProcess,
  temporaryDirectory,
} from '@keelson/testkit';

const MODULE = join(import.meta.dirname, 'gitea');

/** Built once, which takes minutes, and kept in Go's cache. */
const GITEA = await buildTaggedGoProgram(MODULE, 'code.gitea.io/gitea', [
  'sqlite',
  'sqlite_unlock_notify',
]);

const execute = promisify(execFile);

export interface GiteaServer extends AsyncDisposable {
  readonly url: string;
  readonly token: string;
  readonly process: ServerProcess;
  /** Calls the API as the user. @returns the parsed answer */
  api<T>(method: string, path: string, body?: unknown): Promise<T>;
  /** Runs git in a working copy of a repository of the user, which is made first if it is absent. */
  git(repository: string, ...args: readonly string[]): Promise<string>;
  /** Commits files, pushes the branch, and returns the commit. */
  push(
    repository: string,
    files: Readonly<Record<string, string>>,
    branch?: string,
  ): Promise<string>;
}

const USER = 'ada';
const PASSWORD = 'a password of the tests';

const settings = (folder: string, staticRoot: string, port: number): string => `
RUN_MODE = prod
I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
WORK_PATH = ${folder}
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = http://127.0.0.1:${port}/
STATIC_ROOT_PATH = ${staticRoot}
DISABLE_SSH = true
OFFLINE_MODE = true
[database]
DB_TYPE = sqlite3
PATH = ${join(folder, 'gitea.db')}
[security]
INSTALL_LOCK = true
SECRET_KEY = of-the-tests
[webhook]
ALLOWED_HOST_LIST = loopback
[log]
MODE = console
LEVEL = Info
[cron]
ENABLED = false
[indexer]
ISSUE_INDEXER_TYPE = db
[service]
DISABLE_REGISTRATION = true
`;

export const startGitea = async (): Promise<GiteaServer> => {
  const directory = await temporaryDirectory();
  const go = await findBinary('go', 'golang');
  const listed = await execute(go, ['list', '-m', '-f', '{{.Dir}}', 'code.gitea.io/gitea'], {
    cwd: MODULE,
  });
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const config = join(directory.path, 'app.ini');
  await writeFile(config, settings(directory.path, listed.stdout.trim(), port));
  const env = {
    PATH: process.env['PATH'],
    HOME: directory.path,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_AUTHOR_NAME: 'Ada',
    GIT_AUTHOR_EMAIL: 'ada@b.example',
    GIT_COMMITTER_NAME: 'Ada',
    GIT_COMMITTER_EMAIL: 'ada@b.example',
  };
  const administer = async (...args: readonly string[]): Promise<string> =>
    (await execute(GITEA, ['--config', config, 'admin', 'user', ...args], { env })).stdout.trim();
  await execute(GITEA, ['--config', config, 'migrate'], { env });
  const identity = ['--username', USER, '--password', PASSWORD, '--email', 'ada@b.example'];
  await administer('create', ...identity, '--admin', '--must-change-password=false');
  const wanted = ['--username', USER, '--scopes', 'all', '--raw'];
  const printed = await administer('generate-access-token', ...wanted);
  // Log lines come first.
  const token = printed.split('\n').at(-1) ?? '';
  const server = new ServerProcess({
    file: GITEA,
    args: ['--config', config, 'web'],
    ready: /Starting new Web server/,
  });
  await server.start();
  const api: GiteaServer['api'] = async (method, path, body) => {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: { authorization: `token ${token}`, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as never;
  };
  const run = async (folder: string, ...args: readonly string[]): Promise<string> =>
    (await execute('git', args, { cwd: folder, env })).stdout.trim();
  const workingCopy = async (repository: string): Promise<string> => {
    const copy = join(directory.path, 'copies', repository);
    if ((await mkdir(copy, { recursive: true })) === undefined) return copy;
    await api('POST', '/user/repos', { name: repository, default_branch: 'main' });
    await run(copy, 'init', '--quiet', '--initial-branch=main');
    const remote = `http://${USER}:${token}@127.0.0.1:${port}/${USER}/${repository}.git`;
    await run(copy, 'remote', 'add', 'origin', remote);
    return copy;
  };
  return {
    url,
    token,
    process: server,
    api,
    git: async (repository, ...args) => run(await workingCopy(repository), ...args),
    push: async (repository, files, branch = 'main') => {
      const copy = await workingCopy(repository);
      if ((await run(copy, 'branch', '--show-current')) !== branch)
        await run(copy, 'checkout', '--quiet', '-B', branch);
      for (const [name, content] of Object.entries(files))
        await writeFile(join(copy, name), content);
      await run(copy, 'add', '--all');
      await run(copy, 'commit', '--quiet', '--message', `Change ${Object.keys(files).join(', ')}`);
      await run(copy, 'push', '--quiet', 'origin', branch);
      return run(copy, 'rev-parse', 'HEAD');
    },
    [Symbol.asyncDispose]: async () => {
      await server.stop();
      await directory[Symbol.asyncDispose]();
    },
  };
};
