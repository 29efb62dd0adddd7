/** A workspace is created, locked, refused a second lock, and unlocked, by the generated client. */
import { equal, ok } from 'node:assert/strict';
import createClient from 'openapi-fetch';
import type { paths } from './workspace.d.ts';

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

const created = await client.POST('/organizations/{organization_name}/workspaces', {
  params: { path: { organization_name: 'generated' } },
  body: { data: { type: 'workspaces', attributes: { name: 'web' } } },
});
const workspace = created.data?.data;
ok(workspace && !Array.isArray(workspace));
equal(workspace.attributes?.['name'], 'web');

const at = { params: { path: { workspace_id: workspace.id } } };
const locked = await client.POST('/workspaces/{workspace_id}/actions/lock', {
  ...at,
  body: { reason: 'mine' },
});
equal(locked.response.status, 200);
const again = await client.POST('/workspaces/{workspace_id}/actions/lock', {
  ...at,
  body: { reason: 'again' },
});
equal(again.response.status, 409);
equal(again.error?.errors[0]?.status, '409');
const unlocked = await client.POST('/workspaces/{workspace_id}/actions/unlock', at);
equal(unlocked.response.status, 200);

process.stdout.write('done\n');
