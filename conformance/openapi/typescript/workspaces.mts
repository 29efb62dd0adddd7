/**
 * A workspace is created, locked, refused a second lock, unlocked and listed, and the statuses of its runs
 * are read, by the generated client. Every attribute has its type.
 */
import { equal, ok } from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { components, paths } from './workspaces.d.ts';

const { SERVER_ADDRESS = '', SERVER_TOKEN = '' } = process.env;
const client = createClient<paths>({
  baseUrl: `${SERVER_ADDRESS}/api/v2`,
  headers: {
    authorization: `Bearer ${SERVER_TOKEN}`,
    'content-type': 'application/vnd.api+json',
  },
});

const organization = await client.POST('/organizations', {
  body: {
    data: {
      type: 'organizations',
      attributes: { name: 'generated', email: 'ops@example.com' },
    },
  },
});
equal(organization.error, undefined);

const inOrganization = { organization_name: 'generated' };
const created = await client.POST('/organizations/{organization_name}/workspaces', {
  params: { path: inOrganization },
  body: { data: { type: 'workspaces', attributes: { name: 'web' } } },
});
const workspace: components['schemas']['Workspace'] | undefined = created.data?.data;
ok(workspace);
const { name, locked, permissions }: { name: string; locked: boolean; permissions: object } =
  workspace.attributes;
equal(name, 'web');
equal(locked, false);
ok('can-lock' in permissions && workspace.attributes.permissions['can-lock']);

const at = { params: { path: { workspace_id: workspace.id } } };
const held = await client.POST('/workspaces/{workspace_id}/actions/lock', {
  ...at,
  body: { reason: 'mine' },
});
equal(held.data?.data.attributes['locked-reason'], 'mine');
const again = await client.POST('/workspaces/{workspace_id}/actions/lock', {
  ...at,
  body: { reason: 'again' },
});
equal(again.response.status, 409);
equal(again.error?.errors[0]?.status, '409');
const unlocked = await client.POST('/workspaces/{workspace_id}/actions/unlock', at);
equal(unlocked.data?.data.attributes.locked, false);

const listed = await client.GET('/organizations/{organization_name}/workspaces', {
  params: {
    path: inOrganization,
    query: { 'search[name]': 'we', sort: '-name', 'page[size]': 5, include: ['project'] },
  },
});
equal(listed.data?.meta.pagination['total-count'], 1);
const project = listed.data?.included?.find((one) => one.type === 'projects');
ok(project);
// The type of the resource decides which attributes it has.
const executionMode: 'remote' | 'local' | 'agent' = project.attributes['default-execution-mode'];
equal(executionMode, 'remote');

const runs = await client.GET('/workspaces/{workspace_id}/runs', at);
const statuses: readonly components['schemas']['Run']['attributes']['status'][] =
  runs.data?.data.map((run) => run.attributes.status) ?? [];
equal(statuses.includes('applied'), false);

process.stdout.write('done\n');
