/** One line per route: a request that is valid, who succeeds, and what the others are told. */
export const CALLERS = [
  'none',
  'unknown',
  'expired',
  'revoked',
  'stranger',
  'member',
  'read',
  'plan',
  'write',
  'admin',
  'manager',
  'organization',
  'owner',
  'site',
  'agent',
  'run',
] as const;
export type Caller = (typeof CALLERS)[number];

export interface Case {
  /** Concrete target with parameters {ws}, {prj}, {team}, {user}, {at}, {tws}. */
  readonly target: string;
  readonly body?: unknown;
  /** Who succeeds, with which status; everyone else gets `refused`. */
  readonly allowed: readonly Caller[];
  readonly success: number;
  /** Other answers than 404 for callers that are known but not allowed. */
  readonly others?: Partial<Record<Caller, number>>;
  /** The address is the credential: what everyone is told who has it without its signature. */
  readonly everyone?: number;
}

export const EVERYONE = CALLERS.slice(4).filter((caller) => caller !== 'agent' && caller !== 'run');
export const MEMBERS = EVERYONE.filter((caller) => caller !== 'stranger' && caller !== 'site');
export const READERS = MEMBERS.filter((caller) => caller !== 'member');
export const LOCKERS: readonly Caller[] = ['write', 'admin', 'manager', 'owner'];
export const ADMINS: readonly Caller[] = ['admin', 'manager', 'organization', 'owner'];
export const MANAGERS: readonly Caller[] = ['manager', 'organization', 'owner'];
export const ORGANIZATION_ADMINS: readonly Caller[] = ['organization', 'owner'];
export const OWNERS: readonly Caller[] = ['owner'];

export const attributes = (type: string, values: object = {}, relationships: object = {}) => ({
  data: { type, attributes: values, relationships },
});
export const O = '/organizations/acme';
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
const members = { data: [{ type: 'users', id: 'colleague' }] };
const forceRefused = { admin: 403, manager: 403, organization: 403 };

export const W = '/workspaces/{workspace_id}';
const WN = '/organizations/{organization_name}/workspaces/{workspace_name}';
export const ON = '/organizations/{organization_name}';

export const CASES: Readonly<Record<string, Case>> = {
  'POST /organizations': {
    target: '/organizations',
    body: attributes('organizations', { name: 'new-{n}', email: 'a@b.example' }),
    allowed: ['site'],
    success: 201,
  },
  'GET /organizations': { target: '/organizations', allowed: EVERYONE, success: 200 },
  [`GET ${ON}`]: { target: O, allowed: [...MEMBERS, 'run'], success: 200 },
  [`PATCH ${ON}`]: {
    target: O,
    body: attributes('organizations'),
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  [`PUT ${ON}`]: {
    target: O,
    body: attributes('organizations'),
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  // Members of acme have the same parts in it; it has a workspace, which goes with it.
  [`DELETE ${ON}`]: { target: '/organizations/{newOrg}', allowed: OWNERS, success: 204 },
  [`GET ${ON}/entitlement-set`]: {
    target: `${O}/entitlement-set`,
    allowed: [...MEMBERS, 'run'],
    success: 200,
  },
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
  [`POST ${ON}/teams`]: {
    target: `${O}/teams`,
    body: attributes('teams', { name: 'team-{n}' }),
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  [`GET ${ON}/teams`]: { target: `${O}/teams`, allowed: MEMBERS, success: 200 },
  'GET /teams/{team_id}': { target: '/teams/{team}', allowed: ORGANIZATION_ADMINS, success: 200 },
  'PATCH /teams/{team_id}': {
    target: '/teams/{team}',
    body: attributes('teams'),
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'DELETE /teams/{team_id}': {
    target: '/teams/{freshTeam}',
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
  'POST /teams/{team_id}/relationships/users': {
    target: '/teams/{team}/relationships/users',
    body: members,
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
  'DELETE /teams/{team_id}/relationships/users': {
    target: '/teams/{team}/relationships/users',
    body: members,
    allowed: ORGANIZATION_ADMINS,
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
  'GET /account/details': { target: '/account/details', allowed: EVERYONE, success: 200 },
  'GET /users/{user_id}': { target: '/users/{user}', allowed: EVERYONE, success: 200 },
  'POST /admin/users': {
    target: '/admin/users',
    body: attributes('users', { username: 'user-{n}', email: 'a@b.example' }),
    allowed: ['site'],
    success: 201,
  },
  'POST /users/{user_id}/authentication-tokens': {
    target: '/users/{user}/authentication-tokens',
    body: attributes('authentication-tokens'),
    allowed: ['site'],
    success: 201,
  },
  'GET /users/{user_id}/authentication-tokens': {
    target: '/users/{user}/authentication-tokens',
    allowed: ['site'],
    success: 200,
  },
  'POST /teams/{team_id}/authentication-tokens': {
    target: '/teams/{team}/authentication-tokens',
    body: attributes('authentication-tokens'),
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  [`GET ${ON}/team-tokens`]: { target: `${O}/team-tokens`, allowed: MEMBERS, success: 200 },
  'GET /teams/{team_id}/authentication-tokens': {
    target: '/teams/{team}/authentication-tokens',
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'POST /teams/{team_id}/authentication-token': {
    target: '/teams/{freshTeam}/authentication-token',
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  'GET /teams/{team_id}/authentication-token': {
    target: '/teams/{team}/authentication-token',
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'DELETE /teams/{team_id}/authentication-token': {
    target: '/teams/{freshTeam}/authentication-token',
    allowed: [],
    success: 204,
  },
  [`POST ${ON}/authentication-token`]: {
    target: '/organizations/spare-org/authentication-token',
    allowed: ['site'],
    success: 201,
  },
  [`GET ${ON}/authentication-token`]: {
    target: `${O}/authentication-token`,
    allowed: OWNERS,
    success: 200,
  },
  [`DELETE ${ON}/authentication-token`]: {
    target: '/organizations/spare-org/authentication-token',
    allowed: ['site'],
    success: 204,
  },
  'GET /authentication-tokens/{token_id}': {
    target: '/authentication-tokens/{at}',
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'DELETE /authentication-tokens/{token_id}': {
    target: '/authentication-tokens/{freshAt}',
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
};
