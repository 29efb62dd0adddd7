/**
 * The published terraform provider for the workspace API, unmodified, in the real terraform.
 *
 * | configuration | asked                                          | seen                                            |
 * | ------------- | ---------------------------------------------- | ----------------------------------------------- |
 * | `everything/` | apply, plan, apply of changes, plan, destroy   | all resources; nothing left to change each time |
 * | `everything/` | the data sources                               | what the resources of the configuration are     |
 * | `runs/`       | a run that is started and awaited, and outputs | an applied run; tokens that end with the tool   |
 * | the schema    | every kind of resource and data source         | used, or named below with the reason            |
 */
import { generateKeyPairSync } from 'node:crypto';
import { mkdir, readFile, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { buildGoTool, type MailServer, startMailServer } from '@keelson/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createWorkspace, uploadConfiguration } from '../terraform/api-runs.ts';
import {
  configuration,
  type Installation,
  install,
  type Project,
} from '../terraform/terraform-cli.ts';

const NAME = 'terraform-provider-tfe';
const ADDRESS = 'registry.terraform.io/hashicorp/tfe';
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** Kinds of the provider that belong to features that are not offered. */
const NOT_OFFERED: Readonly<Record<string, readonly string[]>> = {
  policies: [
    'policy',
    'policy_set',
    'policy_set_parameter',
    'project_policy_set',
    'project_policy_set_exclusion',
    'sentinel_policy',
    'tag_policy_set',
    'tag_policy_set_exclusion',
    'workspace_policy_set',
    'workspace_policy_set_exclusion',
  ],
  'a registry': [
    'no_code_module',
    'organization_module_sharing',
    'provider_set',
    'registry_gpg_key',
    'registry_gpg_keys',
    'registry_module',
    'registry_provider',
    'registry_providers',
    'test_variable',
  ],
  'run tasks': [
    'organization_run_task',
    'organization_run_task_global_settings',
    'workspace_run_task',
  ],
  stacks: ['stack', 'stack_variable_set'],
  'single sign-on': [
    'saml_settings',
    'scim_group',
    'scim_group_mapping',
    'scim_settings',
    'scim_token',
  ],
  'credentials of runs': [
    'aws_oidc_configuration',
    'azure_oidc_configuration',
    'gcp_oidc_configuration',
    'vault_oidc_configuration',
  ],
  'keys of the customer': [
    'hyok_configuration',
    'hyok_customer_key_version',
    'hyok_encrypted_data_key',
  ],
  'site administration': [
    'admin_organization_settings',
    'admin_smtp_settings',
    'opa_version',
    'sentinel_version',
    'terraform_version',
  ],
  'audit trails': ['audit_trail_token', 'organization_audit_configuration'],
  "a version of the vendor's product, which the provider asks for": ['org_max_token_ttl_policy'],
  'addresses of the hosted service': ['ip_ranges'],
  'installations of an application': ['github_app_installation'],
};

let installation: Installation;
let mail: MailServer;

beforeAll(async () => {
  const program = await buildGoTool(import.meta.dirname, NAME);
  mail = await startMailServer();
  installation = await install({
    KEELSON_RUNNER: 'true',
    KEELSON_WORKSPACE_SMTP_URL: mail.url,
    KEELSON_WORKSPACE_MAIL_FROM: 'keelson@everything.example',
  });
  const goMod = await readFile(join(import.meta.dirname, 'go.mod'), 'utf8');
  const version = new RegExp(`/${NAME} v(\\S+)`).exec(goMod)?.[1] ?? '';
  const platform = `${process.platform}_${ARCHITECTURES[process.arch] ?? process.arch}`;
  const place = join(dirname(installation.providersFile), ADDRESS, version, platform);
  await mkdir(place, { recursive: true });
  await symlink(program, join(place, `${NAME}_v${version}`));
});
afterAll(async () => {
  await installation[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
});

const readProject = async (
  names: readonly string[],
  variables: Readonly<Record<string, string>>,
): Promise<Project> => {
  const files = await Promise.all(
    names.map(async (name) => {
      const text = await readFile(join(import.meta.dirname, name), 'utf8');
      return [name.replace('/', '-'), text] as const;
    }),
  );
  const project = await installation.project({
    ...Object.fromEntries(files),
    'terraform.tfvars.json': JSON.stringify({ hostname: installation.host, ...variables }),
  });
  await project.run('init');
  return project;
};

/** A plan of the changes that are still to be made; "" if there are none. */
const leftOver = async (project: Project, ...args: readonly string[]): Promise<string> => {
  const { code, output } = await project.start('plan', '-detailed-exitcode', ...args).outcome;
  return code === 0 ? '' : output;
};

const readOutputs = async (project: Project): Promise<Record<string, unknown>> => {
  const printed = JSON.parse(await project.run('output', '-json')) as Record<
    string,
    { readonly value: unknown }
  >;
  return Object.fromEntries(Object.entries(printed).map(([name, { value }]) => [name, value]));
};

interface Kinds {
  readonly resource_schemas: Readonly<Record<string, unknown>>;
  readonly data_source_schemas: Readonly<Record<string, unknown>>;
  readonly ephemeral_resource_schemas: Readonly<Record<string, unknown>>;
}

describe('a configuration with everything', () => {
  let project: Project;
  const CHANGES = ['-auto-approve', '-var', 'revision=two'];

  beforeAll(async () => {
    const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
    project = await readProject(['everything/resources.tf', 'everything/data-sources.tf'], {
      private_key: privateKey.export({ type: 'pkcs1', format: 'pem' }).toString(),
      public_key: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    });
  });

  test('is applied, and a second plan has nothing to do', async () => {
    await project.run('apply', '-auto-approve');
    expect(await leftOver(project)).toBe('');
  });

  test('is found by the data sources', async () => {
    expect((await readOutputs(project))['found']).toEqual({
      agent_pool: true,
      current_user: 'admin',
      oauth_by_id: 'gitlab one',
      oauth_by_name: true,
      oauth_by_provider: true,
      organization: 'one@everything.example',
      default_project: true,
      organizations: ['acme', 'everything', 'plain'],
      invited: true,
      members: 1,
      member_by_email: 'member',
      member_by_username: true,
      member_by_id: 'member@everything.example',
      tags: ['empty', 'flat-one', 'kept'],
      project: true,
      project_workspaces: ['workspace-one'],
      projects: ['Default Project', 'plain project', 'project-one'],
      ssh_key: true,
      team: true,
      teams: ['fourth', 'owners', 'plain', 'team-one', 'third'],
      team_access: 'plan',
      team_project: 'update',
      set_variables: 2,
      set_projects: true,
      set_workspaces: true,
      variables: ['region_one', 'write_only', 'zones'],
      environment: ['PASSWORD'],
      variables_of_set: ['shared', 'shared_secret'],
      workspace: true,
      execution_mode: 'agent',
      ids_by_names: ['scheduled', 'source', 'workspace-one'],
      ids_by_tags: ['workspace-one'],
      ids_by_tag_filters: ['source'],
    });
  });

  test('is changed, and a second plan has nothing to do', async () => {
    await project.run('apply', ...CHANGES);
    expect(await leftOver(project, '-var', 'revision=two')).toBe('');
  });

  test('is destroyed', async () => {
    await project.run('destroy', ...CHANGES);
    expect(await project.run('state', 'list')).toBe('');
    const { list } = await installation.call('GET', '/organizations');
    expect(list.map(({ id }) => id)).toEqual(['acme']);
  });
});

describe('a run', () => {
  test('is started and awaited, and its outputs are read', async () => {
    const workspaceId = await createWorkspace(installation, 'acme', 'executed');
    await uploadConfiguration(installation, workspaceId, { 'main.tf': configuration('here') });
    const project = await readProject(['runs/main.tf'], { workspace_id: workspaceId });
    await project.run('apply', '-auto-approve');
    expect(await leftOver(project)).toBe('');
    expect(await readOutputs(project)).toEqual({
      read: { one: 'here', secret: ['hidden here'] },
      read_openly: { one: 'here' },
    });
    await project.run('destroy', '-auto-approve');
    const { list } = await installation.call('GET', `/workspaces/${workspaceId}/runs`);
    expect(list.map(({ attributes }) => [attributes['is-destroy'], attributes['status']])).toEqual([
      [true, 'applied'],
      [false, 'applied'],
    ]);
    const token = await installation.call('GET', '/organizations/acme/authentication-token');
    expect(token.status).toBe(404);
  });
});

describe('each kind of the provider', () => {
  test('is used above, or its feature is not offered', async () => {
    const files = ['everything/resources.tf', 'everything/data-sources.tf', 'runs/main.tf'];
    const project = await readProject(files.slice(2), { workspace_id: '' });
    const printed = await project.run('providers', 'schema', '-json');
    const schemas = JSON.parse(printed) as { readonly provider_schemas: Record<string, Kinds> };
    const kinds = schemas.provider_schemas[ADDRESS] as Kinds;
    const declared = [
      ...Object.keys(kinds.resource_schemas).map((kind) => `resource ${kind}`),
      ...Object.keys(kinds.data_source_schemas).map((kind) => `data ${kind}`),
      ...Object.keys(kinds.ephemeral_resource_schemas).map((kind) => `ephemeral ${kind}`),
    ];
    const texts = await Promise.all(
      files.map((name) => readFile(join(import.meta.dirname, name), 'utf8')),
    );
    const used = new Set(
      [...texts.join('\n').matchAll(/^(resource|data|ephemeral) "(\w+)"/gm)].map(
        ([, form, kind]) => `${form} ${kind}`,
      ),
    );
    const absent = new Set(Object.values(NOT_OFFERED).flat());
    const isAbsent = (kind: string): boolean => absent.has(kind.replace(/^\w+ tfe_/, ''));
    expect(declared.filter((kind) => !used.has(kind) && !isAbsent(kind))).toEqual([]);
    expect([...used].filter(isAbsent)).toEqual([]);
  });
});
