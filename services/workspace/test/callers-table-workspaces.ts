/** The table of callers, continued: projects, workspaces and their settings. */
import {
  ADMINS,
  attributes,
  type Case,
  LOCKERS,
  MANAGERS,
  MEMBERS,
  O,
  ON,
  ORGANIZATION_ADMINS,
  OWNERS,
  READERS,
  W,
} from './callers-table.ts';

const N = `${O}/workspaces/subject`;
const consumers = { data: [{ type: 'workspaces', id: '{other}' }] };
const tags = { data: [{ type: 'tags', attributes: { name: 'x' } }] };
const bindings = { data: [{ type: 'tag-bindings', attributes: { key: 'k', value: 'v' } }] };
const retention = {
  data: {
    type: 'data-retention-policy-delete-olders',
    attributes: { deleteOlderThanNDays: 30 },
  },
};
const forceRefused = { admin: 403, manager: 403, organization: 403 };
const WN = '/organizations/{organization_name}/workspaces/{workspace_name}';

export const WORKSPACE_CASES: Readonly<Record<string, Case>> = {
  [`POST ${ON}/projects`]: {
    target: `${O}/projects`,
    body: attributes('projects', { name: 'Project {n}' }),
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  [`GET ${ON}/projects`]: { target: `${O}/projects`, allowed: MEMBERS, success: 200 },
  'GET /projects/{project_id}': { target: '/projects/{prj}', allowed: MANAGERS, success: 200 },
  'PATCH /projects/{project_id}': {
    target: '/projects/{prj}',
    body: attributes('projects'),
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  // The default project stays: 403 for all who see it.
  'DELETE /projects/{project_id}': { target: '/projects/{prj}', allowed: MANAGERS, success: 403 },
  'GET /projects/{project_id}/tag-bindings': {
    target: '/projects/{prj}/tag-bindings',
    allowed: MANAGERS,
    success: 200,
  },
  'GET /projects/{project_id}/relationships/tag-bindings': {
    target: '/projects/{prj}/relationships/tag-bindings',
    allowed: MANAGERS,
    success: 200,
  },
  'GET /projects/{project_id}/effective-tag-bindings': {
    target: '/projects/{prj}/effective-tag-bindings',
    allowed: MANAGERS,
    success: 200,
  },
  'PATCH /projects/{project_id}/tag-bindings': {
    target: '/projects/{prj}/tag-bindings',
    body: bindings,
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'POST /projects/{project_id}/relationships/tag-bindings': {
    target: '/projects/{prj}/relationships/tag-bindings',
    body: bindings,
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
  'PATCH /projects/{project_id}/relationships/tag-bindings': {
    target: '/projects/{prj}/relationships/tag-bindings',
    body: bindings,
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
  [`POST ${ON}/workspaces`]: {
    target: `${O}/workspaces`,
    body: attributes('workspaces', { name: 'made-{n}' }),
    allowed: MANAGERS,
    success: 201,
  },
  [`GET ${ON}/workspaces`]: { target: `${O}/workspaces`, allowed: MEMBERS, success: 200 },
  [`GET ${W}`]: { target: '/workspaces/{ws}', allowed: [...READERS, 'run'], success: 200 },
  [`GET ${WN}`]: { target: N, allowed: [...READERS, 'run'], success: 200 },
  [`PATCH ${W}`]: {
    target: '/workspaces/{ws}',
    body: attributes('workspaces'),
    allowed: ADMINS,
    success: 200,
  },
  [`PATCH ${WN}`]: {
    target: N,
    body: attributes('workspaces'),
    allowed: ADMINS,
    success: 200,
  },
  // {locked} is locked, so that it outlives every try.
  [`POST ${W}/actions/safe-delete`]: {
    target: '/workspaces/{locked}/actions/safe-delete',
    allowed: ADMINS,
    success: 409,
  },
  [`POST ${WN}/actions/safe-delete`]: {
    target: `${O}/workspaces/locked/actions/safe-delete`,
    allowed: ADMINS,
    success: 409,
  },
  [`DELETE ${W}`]: {
    target: '/workspaces/{fresh}',
    allowed: OWNERS,
    success: 204,
    others: forceRefused,
  },
  [`DELETE ${WN}`]: {
    target: `${O}/workspaces/fresh`,
    allowed: OWNERS,
    success: 204,
    others: forceRefused,
  },
  [`POST ${W}/actions/lock`]: {
    target: '/workspaces/{locked}/actions/lock',
    allowed: LOCKERS,
    success: 409,
  },
  [`POST ${W}/actions/unlock`]: {
    target: '/workspaces/{ws}/actions/unlock',
    allowed: LOCKERS,
    success: 409,
  },
  [`POST ${W}/actions/force-unlock`]: {
    target: '/workspaces/{ws}/actions/force-unlock',
    allowed: ADMINS,
    success: 409,
  },
  [`GET ${W}/relationships/tags`]: {
    target: '/workspaces/{ws}/relationships/tags',
    allowed: READERS,
    success: 200,
  },
  [`POST ${W}/relationships/tags`]: {
    target: '/workspaces/{ws}/relationships/tags',
    body: tags,
    allowed: ADMINS,
    success: 204,
  },
  [`DELETE ${W}/relationships/tags`]: {
    target: '/workspaces/{ws}/relationships/tags',
    body: tags,
    allowed: ADMINS,
    success: 204,
  },
  [`GET ${W}/tag-bindings`]: {
    target: '/workspaces/{ws}/tag-bindings',
    allowed: READERS,
    success: 200,
  },
  [`GET ${W}/effective-tag-bindings`]: {
    target: '/workspaces/{ws}/effective-tag-bindings',
    allowed: READERS,
    success: 200,
  },
  [`GET ${W}/relationships/tag-bindings`]: {
    target: '/workspaces/{ws}/relationships/tag-bindings',
    allowed: READERS,
    success: 200,
  },
  [`PATCH ${W}/tag-bindings`]: {
    target: '/workspaces/{ws}/tag-bindings',
    body: bindings,
    allowed: ADMINS,
    success: 200,
  },
  [`POST ${W}/relationships/tag-bindings`]: {
    target: '/workspaces/{ws}/relationships/tag-bindings',
    body: bindings,
    allowed: ADMINS,
    success: 204,
  },
  [`PATCH ${W}/relationships/tag-bindings`]: {
    target: '/workspaces/{ws}/relationships/tag-bindings',
    body: bindings,
    allowed: ADMINS,
    success: 204,
  },
  [`GET ${W}/relationships/remote-state-consumers`]: {
    target: '/workspaces/{ws}/relationships/remote-state-consumers',
    allowed: READERS,
    success: 200,
  },
  // A workspace admin that cannot read the other workspace cannot name it.
  [`POST ${W}/relationships/remote-state-consumers`]: {
    target: '/workspaces/{ws}/relationships/remote-state-consumers',
    body: consumers,
    allowed: MANAGERS,
    success: 204,
  },
  [`PATCH ${W}/relationships/remote-state-consumers`]: {
    target: '/workspaces/{ws}/relationships/remote-state-consumers',
    body: consumers,
    allowed: MANAGERS,
    success: 204,
  },
  [`DELETE ${W}/relationships/remote-state-consumers`]: {
    target: '/workspaces/{ws}/relationships/remote-state-consumers',
    body: consumers,
    allowed: ADMINS,
    success: 204,
  },
  'POST /team-workspaces': {
    target: '/team-workspaces',
    body: attributes(
      'team-workspaces',
      { access: 'read' },
      {
        team: { data: { type: 'teams', id: '{freshTeam}' } },
        workspace: { data: { type: 'workspaces', id: '{ws}' } },
      },
    ),
    allowed: ADMINS,
    success: 201,
  },
  'GET /team-workspaces': {
    target: '/team-workspaces?filter[workspace][id]={ws}',
    allowed: ADMINS,
    success: 200,
  },
  'GET /team-workspaces/{grant_id}': {
    target: '/team-workspaces/{tws}',
    allowed: ADMINS,
    success: 200,
  },
  'PATCH /team-workspaces/{grant_id}': {
    target: '/team-workspaces/{tws}',
    body: attributes('team-workspaces'),
    allowed: ADMINS,
    success: 200,
  },
  'DELETE /team-workspaces/{grant_id}': {
    target: '/team-workspaces/{freshTws}',
    allowed: ADMINS,
    success: 204,
  },
  'POST /team-projects': {
    target: '/team-projects',
    body: attributes(
      'team-projects',
      { access: 'read' },
      {
        team: { data: { type: 'teams', id: '{freshTeam}' } },
        project: { data: { type: 'projects', id: '{prj}' } },
      },
    ),
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  'GET /team-projects': {
    target: '/team-projects?filter[project][id]={prj}',
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'GET /team-projects/{grant_id}': {
    target: '/team-projects/{freshTprj}',
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'PATCH /team-projects/{grant_id}': {
    target: '/team-projects/{freshTprj}',
    body: attributes('team-projects'),
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'DELETE /team-projects/{grant_id}': {
    target: '/team-projects/{freshTprj}',
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
  [`POST ${ON}/ssh-keys`]: {
    target: `${O}/ssh-keys`,
    body: attributes('ssh-keys', { name: 'key', value: '-----BEGIN PRIVATE KEY-----' }),
    allowed: OWNERS,
    success: 201,
  },
  [`GET ${ON}/ssh-keys`]: { target: `${O}/ssh-keys`, allowed: OWNERS, success: 200 },
  'GET /ssh-keys/{ssh_key_id}': { target: '/ssh-keys/{freshKey}', allowed: OWNERS, success: 200 },
  'PATCH /ssh-keys/{ssh_key_id}': {
    target: '/ssh-keys/{freshKey}',
    body: attributes('ssh-keys', { name: 'renamed' }),
    allowed: OWNERS,
    success: 200,
  },
  'DELETE /ssh-keys/{ssh_key_id}': {
    target: '/ssh-keys/{freshKey}',
    allowed: OWNERS,
    success: 204,
  },
  [`PATCH ${W}/relationships/ssh-key`]: {
    target: '/workspaces/{ws}/relationships/ssh-key',
    body: { data: null },
    allowed: ['admin', 'manager', 'owner'],
    success: 200,
  },
  [`POST ${W}/relationships/data-retention-policy`]: {
    target: '/workspaces/{ws}/relationships/data-retention-policy',
    body: retention,
    allowed: ADMINS,
    success: 200,
  },
  [`PATCH ${W}/relationships/data-retention-policy`]: {
    target: '/workspaces/{ws}/relationships/data-retention-policy',
    body: retention,
    allowed: ADMINS,
    success: 200,
  },
  [`GET ${W}/relationships/data-retention-policy`]: {
    target: '/workspaces/{ws}/relationships/data-retention-policy',
    allowed: READERS,
    success: 200,
  },
  [`DELETE ${W}/relationships/data-retention-policy`]: {
    target: '/workspaces/{ws}/relationships/data-retention-policy',
    allowed: ADMINS,
    success: 204,
  },
  [`POST ${ON}/relationships/data-retention-policy`]: {
    target: `${O}/relationships/data-retention-policy`,
    body: retention,
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  [`PATCH ${ON}/relationships/data-retention-policy`]: {
    target: `${O}/relationships/data-retention-policy`,
    body: retention,
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  [`GET ${ON}/relationships/data-retention-policy`]: {
    target: `${O}/relationships/data-retention-policy`,
    allowed: MEMBERS,
    success: 200,
  },
  [`DELETE ${ON}/relationships/data-retention-policy`]: {
    target: `${O}/relationships/data-retention-policy`,
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
};
