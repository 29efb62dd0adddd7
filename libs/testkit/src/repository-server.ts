/**
 * A server of repositories on loopback: git over HTTP, by git's own program, and an API that
 * records requests and gives the answers that a test sets.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryDirectory } from './temporary-directory.ts';

export interface ApiCall {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Record<string, unknown>;
}

export interface RepositoryServer extends AsyncDisposable {
  /** Scheme and authority. */
  readonly url: string;
  /** Folder of the bare repositories. */
  readonly folder: string;
  readonly calls: ApiCall[];
  /** Answers of the API; a test may replace it. */
  answer: (call: ApiCall) => { readonly status: number; readonly body?: unknown };
  /** Sees every request for git before it is served, and may answer in its place, or have it wait. */
  beforeGit: (request: IncomingMessage, response: ServerResponse) => boolean | Promise<boolean>;
  /** Runs git in the working copy of a repository, which is created if absent. */
  git(repository: string, ...args: readonly string[]): Promise<string>;
  /** Commits files to a branch, pushes it, and returns the commit. */
  commit(
    repository: string,
    files: Readonly<Record<string, string>>,
    branch?: string,
  ): Promise<string>;
}

const IDENTITY = {
  GIT_AUTHOR_NAME: 'Ada',
  GIT_AUTHOR_EMAIL: 'ada@b.example',
  GIT_COMMITTER_NAME: 'Ada',
  GIT_COMMITTER_EMAIL: 'ada@b.example',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_ALLOW_PROTOCOL: 'file:http',
};

const readBody = async (request: IncomingMessage): Promise<Buffer> => {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces);
};

/** As a web server runs the program: a CGI head, an empty line, the body. */
const serveGit = async (
  root: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const { pathname, search } = new URL(request.url ?? '', 'http://localhost');
  const child = spawn('git', ['http-backend'], {
    env: {
      PATH: process.env['PATH'],
      ...IDENTITY,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      REQUEST_METHOD: request.method,
      PATH_INFO: pathname,
      QUERY_STRING: search.slice(1),
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: String(request.headers['git-protocol'] ?? ''),
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  const pieces: Buffer[] = [];
  for await (const piece of child.stdout) pieces.push(piece as Buffer);
  const output = Buffer.concat(pieces);
  const end = output.indexOf('\r\n\r\n');
  const head = output.subarray(0, end).toString().split('\r\n');
  for (const line of head) {
    const [name = '', value = ''] = line.split(': ', 2);
    if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
    else if (name !== '') response.setHeader(name, value);
  }
  response.end(output.subarray(end + 4));
};

export const startRepositoryServer = async (): Promise<RepositoryServer> => {
  const directory = await temporaryDirectory();
  const root = join(directory.path, 'repositories');
  const calls: ApiCall[] = [];
  const run = async (folder: string, ...args: readonly string[]): Promise<string> => {
    const env = { PATH: process.env['PATH'], HOME: directory.path, ...IDENTITY };
    const { stdout } = await promisify(execFile)('git', args, { cwd: folder, env });
    return stdout.trim();
  };
  const http = createServer((request, response) => {
    const handle = async (): Promise<void> => {
      const path = request.url ?? '';
      if (path.includes('.git/')) {
        if (!(await server.beforeGit(request, response))) await serveGit(root, request, response);
        return;
      }
      const text = (await readBody(request)).toString();
      const call: ApiCall = {
        method: request.method ?? '',
        path,
        headers: request.headers,
        body: text === '' ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
      calls.push(call);
      const { status, body } = server.answer(call);
      response.writeHead(status, { 'content-type': 'application/json' });
      response.end(body === undefined ? '' : JSON.stringify(body));
    };
    handle().catch((error: unknown) => response.destroy(error as Error));
  });
  await once(http.listen(0, '127.0.0.1'), 'listening');
  const workingCopy = async (repository: string): Promise<string> => {
    const copy = join(directory.path, 'copies', repository);
    if ((await mkdir(copy, { recursive: true })) === undefined) return copy;
    const bare = join(root, `${repository}.git`);
    await mkdir(bare, { recursive: true });
    await run(bare, 'init', '--quiet', '--bare', '--initial-branch=main');
    await run(bare, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
    await run(copy, 'init', '--quiet', '--initial-branch=main');
    await run(copy, 'remote', 'add', 'origin', bare);
    return copy;
  };
  const server: RepositoryServer = {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    folder: root,
    calls,
    answer: () => ({ status: 201, body: { id: 7 } }),
    beforeGit: () => false,
    git: async (repository, ...args) => run(await workingCopy(repository), ...args),
    commit: async (repository, files, branch = 'main') => {
      const copy = await workingCopy(repository);
      if ((await run(copy, 'branch', '--show-current')) !== branch)
        await run(copy, 'checkout', '--quiet', '-B', branch);
      for (const [name, content] of Object.entries(files)) {
        await mkdir(dirname(join(copy, name)), { recursive: true });
        await writeFile(join(copy, name), content);
      }
      await run(copy, 'add', '--all');
      await run(copy, 'commit', '--quiet', '--message', `Change ${Object.keys(files).join(', ')}`);
      await run(copy, 'push', '--quiet', '--force', 'origin', branch);
      return run(copy, 'rev-parse', 'HEAD');
    },
    [Symbol.asyncDispose]: async () => {
      http.closeAllConnections();
      await new Promise((closed) => http.close(closed));
      await directory[Symbol.asyncDispose]();
    },
  };
  return server;
};
