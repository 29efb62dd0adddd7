/**
 * Clients that published generators make from the documents of a running process, unchanged: generated,
 * compiled, and used for one scenario each.
 *
 * | language   | generator             | document                       | scenario                         |
 * | ---------- | --------------------- | ------------------------------ | -------------------------------- |
 * | TypeScript | openapi-typescript    | `/openapi/workspace.json`      | a workspace and its lock         |
 * | Go         | oapi-codegen          | `sys/internal/specs/openapi`   | a certificate and its revocation |
 * | Python     | openapi-python-client | `/openapi/sys.json`            | a policy                         |
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
/** Those that the scenario needs: the whole client takes a minute to compile. */
const GO_TAGS = 'roles,issuing,issuers,certificates,revocation';
const go = await findBinary('go', 'golang').catch(() => undefined);

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: join(folder.path, 'data') });
  await fetch(`${keelson.http}/v1/sys/mounts/pki`, {
    method: 'POST',
    headers: { 'x-service-token': keelson.rootToken },
    body: '{"type":"pki"}',
  });
});
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

/** A copy of the folder of a language, with the document in it. */
const prepare = async (
  language: string,
  path: string,
): Promise<{ at: string; document: string }> => {
  const at = join(folder.path, language);
  await cp(join(FOLDER, language), at, { recursive: true });
  const answer = await fetch(keelson.http + path, {
    headers: { 'x-service-token': keelson.rootToken },
  });
  const document = join(at, 'document.json');
  await writeFile(document, await answer.text());
  return { at, document };
};

const environment = (token: string, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
  ...process.env,
  ...more,
  SERVER_ADDRESS: keelson.http,
  SERVER_TOKEN: token,
});

test('TypeScript: openapi-typescript and openapi-fetch', async () => {
  const { at, document } = await prepare('typescript', '/openapi/workspace.json');
  const options = ['--no-audit', '--no-fund', '--no-package-lock'];
  await run('npm', ['install', ...options], { cwd: at });
  const command = (name: string) => join(at, 'node_modules', '.bin', name);
  await run(command('openapi-typescript'), [document, '-o', 'workspace.d.ts'], { cwd: at });
  const types = join(FOLDER, '..', '..', 'node_modules', '@types');
  const compiled = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2024'];
  const modules = ['--module', 'nodenext', '--allowImportingTsExtensions'];
  await run(
    command('tsc'),
    [...compiled, ...modules, '--types', 'node', '--typeRoots', types, 'scenario.mts'],
    { cwd: at },
  );
  const { stdout } = await run(process.execPath, ['scenario.mts'], {
    cwd: at,
    env: environment(keelson.apiToken),
  });
  expect(stdout.trim()).toBe('done');
});

test.runIf(go !== undefined)('Go: oapi-codegen', async () => {
  const { at, document } = await prepare(
    'go',
    '/v1/sys/internal/specs/openapi?generic_mount_paths=true',
  );
  await mkdir(join(at, 'client'));
  const output = ['-package', 'client', '-o', join('client', 'client.go')];
  const wanted = ['-generate', 'types,client', '-include-tags', GO_TAGS];
  await run(go ?? '', ['tool', 'oapi-codegen', ...wanted, ...output, document], { cwd: at });
  const module = await findGoModule(at, 'the generated Go client');
  expect(await module?.vet()).toBe('');
  const report = await module?.test(environment(keelson.rootToken));
  expect(report).toMatch(/^ok\s/m);
  expect(report).not.toContain('FAIL');
});

test('Python: openapi-python-client', async () => {
  const { at, document } = await prepare('python', '/openapi/sys.json');
  const packages = join(at, 'packages');
  await installPythonPackages(packages, join(at, 'requirements.txt'));
  const env = environment(keelson.rootToken, { PYTHONPATH: `${packages}:${at}` });
  // Formatting the client takes longer than all else.
  await writeFile(join(at, 'config.yaml'), 'post_hooks: []\n');
  const generate = ['-m', 'openapi_python_client', 'generate', '--path', document];
  const output = ['--output-path', join(at, 'administration'), '--meta', 'none'];
  await run('python3', [...generate, ...output, '--config', join(at, 'config.yaml')], { env });
  const { stdout } = await run('python3', [join(at, 'scenario.py')], { env });
  expect(stdout.trim()).toBe('done');
});
