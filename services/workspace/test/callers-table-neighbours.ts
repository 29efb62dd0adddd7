/** The table of callers, continued: the resources around workspaces. */
import {
  ADMINS,
  attributes,
  type Caller,
  type Case,
  EVERYONE,
  MANAGERS,
  MEMBERS,
  O,
  ON,
  ORGANIZATION_ADMINS,
  OWNERS,
  READERS,
  W,
} from './callers-table.ts';

const connection = {
  'service-provider': 'github',
  'http-url': 'https://github.example',
  'api-url': 'https://api.github.example',
  'oauth-token-string': 'secret-{n}',
};

/** Disabled, and nothing listens there. */
const notification = { name: 'n', 'destination-type': 'generic', url: 'http://[::1]/' };

/** Resources that requests use up: an owner creates them again for each caller. */
export const USED_UP: Readonly<
  Record<
    string,
    {
      readonly target: string;
      readonly type: string;
      readonly values: object;
      readonly relationships?: object;
    }
  >
> = {
  newVar: {
    target: '/workspaces/{ws}/vars',
    type: 'vars',
    values: { key: 'made_{n}', category: 'terraform' },
  },
  newPool: { target: `${O}/agent-pools`, type: 'agent-pools', values: { name: 'pool {n}' } },
  newClient: { target: `${O}/oauth-clients`, type: 'oauth-clients', values: connection },
  newNotification: {
    target: '/workspaces/{ws}/notification-configurations',
    type: 'notification-configurations',
    values: notification,
  },
  newReserved: {
    target: `${O}/reserved-tag-keys`,
    type: 'reserved-tag-keys',
    values: { key: 'made-{n}' },
  },
  newVarset: {
    target: `${O}/varsets`,
    type: 'varsets',
    values: { name: 'made {n}' },
    relationships: {
      workspaces: { data: [{ type: 'workspaces', id: '{ws}' }] },
      vars: { data: [{ type: 'vars', attributes: { key: 'made', category: 'env' } }] },
    },
  },
};

const WRITERS: readonly Caller[] = ['write', 'admin', 'manager', 'organization', 'owner'];

const PEOPLE = EVERYONE.filter((caller) => caller !== 'organization');

const variable = { key: 'tried_{n}', value: 'v', category: 'env' };

const reservedKey = (method: 'PATCH' | 'DELETE', path: string): Readonly<Record<string, Case>> => ({
  [`${method} ${path}/{reserved_key_id}`]: {
    target: `${path}/{newReserved}`,
    ...(method === 'PATCH' && { body: attributes('reserved-tag-keys') }),
    allowed: ORGANIZATION_ADMINS,
    success: method === 'PATCH' ? 200 : 204,
  },
});

const NOTIFICATION = '/notification-configurations/{notification_configuration_id}';

/** Callers who may change the workspace, project or team, except organization tokens. */
const notificationCases = (): Readonly<Record<string, Case>> => {
  const type = 'notification-configurations';
  const one = `/${type}/{newNotification}`;
  const places = (
    [
      [`${W}`, '/workspaces/{ws}', ADMINS],
      ['/projects/{project_id}', '/projects/{prj}', OWNERS],
      ['/teams/{team_id}', '/teams/{team}', OWNERS],
    ] as const
  ).flatMap(([path, target, callers]): readonly [string, Case][] => {
    const allowed = callers.filter((caller) => caller !== 'organization');
    const body = attributes(type, notification);
    return [
      [`POST ${path}/${type}`, { target: `${target}/${type}`, body, allowed, success: 201 }],
      [`GET ${path}/${type}`, { target: `${target}/${type}`, allowed, success: 200 }],
    ];
  });
  const allowed = ADMINS.filter((caller) => caller !== 'organization');
  return {
    ...Object.fromEntries(places),
    [`GET ${NOTIFICATION}`]: { target: one, allowed, success: 200 },
    [`PATCH ${NOTIFICATION}`]: { target: one, body: attributes(type), allowed, success: 200 },
    [`DELETE ${NOTIFICATION}`]: { target: one, allowed, success: 204 },
    [`POST ${NOTIFICATION}/actions/verify`]: {
      target: `${one}/actions/verify`,
      allowed,
      success: 400,
    },
  };
};

const VARSET = '/varsets/{varset_id}';
const VARSET_VARS = `${VARSET}/relationships/vars`;

/** The variable sets: those of the table are applied to the workspace that readers read. */
const variableSetCases = (): Readonly<Record<string, Case>> => {
  const one = '/varsets/{newVarset}';
  const change = { body: attributes('varsets'), allowed: MANAGERS, success: 200 };
  const scopes = (
    [
      ['workspaces', '{ws}'],
      ['projects', '{prj}'],
      ['stacks', 'stk-1'],
    ] as const
  ).flatMap(([kind, id]) =>
    ['POST', 'DELETE'].map((method): [string, Case] => [
      `${method} ${VARSET}/relationships/${kind}`,
      {
        target: `${one}/relationships/${kind}`,
        body: { data: [{ type: kind, id }] },
        allowed: MANAGERS,
        success: kind === 'stacks' ? 422 : 204,
      },
    ]),
  );
  return {
    [`POST ${ON}/varsets`]: {
      target: `${O}/varsets`,
      body: attributes('varsets', { name: 'tried {n}' }),
      allowed: MANAGERS,
      success: 200,
    },
    [`GET ${ON}/varsets`]: { target: `${O}/varsets`, allowed: MEMBERS, success: 200 },
    [`GET ${W}/varsets`]: { target: '/workspaces/{ws}/varsets', allowed: READERS, success: 200 },
    'GET /projects/{project_id}/varsets': {
      target: '/projects/{prj}/varsets',
      allowed: MANAGERS,
      success: 200,
    },
    [`GET ${VARSET}`]: { target: one, allowed: READERS, success: 200 },
    [`PATCH ${VARSET}`]: { target: one, ...change },
    [`PUT ${VARSET}`]: { target: one, ...change },
    [`DELETE ${VARSET}`]: { target: one, allowed: MANAGERS, success: 204 },
    ...Object.fromEntries(scopes),
    [`POST ${VARSET_VARS}`]: {
      target: `${one}/relationships/vars`,
      body: attributes('vars', variable),
      allowed: MANAGERS,
      success: 200,
    },
    [`GET ${VARSET_VARS}`]: {
      target: `${one}/relationships/vars`,
      allowed: READERS,
      success: 200,
    },
    [`GET ${VARSET_VARS}/{variable_id}`]: {
      target: `${one}/relationships/vars/{setVar}`,
      allowed: READERS,
      success: 200,
    },
    [`PATCH ${VARSET_VARS}/{variable_id}`]: {
      target: `${one}/relationships/vars/{setVar}`,
      body: attributes('vars'),
      allowed: MANAGERS,
      success: 200,
    },
    [`DELETE ${VARSET_VARS}/{variable_id}`]: {
      target: `${one}/relationships/vars/{setVar}`,
      allowed: MANAGERS,
      success: 204,
    },
  };
};

export const NEIGHBOUR_CASES: Readonly<Record<string, Case>> = {
  [`GET ${ON}/reserved-tag-keys`]: {
    target: `${O}/reserved-tag-keys`,
    allowed: MEMBERS,
    success: 200,
  },
  [`POST ${ON}/reserved-tag-keys`]: {
    target: `${O}/reserved-tag-keys`,
    body: attributes('reserved-tag-keys', { key: 'tried-{n}' }),
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  ...reservedKey('PATCH', '/reserved-tags'),
  ...reservedKey('DELETE', '/reserved-tags'),
  ...reservedKey('PATCH', '/reserved-tag-keys'),
  ...reservedKey('DELETE', '/reserved-tag-keys'),
  ...variableSetCases(),
  ...notificationCases(),
  [`POST ${W}/vars`]: {
    target: '/workspaces/{ws}/vars',
    body: attributes('vars', variable),
    allowed: WRITERS,
    success: 201,
  },
  [`GET ${W}/vars`]: { target: '/workspaces/{ws}/vars', allowed: READERS, success: 200 },
  [`GET ${W}/all-vars`]: { target: '/workspaces/{ws}/all-vars', allowed: READERS, success: 200 },
  [`PATCH ${W}/relationships/vars`]: {
    target: '/workspaces/{ws}/relationships/vars',
    body: { data: [{ type: 'vars', attributes: variable }] },
    allowed: WRITERS,
    success: 204,
  },
  [`GET ${W}/vars/{variable_id}`]: {
    target: '/workspaces/{ws}/vars/{newVar}',
    allowed: READERS,
    success: 200,
  },
  [`PATCH ${W}/vars/{variable_id}`]: {
    target: '/workspaces/{ws}/vars/{newVar}',
    body: attributes('vars'),
    allowed: WRITERS,
    success: 200,
  },
  [`DELETE ${W}/vars/{variable_id}`]: {
    target: '/workspaces/{ws}/vars/{newVar}',
    allowed: WRITERS,
    success: 204,
  },
  'POST /vars': {
    target: '/vars',
    body: attributes('vars', variable, {
      workspace: { data: { type: 'workspaces', id: '{ws}' } },
    }),
    allowed: WRITERS,
    success: 201,
  },
  'GET /vars': {
    target: '/vars?filter[organization][name]=acme&filter[workspace][name]=subject',
    allowed: READERS,
    success: 200,
  },
  'PATCH /vars/{variable_id}': {
    target: '/vars/{newVar}',
    body: attributes('vars'),
    allowed: WRITERS,
    success: 200,
  },
  'DELETE /vars/{variable_id}': { target: '/vars/{newVar}', allowed: WRITERS, success: 204 },
  [`POST ${ON}/agent-pools`]: {
    target: `${O}/agent-pools`,
    body: attributes('agent-pools', { name: 'tried {n}' }),
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  [`GET ${ON}/agent-pools`]: { target: `${O}/agent-pools`, allowed: MEMBERS, success: 200 },
  'GET /agent-pools/{agent_pool_id}': {
    target: '/agent-pools/{pool}',
    allowed: MEMBERS,
    success: 200,
  },
  'PATCH /agent-pools/{agent_pool_id}': {
    target: '/agent-pools/{pool}',
    body: attributes('agent-pools'),
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'DELETE /agent-pools/{agent_pool_id}': {
    target: '/agent-pools/{newPool}',
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
  'POST /agent-pools/{agent_pool_id}/authentication-tokens': {
    target: '/agent-pools/{pool}/authentication-tokens',
    body: attributes('authentication-tokens', { description: 'agents' }),
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  'GET /agent-pools/{agent_pool_id}/authentication-tokens': {
    target: '/agent-pools/{pool}/authentication-tokens',
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  [`POST ${ON}/oauth-clients`]: {
    target: `${O}/oauth-clients`,
    body: attributes('oauth-clients', connection),
    allowed: OWNERS,
    success: 201,
  },
  [`GET ${ON}/oauth-clients`]: { target: `${O}/oauth-clients`, allowed: OWNERS, success: 200 },
  'GET /oauth-clients/{oauth_client_id}': {
    target: '/oauth-clients/{newClient}',
    allowed: OWNERS,
    success: 200,
  },
  'POST /oauth-clients/{oauth_client_id}/relationships/projects': {
    target: '/oauth-clients/{newClient}/relationships/projects',
    body: { data: [{ type: 'projects', id: '{prj}' }] },
    allowed: OWNERS,
    success: 204,
  },
  'DELETE /oauth-clients/{oauth_client_id}/relationships/projects': {
    target: '/oauth-clients/{newClient}/relationships/projects',
    body: { data: [{ type: 'projects', id: '{prj}' }] },
    allowed: OWNERS,
    success: 204,
  },
  'PATCH /oauth-clients/{oauth_client_id}': {
    target: '/oauth-clients/{newClient}',
    body: attributes('oauth-clients'),
    allowed: OWNERS,
    success: 200,
  },
  'DELETE /oauth-clients/{oauth_client_id}': {
    target: '/oauth-clients/{newClient}',
    allowed: OWNERS,
    success: 204,
  },
  'POST /oauth-clients/{oauth_client_id}/actions/begin-authorization': {
    target: '/oauth-clients/{newClient}/actions/begin-authorization',
    allowed: OWNERS,
    // The client has a token.
    success: 409,
  },
  'POST /oauth-clients/{oauth_client_id}/actions/complete-authorization': {
    target: '/oauth-clients/{newClient}/actions/complete-authorization',
    body: attributes('oauth-authorizations', { 'oauth-token': 'a', 'oauth-verifier': 'b' }),
    allowed: OWNERS,
    // None was begun.
    success: 409,
  },
  'GET /oauth-clients/{oauth_client_id}/oauth-tokens': {
    target: '/oauth-clients/{newClient}/oauth-tokens',
    allowed: OWNERS,
    success: 200,
  },
  [`GET ${ON}/oauth-tokens`]: { target: `${O}/oauth-tokens`, allowed: OWNERS, success: 200 },
  'GET /oauth-tokens/{oauth_token_id}': {
    target: '/oauth-tokens/{newToken}',
    allowed: OWNERS,
    success: 200,
  },
  'PATCH /oauth-tokens/{oauth_token_id}': {
    target: '/oauth-tokens/{newToken}',
    body: attributes('oauth-tokens'),
    allowed: OWNERS,
    success: 200,
  },
  [`GET ${W}/repository-deliveries`]: {
    target: '/workspaces/{ws}/repository-deliveries',
    allowed: ADMINS,
    success: 200,
  },
  'POST /webhooks/repositories/{hook_id}': {
    target: '/webhooks/repositories/whk-none',
    body: {},
    allowed: [],
    success: 0,
    everyone: 404,
  },
  'DELETE /oauth-tokens/{oauth_token_id}': {
    target: '/oauth-tokens/{newToken}',
    allowed: OWNERS,
    success: 204,
  },
  [`GET ${ON}/tags`]: { target: `${O}/tags`, allowed: MEMBERS, success: 200 },
  [`DELETE ${ON}/tags`]: {
    target: `${O}/tags`,
    body: { data: [] },
    allowed: MANAGERS,
    success: 204,
  },
  'POST /tags/{tag_id}/relationships/workspaces': {
    target: '/tags/{tag}/relationships/workspaces',
    body: { data: [{ type: 'workspaces', id: '{other}' }] },
    allowed: MANAGERS,
    success: 204,
  },
  // To where they are already, by those who see the project.
  'POST /projects/{project_id}/relationships/workspaces': {
    target: '/projects/{prj}/relationships/workspaces',
    body: { data: [{ type: 'workspaces', id: '{ws}' }] },
    allowed: MANAGERS,
    success: 204,
  },
  'PATCH /account/update': {
    target: '/account/update',
    body: attributes('users'),
    allowed: PEOPLE,
    success: 200,
  },
  [`POST ${ON}/organization-memberships`]: {
    target: `${O}/organization-memberships`,
    body: attributes(
      'organization-memberships',
      { email: '{newMail}' },
      { teams: { data: [{ type: 'teams', id: '{team}' }] } },
    ),
    allowed: ORGANIZATION_ADMINS,
    success: 201,
  },
  [`GET ${ON}/organization-memberships`]: {
    target: `${O}/organization-memberships`,
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'GET /organization-memberships': {
    target: '/organization-memberships',
    allowed: EVERYONE,
    success: 200,
  },
  'GET /organization-memberships/{membership_id}': {
    target: '/organization-memberships/{newMembership}',
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'DELETE /organization-memberships/{membership_id}': {
    target: '/organization-memberships/{newMembership}',
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
  'GET /teams/{team_id}/relationships/organization-memberships': {
    target: '/teams/{team}/relationships/organization-memberships',
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'POST /teams/{team_id}/relationships/organization-memberships': {
    target: '/teams/{team}/relationships/organization-memberships',
    body: { data: [{ type: 'organization-memberships', id: '{newMembership}' }] },
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
  'DELETE /teams/{team_id}/relationships/organization-memberships': {
    target: '/teams/{team}/relationships/organization-memberships',
    body: { data: [{ type: 'organization-memberships', id: '{newMembership}' }] },
    allowed: ORGANIZATION_ADMINS,
    success: 204,
  },
};
