/**
 * A run that signs in twice with one provider: by default and by a tag, in a namespace. The address of the installation
 * has a certificate that nobody trusts unless the variables say so.
 *
 * | part                                             | how it is proved                                               |
 * | ------------------------------------------------ | -------------------------------------------------------------- |
 * | `tfc_vault_dynamic_credentials`                  | declared as the vendor documents it; both providers map it     |
 * | the files of the default and of the tag          | each token may use an authority that the other may not         |
 * | a saved plan, with a working directory           | its paths name the files of the apply as well                  |
 * | `TFC_VAULT_PLAN_ROLE`, `TFC_VAULT_APPLY_ROLE`    | each role accepts its phase alone                              |
 * | `TFC_VAULT_NAMESPACE`                            | method, roles and authorities are in it alone                  |
 * | `TFC_VAULT_ENCODED_CACERT`                       | without it the login ends the phase                            |
 * | no variable of the provider                      | the environment of the tool has the one of the workspace alone |
 */
import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { writeCertificates } from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
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

const SLOW_MS = 240_000;
const TEAM = 'team-a';

/** This version of the provider reads no file itself, as newer ones do by `auth_login_token_file`. */
const provider = (one: string, alias = ''): string => `
provider "vault" {
  ${alias}
  address      = ${one}.address
  namespace    = ${one}.namespace
  ca_cert_file = ${one}.ca_cert_file
  token        = file(${one}.token_filename)
}`;

const CONFIGURATION = `
terraform {
  required_providers {
    vault = { source = "hashicorp/vault" }
  }
}

variable "tfc_vault_dynamic_credentials" {
  description = "Object containing Vault dynamic credentials configuration"
  type = object({
    default = object({
      token_filename = string
      address        = string
      namespace      = string
      ca_cert_file   = string
    })
    aliases = map(object({
      token_filename = string
      address        = string
      namespace      = string
      ca_cert_file   = string
    }))
  })
}
${provider('var.tfc_vault_dynamic_credentials.default')}
${provider('var.tfc_vault_dynamic_credentials.aliases["B"]', 'alias = "B"')}

resource "vault_pki_secret_backend_cert" "one" {
  backend     = "pki"
  name        = "web"
  common_name = "one.example.com"
}

resource "vault_pki_secret_backend_cert" "other" {
  provider    = vault.B
  backend     = "pki-b"
  name        = "web"
  common_name = "other.example.com"
}

resource "terraform_data" "environment" {
  provisioner "local-exec" { command = "echo variables: $(env | grep ^VAULT_)" }
}
`;

let runs: RunsWithProvider;
let installation: Installation;
let encodedAuthority: string;

/** A method for runs in the namespace, with two roles for each phase. */
const acceptRuns = async (): Promise<void> => {
  const post = (path: string, body: object) => runs.v1('POST', path, body, TEAM);
  await post('sys/auth/runs', { type: 'jwt' });
  await post('auth/runs/config', { keelson_runs: true });
  // The provider makes itself a child token in both phases.
  const ofPlan = 'path "auth/token/create" { capabilities = ["update"] }';
  await post('sys/policies/acl/plan', { policy: ofPlan });
  for (const path of ['pki', 'pki-b']) {
    await makeAuthority(runs, path, TEAM);
    const policy = `${ofPlan} path "${path}/issue/web" { capabilities = ["update"] }`;
    await post(`sys/policies/acl/${path}`, { policy });
    for (const phase of ['plan', 'apply'])
      await post(`auth/runs/role/${phase}-${path}`, {
        role_type: 'jwt',
        bound_audiences: 'vault.workload.identity',
        bound_claims: { terraform_organization_name: 'acme', terraform_run_phase: phase },
        user_claim: 'terraform_full_workspace',
        token_policies: phase === 'plan' ? 'plan' : path,
        token_ttl: '20m',
      });
  }
};

const prepare = async (name: string, variables: Readonly<Record<string, string>>) => {
  const id = await createWorkspace(installation, 'acme', name, { 'working-directory': 'live/web' });
  await runs.setVariables(id, {
    TFC_VAULT_PROVIDER_AUTH: 'true',
    TFC_VAULT_PROVIDER_AUTH_B: 'true',
    TFC_DEFAULT_VAULT_ADDR: installation.address,
    TFC_DEFAULT_VAULT_AUTH_PATH: 'runs',
    TFC_DEFAULT_VAULT_PLAN_ROLE: 'plan-pki',
    TFC_VAULT_APPLY_ROLE: 'apply-pki',
    TFC_VAULT_APPLY_ROLE_B: 'apply-pki-b',
    TFC_DEFAULT_VAULT_NAMESPACE: TEAM,
    // This version of the provider looks its token up before it reads its own setting.
    VAULT_NAMESPACE: TEAM,
    ...variables,
  });
  await uploadConfiguration(installation, id, { 'live/web/main.tf': CONFIGURATION });
  return id;
};

beforeAll(async () => {
  runs = await installWithProvider(async (folder) => {
    const files = await writeCertificates(await folder('certificates'));
    encodedAuthority = (await readFile(files.authorityFile)).toString('base64');
    return {
      KEELSON_TLS_CERTIFICATE_FILE: files.certificateFile,
      KEELSON_TLS_KEY_FILE: files.keyFile,
    };
  });
  ({ installation } = runs);
  await runs.v1('POST', `sys/namespaces/${TEAM}`, {});
  await acceptRuns();
}, SLOW_MS);
afterAll(() => installation[Symbol.asyncDispose]());

test('a saved plan is applied with both, and no token is left', { timeout: SLOW_MS }, async () => {
  const tokens = () => runs.accessors(TEAM);
  const before = await tokens();
  const id = await prepare('both', { TFC_DEFAULT_VAULT_ENCODED_CACERT: encodedAuthority });
  const runId = await queueRun(installation, id);
  const planned = await settledStatus(installation, runId);
  expect(`${planned}\n${await logOf(installation, runId, 'plan')}`).toMatch(/^planned\n/);
  expect(await tokens()).toEqual(before);
  await installation.call('POST', `/runs/${runId}/actions/apply`, {});
  const isOver = (status: unknown) => ['applied', 'errored'].includes(String(status));
  const { data } = await installation.until(`/runs/${runId}`, (run) =>
    isOver(run.data.attributes['status']),
  );
  const log = await logOf(installation, runId, 'apply');
  expect(`${String(data.attributes['status'])}\n${log}`).toMatch(/^applied\n/);
  expect(log).toContain(`variables: VAULT_NAMESPACE=${TEAM}\n`);
  const { one = '', other = '' } = await certificatesOf(installation, id);
  expect([one, other].map((pem) => new X509Certificate(pem).issuer)).toEqual([
    'CN=Root of pki',
    'CN=Root of pki-b',
  ]);
  expect(await tokens()).toEqual(before);
});

test('a certificate that nobody trusts ends the phase', { timeout: SLOW_MS }, async () => {
  const runId = await queueRun(installation, await prepare('untrusted', {}));
  expect(await settledStatus(installation, runId)).toBe('errored');
  const log = await logOf(installation, runId, 'plan');
  expect(log).toMatch(/The login with role plan-pki at \S+ failed: \w*(?:VERIFY|SELF_SIGNED)/);
  expect(log).not.toContain('Initializing');
});
