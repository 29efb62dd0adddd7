/** An organization with something in each of its pages, for pictures. */
import { createHash } from 'node:crypto';
import { addPlannedRun } from '@keelson/testkit/planned-run';
import type { ConsoleUnderTest } from './console-harness.ts';

const O = 'organizations/acme';

const create = (type: string, attributes: object, relationships: object = {}): object => ({
  data: { type, attributes, relationships },
});
const one = (type: string, id: string): object => ({ data: { type, id } });
const several = (type: string, id: string): object => ({ data: [{ type, id }] });

const change = (address: string, actions: readonly string[], values: object, further = {}) => ({
  address,
  type: address.split('.')[0],
  change: { actions, ...values },
  ...further,
});

/** As `terraform show -json` writes it. */
const PLAN = {
  format_version: '1.2',
  resource_changes: [
    change('machine.old', ['delete'], { before: { name: 'old', size: 2 }, after: null }),
    change(
      'machine.web',
      ['delete', 'create'],
      { before: { image: 'a', size: 2 }, after: { image: 'b', size: 2 } },
      { action_reason: 'replace_because_tainted' },
    ),
    change('network.shop', ['update'], {
      before: { tags: { tier: 'one' }, rules: [{ port: 80 }] },
      after: { tags: { tier: 'two' }, rules: [{ port: 80 }, { port: 443 }] },
    }),
    change('machine.new', ['create'], {
      before: null,
      after: { name: 'new', size: 4 },
      after_unknown: { id: true },
    }),
  ],
  output_changes: { count: { actions: ['update'], before: 2, after: 3 } },
  checks: [
    {
      address: { to_display: 'check.certificate' },
      status: 'fail',
      problems: [{ message: 'It expires soon.' }],
    },
  ],
};

const stateOf = (serial: number): object => {
  const state = Buffer.from(
    JSON.stringify({
      version: 4,
      terraform_version: '1.9.0',
      serial,
      lineage: 'pictures',
      outputs: { address: { value: `192.0.2.${serial}`, type: 'string' } },
      resources: ['web', 'mail'].map((name) => ({
        mode: 'managed',
        type: 'machine',
        name,
        provider: 'provider["registry.example/example/machines"]',
        instances: [{ schema_version: 0, attributes: { id: `m-${name}`, size: serial } }],
      })),
    }),
  );
  return create('state-versions', {
    serial,
    md5: createHash('md5').update(state).digest('hex'),
    state: state.toString('base64'),
  });
};

/** Fills a workspace. */
const fillWorkspace = async (
  { workspaces }: ConsoleUnderTest,
  workspaceId: string,
): Promise<void> => {
  const path = `workspaces/${workspaceId}`;
  await workspaces('PATCH', path, create('workspaces', { description: 'The shop on the web' }));
  for (const [key, value, category, sensitive] of [
    ['region', 'north', 'env', false],
    ['size', '2', 'terraform', false],
    ['password', 'hush', 'terraform', true],
  ] as const)
    await workspaces('POST', `${path}/vars`, create('vars', { key, value, category, sensitive }));
  await workspaces('PATCH', `${path}/tag-bindings`, {
    data: [{ type: 'tag-bindings', attributes: { key: 'tier', value: 'one' } }],
  });
  await workspaces(
    'POST',
    `${path}/notification-configurations`,
    create('notification-configurations', {
      name: 'pager',
      'destination-type': 'slack',
      url: 'https://chat.example/hook',
    }),
  );
  await workspaces('POST', `${path}/actions/lock`, { reason: 'maintenance' });
  for (const serial of [1, 2]) await workspaces('POST', `${path}/state-versions`, stateOf(serial));
};

const addPeople = async ({ workspaces, addUser }: ConsoleUnderTest): Promise<string> => {
  const team = await workspaces(
    'POST',
    `${O}/teams`,
    create('teams', { name: 'developers', 'organization-access': { 'manage-workspaces': true } }),
  );
  for (const name of ['ada', 'grace']) await addUser(name, team.data.id);
  return team.data.id as string;
};

/**
 * Adds the organization `acme`.
 * @returns the paths of its run and its team
 */
export const addPicturedWorkspaces = async (
  site: ConsoleUnderTest,
): Promise<{ readonly run: string; readonly team: string }> => {
  const { workspaces } = site;
  const { runId } = await addPlannedRun(site, 'web', {
    plan: PLAN,
    counts: { 'resource-additions': 2, 'resource-changes': 1, 'resource-destructions': 2 },
  });
  // A run that waits for somebody locks its workspace, so that the other one is filled.
  const { workspaceId, ...failed } = await addPlannedRun(site, 'shop');
  await workspaces('POST', `runs/${failed.runId}/actions/apply`, {});
  await failed.claim();
  await failed.finish({ status: 'errored' });
  await fillWorkspace(site, workspaceId);
  const team = await addPeople(site);
  const project = await workspaces('POST', `${O}/projects`, create('projects', { name: 'shops' }));
  const inProject = { project: one('projects', project.data.id) };
  await workspaces('POST', `${O}/workspaces`, create('workspaces', { name: 'dns' }, inProject));
  await workspaces(
    'POST',
    'team-workspaces',
    create(
      'team-workspaces',
      { access: 'write' },
      { team: one('teams', team), workspace: one('workspaces', workspaceId) },
    ),
  );
  await workspaces(
    'POST',
    'team-projects',
    create('team-projects', { access: 'read' }, { team: one('teams', team), ...inProject }),
  );
  const set = await workspaces(
    'POST',
    `${O}/varsets`,
    create(
      'varsets',
      { name: 'regions', description: 'of all shops' },
      { workspaces: several('workspaces', workspaceId) },
    ),
  );
  await workspaces(
    'POST',
    `varsets/${set.data.id}/relationships/vars`,
    create('vars', { key: 'region', value: 'north', category: 'env' }),
  );
  await workspaces(
    'POST',
    `${O}/oauth-clients`,
    create('oauth-clients', {
      name: 'our forge',
      'service-provider': 'github',
      'http-url': 'https://github.example',
      'api-url': 'https://api.github.example',
      'oauth-token-string': 'hush',
    }),
  );
  await workspaces(
    'PATCH',
    'admin/sign-in-settings',
    create('sign-in-settings', { 'passwords-enabled': true }),
  );
  return { run: `/app/acme/web/runs/${runId}`, team: `/app/acme/teams/${team}` };
};
