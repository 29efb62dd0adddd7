/**
 * The tests that go-tfe, the public client of the workspace API, has of its own: unmodified, as they are published,
 * against a control plane with the built-in runner. `differences.ts` names those that do not pass.
 */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, copyFile, mkdir, writeFile } from 'node:fs/promises';
import {
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import {
  buildGoProgram,
  buildGoTests,
  type KeelsonProcess,
  type MailServer,
  startKeelson,
  startMailServer,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { DIFFERENCES, LEFT_OUT } from './differences.ts';

const MINUTES = 60_000;
const ADMINISTRATORS = [
  'SITE_ADMIN',
  'CONFIGURATION',
  'PROVISION_LICENSES',
  'SUBSCRIPTION',
  'SUPPORT',
  'SECURITY_MAINTENANCE',
  'VERSION_MAINTENANCE',
];
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

const answerWith = (response: ServerResponse, data: unknown): void => {
  response.writeHead(200, { 'content-type': 'application/vnd.api+json' });
  response.end(JSON.stringify({ data }));
};

/** Plans that an organization of the hosted service pays for, which the tests choose. */
const answerForPlans = (url: string, response: ServerResponse): boolean => {
  if (url.startsWith('/api/v2/admin/feature-sets'))
    answerWith(response, [{ id: 'fs-1', type: 'feature-sets' }]);
  else if (url.endsWith('/subscription'))
    answerWith(response, { id: 'sub-1', type: 'subscriptions' });
  else return false;
  return true;
};

/** Passes everything but the plans on to the control plane, and answers notifications at `/hook`. */
const startFront = async (target: () => string): Promise<{ server: Server; address: string }> => {
  const server = createServer((asked: IncomingMessage, response) => {
    const { url = '/', method, headers } = asked;
    if (url === '/hook' || answerForPlans(url, response)) {
      asked.resume();
      if (url === '/hook') response.end();
      return;
    }
    const passed = request(new URL(url, target()), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    asked.pipe(passed);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, address: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
};

/** A folder in which terraform finds the provider of the tests' configurations; returns the file that names it. */
const makeMirror = async (folder: string): Promise<string> => {
  const provider = await buildGoProgram(join(import.meta.dirname, 'null-provider'));
  const platform = `${process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`;
  const place = join(folder, 'registry.terraform.io/hashicorp/null/3.2.4', platform);
  await mkdir(place, { recursive: true });
  await copyFile(provider, join(place, 'terraform-provider-null_v3.2.4'));
  const file = join(folder, 'mirror.tfrc');
  await writeFile(
    file,
    `provider_installation {\n  filesystem_mirror {\n    path = "${folder}"\n  }\n}\n`,
  );
  return file;
};

const directory = await temporaryDirectory();
let keelson: KeelsonProcess;
let mail: MailServer;
let front: Awaited<ReturnType<typeof startFront>>;

beforeAll(async () => {
  // Passed through by the users that runs have of their own.
  await chmod(directory.path, 0o711);
  mail = await startMailServer();
  front = await startFront(() => keelson.http);
  keelson = await startKeelson({
    dataFolder: join(directory.path, 'keelson'),
    env: {
      KEELSON_PUBLIC_URL: front.address,
      KEELSON_RATE_LIMIT: 'off',
      KEELSON_RUNNER: 'true',
      KEELSON_RUNNER_READABLE_PATHS: join(directory.path, 'mirror'),
      KEELSON_RUNNER_CLI_CONFIG_FILE: await makeMirror(join(directory.path, 'mirror')),
      KEELSON_OUTBOUND_RANGES: '127.0.0.0/8',
      KEELSON_WORKSPACE_SMTP_URL: mail.url,
      KEELSON_WORKSPACE_MAIL_FROM: 'keelson@keelson.example',
    },
  });
});
afterAll(async () => {
  await keelson.stop();
  front.server.close();
  await mail[Symbol.asyncDispose]();
  await directory[Symbol.asyncDispose]();
});

/** The report of the tests, whether they pass or not. */
const runTests = async (): Promise<string> => {
  const { program, folder } = await buildGoTests(
    import.meta.dirname,
    'github.com/hashicorp/go-tfe',
  );
  const token = keelson.apiToken;
  const env = {
    PATH: process.env['PATH'],
    TMPDIR: directory.path,
    TFE_ADDRESS: front.address,
    TFE_TOKEN: token,
    ...Object.fromEntries(ADMINISTRATORS.map((role) => [`TFE_ADMIN_${role}_TOKEN`, token])),
    ENABLE_BETA: '1',
    TFC_RUN_TASK_URL: `${front.address}/hook`,
    OAUTH_CLIENT_GITHUB_TOKEN: 'token',
    GITHUB_POLICY_SET_IDENTIFIER: 'acme/policies',
    GITHUB_REGISTRY_MODULE_IDENTIFIER: 'acme/terraform-aws-network',
    GITHUB_REGISTRY_MODULE_BRANCH: 'main',
  };
  const leftOut = Object.values(LEFT_OUT).flat().join('|');
  const args = ['-test.v', '-test.timeout', '20m', '-test.skip', leftOut];
  return new Promise((resolve) => {
    execFile(program, args, { cwd: folder, env, maxBuffer: 2 ** 28 }, (_failed, stdout, stderr) =>
      resolve(stdout + stderr),
    );
  });
};

test(
  'the tests of go-tfe pass, except those that are known to differ',
  async () => {
    const report = await runTests();
    const found = [...report.matchAll(/^ *--- (PASS|FAIL): (\S+)/gm)];
    const failed = found.flatMap(([, verdict, name = '']) => (verdict === 'FAIL' ? [name] : []));
    // A test fails with its parts.
    const named = failed.filter((name) => !failed.some((other) => other.startsWith(`${name}/`)));
    const linesOf = (name: string): readonly string[] =>
      report.split('\n').filter((line) => line.includes(name));
    const unknown = named.filter((name) => !(name in DIFFERENCES));
    expect(Object.fromEntries(unknown.map((name) => [name, linesOf(name)]))).toEqual({});
    expect(Object.keys(DIFFERENCES).filter((name) => !named.includes(name))).toEqual([]);
    // Without an end of the program by a panic.
    expect(report).toMatch(/^(PASS|FAIL)$/m);
    expect(found.filter(([, verdict]) => verdict === 'PASS').length).toBeGreaterThan(500);
  },
  25 * MINUTES,
);
