/**
 * A run that gets its own certificate from the installation that executes it, with no secret anywhere: the recipe of
 * docs/signing-in.md, the real terraform, and the published provider for the secrets API, unmodified.
 *
 * | run                                              | outcome                                                      |
 * | ------------------------------------------------ | ------------------------------------------------------------ |
 * | of the workspace whose role the policy names     | applied, with a certificate; its tokens are gone afterwards  |
 * | of another workspace of the organization         | errored: the policy is that of its own workspace             |
 * | of another organization                          | errored before any of its code is executed                   |
 * | that prints its environment                      | the log does not have its tokens                             |
 * | that is canceled, whose process is killed        | its tokens are gone afterwards                               |
 */
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { documentedCommands } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  awaitLog,
  createOrganization,
  createWorkspace,
  logOf,
  queueRun,
  settledStatus,
  uploadConfiguration,
} from '../terraform/api-runs.ts';
import type { Installation } from '../terraform/terraform-cli.ts';
import {
  certificatesOf,
  installWithProvider,
  makeAuthority,
  type RunsWithProvider,
} from './runs-with-provider.ts';

const PAGE = 'docs/signing-in.md';
const HEADING = 'A run that gets its own certificate';
const SLOW_MS = 240_000;

let runs: RunsWithProvider;
let installation: Installation;

/** The HCL of the recipe. */
const configurationOf = async (): Promise<string> => {
  const page = await readFile(new URL(`../../${PAGE}`, import.meta.url), 'utf8');
  return /```hcl\n([\s\S]*?)```/.exec(page.slice(page.indexOf(`\n## ${HEADING}\n`)))?.[1] ?? '';
};

const prepare = async (organization: string, name: string, configuration: string) => {
  const id = await createWorkspace(installation, organization, name, { 'auto-apply': true });
  await runs.setVariables(id, {
    TFC_VAULT_PROVIDER_AUTH: 'true',
    TFC_VAULT_ADDR: installation.address,
    TFC_VAULT_AUTH_PATH: 'runs',
    TFC_VAULT_RUN_ROLE: 'acme',
    TFC_WORKLOAD_IDENTITY_AUDIENCE: 'shown',
  });
  await uploadConfiguration(installation, id, { 'main.tf': configuration });
  return id;
};

beforeAll(async () => {
  runs = await installWithProvider();
  ({ installation } = runs);
  await makeAuthority(runs, 'pki');
  const page = await readFile(new URL(`../../${PAGE}`, import.meta.url), 'utf8');
  const helpers = /```sh\n([\s\S]*?)```/.exec(page)?.[1] ?? '';
  const commands = `${helpers}\n${documentedCommands(PAGE, HEADING)}`;
  const env = { ...process.env, K: installation.http, ROOT: runs.rootToken };
  await promisify(execFile)('bash', ['-ec', commands], { env, cwd: dirname(import.meta.dirname) });
}, SLOW_MS);
afterAll(() => installation[Symbol.asyncDispose]());

test('gets it, and its tokens are gone afterwards', { timeout: SLOW_MS }, async () => {
  const before = await runs.accessors();
  const id = await prepare('acme', 'web', await configurationOf());
  const runId = await queueRun(installation, id);
  const status = await settledStatus(installation, runId);
  expect(`${status}\n${await logOf(installation, runId, 'apply')}`).toMatch(/^applied/);
  const { web = '' } = await certificatesOf(installation, id);
  const certificate = new X509Certificate(web);
  expect(certificate.subjectAltName).toBe('DNS:web.example.com');
  expect(await runs.accessors()).toEqual(before);
});

test('is refused the role of another workspace', { timeout: SLOW_MS }, async () => {
  const before = await runs.accessors();
  const id = await prepare('acme', 'shop', await configurationOf());
  const runId = await queueRun(installation, id);
  expect(await settledStatus(installation, runId)).toBe('errored');
  expect(await logOf(installation, runId, 'apply')).toContain('permission denied');
  expect(await runs.accessors()).toEqual(before);
});

test('does not sign in for another organization', { timeout: SLOW_MS }, async () => {
  await createOrganization(installation, 'strangers');
  const id = await prepare('strangers', 'web', await configurationOf());
  const runId = await queueRun(installation, id);
  expect(await settledStatus(installation, runId)).toBe('errored');
  const log = await logOf(installation, runId, 'plan');
  expect(log).toContain('The login with role acme');
  expect(log).toContain('terraform_organization_name');
  expect(log).not.toContain('Initializing');
});

test('shows no token in its log', { timeout: SLOW_MS }, async () => {
  const printing = `resource "terraform_data" "one" {
    provisioner "local-exec" { command = "env | grep -E 'TOKEN|VAULT'; cat ../credentials/VAULT/token" }
  }`;
  const id = await prepare('acme', 'printing', printing);
  const runId = await queueRun(installation, id);
  expect(await settledStatus(installation, runId)).toBe('applied');
  const log = await logOf(installation, runId, 'apply');
  expect(log).toContain('VAULT_TOKEN=(sensitive value)');
  expect(log).toContain('TFC_WORKLOAD_IDENTITY_TOKEN=(sensitive value)');
  expect(log).toContain(`VAULT_ADDR=${installation.address}`);
  expect(log).toMatch(/\(local-exec\): \(sensitive value\)/);
  expect(log).not.toMatch(/hvs\.|eyJ/);
});

describe('has no token left', { timeout: SLOW_MS }, () => {
  const slow = `resource "terraform_data" "one" {
    provisioner "local-exec" { command = "echo it takes long; sleep 7011" }
  }`;
  const begin = async (name: string): Promise<string> => {
    const runId = await queueRun(installation, await prepare('acme', name, slow));
    await awaitLog(installation, runId, 'apply', 'it takes long');
    return runId;
  };

  test('once it was canceled', async () => {
    const before = await runs.accessors();
    const runId = await begin('canceled');
    expect((await runs.accessors()).size).toBe(before.size + 1);
    await installation.call('POST', `/runs/${runId}/actions/cancel`, {});
    expect(await settledStatus(installation, runId)).toMatch(/^(?:canceled|errored)$/);
    expect(await runs.accessors()).toEqual(before);
  });

  test('once its process was killed', async () => {
    const before = await runs.accessors();
    const runId = await begin('killed');
    expect((await runs.accessors()).size).toBe(before.size + 1);
    for (const slot of await readdir(runs.runnerFolder)) {
      const file = join(runs.runnerFolder, slot, 'occupation.json');
      const { pid } = JSON.parse(await readFile(file, 'utf8')) as { readonly pid: number };
      process.kill(pid, 'SIGKILL');
    }
    expect(await settledStatus(installation, runId)).toBe('errored');
    expect(await runs.accessors()).toEqual(before);
  });
});
