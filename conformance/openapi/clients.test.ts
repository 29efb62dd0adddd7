/**
 * Clients that published generators make from the documents of a running process, unchanged: generated,
 * compiled, and used for one scenario each.
 *
 * | language   | generator             | document                              | scenario                         |
 * | ---------- | --------------------- | ------------------------------------- | -------------------------------- |
 * | TypeScript | openapi-typescript    | `/openapi/workspace.json`             | a workspace and its lock         |
 * |            |                       | `/openapi/pki.json`                   | a certificate and its revocation |
 * | Go         | oapi-codegen          | `/openapi/workspace.json?version=3.0` | a workspace and its lock         |
 * |            |                       | `sys/internal/specs/openapi`          | a certificate and its revocation |
 * | Python     | openapi-python-client | `/openapi/workspace.json`             | a workspace and its lock         |
 * |            |                       | `/openapi/sys.json`                   | a policy                         |
 */
import { execFile } from 'node:child_process';
import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  findBinary,
  findGoModule,
  installPythonPackages,
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

const run = promisify(execFile);
const FOLDER = import.meta.dirname;
const WORKSPACES = '/openapi/workspace.json';
/** Packages of the Go scenarios: the clients of whole documents. */
const GO_CLIENTS = [
  { name: 'certificates', path: '/v1/sys/internal/specs/openapi?generic_mount_paths=true' },
  { name: 'workspaces', path: `${WORKSPACES}?version=3.0` },
] as const;
const go = await findBinary('go', 'golang');

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  for (const mount of ['pki', 'typescript'])
    await fetch(`${keelson.http}/v1/sys/mounts/${mount}`, {
      method: 'POST',
      headers: { 'x-service-token': keelson.rootToken },
      body: '{"type":"pki"}',
    });
});
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

/** A copy of the folder of a language. */
const prepare = async (language: string): Promise<string> => {
  const at = join(folder.path, language);
  await cp(join(FOLDER, language), at, { recursive: true });
  return at;
};

/** Writes the document at a path into a folder. @returns its file */
const fetchDocument = async (at: string, name: string, path: string): Promise<string> => {
  const answer = await fetch(keelson.http + path, {
    headers: { 'x-service-token': keelson.rootToken },
  });
  const file = join(at, `${name}.json`);
  await writeFile(file, await answer.text());
  return file;
};

const environment = (token: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
  SERVER_ADDRESS: keelson.http,
  SERVER_TOKEN: token,
});

test('TypeScript: openapi-typescript and openapi-fetch', async () => {
  const at = await prepare('typescript');
  const options = ['--no-audit', '--no-fund', '--no-package-lock'];
  await run('npm', ['install', ...options], { cwd: at });
  const command = (name: string) => join(at, 'node_modules', '.bin', name);
  const types = join(FOLDER, '..', '..', 'node_modules', '@types');
  const compiled = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024'];
  const modules = ['--module', 'nodenext', '--allowImportingTsExtensions'];
  for (const [name, path, token] of [
    ['workspaces', WORKSPACES, keelson.apiToken],
    ['certificates', '/openapi/pki.json', keelson.rootToken],
  ] as const) {
    const document = await fetchDocument(at, name, path);
    await run(command('openapi-typescript'), [document, '-o', `${name}.d.ts`], { cwd: at });
    const scenario = `${name}.mts`;
    await run(
      command('tsc'),
      [...compiled, ...modules, '--types', 'node', '--typeRoots', types, scenario],
      { cwd: at },
    );
    const env = environment(token);
    const { stdout } = await run(process.execPath, [scenario], { cwd: at, env });
    expect(`${name} ${stdout.trim()}`).toBe(`${name} done`);
  }
});

test('Go: oapi-codegen', async () => {
  const at = await prepare('go');
  for (const { name, path } of GO_CLIENTS) {
    const document = await fetchDocument(at, name, path);
    await mkdir(join(at, name));
    const output = ['-package', name, '-o', join(name, 'client.go')];
    const wanted = ['-generate', 'types,client'];
    await run(go, ['tool', 'oapi-codegen', ...wanted, ...output, document], { cwd: at });
  }
  const module = await findGoModule(at);
  expect(await module.vet()).toBe('');
  const env = environment(keelson.rootToken, { API_TOKEN: keelson.apiToken });
  const report = await module.test(env);
  expect(report).toMatch(/^ok\s/m);
  expect(report).not.toContain('FAIL');
});

test('Python: openapi-python-client', async () => {
  const at = await prepare('python');
  const packages = await installPythonPackages(join(at, 'requirements.txt'));
  // Formatting a client takes longer than all else.
  await writeFile(join(at, 'config.yaml'), 'post_hooks: []\n');
  for (const [name, path, token] of [
    ['administration', '/openapi/sys.json', keelson.rootToken],
    ['workspaces', WORKSPACES, keelson.apiToken],
  ] as const) {
    const env = environment(token, { PYTHONPATH: `${packages}:${at}` });
    const document = await fetchDocument(at, name, path);
    const generate = ['-m', 'openapi_python_client', 'generate', '--path', document];
    const output = ['--output-path', join(at, name), '--meta', 'none'];
    await run('python3', [...generate, ...output, '--config', join(at, 'config.yaml')], { env });
    const { stdout } = await run('python3', [join(at, `${name}_scenario.py`)], { env });
    expect(`${name} ${stdout.trim()}`).toBe(`${name} done`);
  }
});
