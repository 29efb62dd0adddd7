/** The table of callers, continued: accounts, tokens, teams and organizations. */
import {
  attributes,
  type Case,
  EVERYONE,
  MEMBERS,
  O,
  ON,
  ORGANIZATION_ADMINS,
  OWNERS,
} from './callers-table.ts';

const members = { data: [{ type: 'users', id: 'colleague' }] };

export const IDENTITY_CASES: Readonly<Record<string, Case>> = {
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
  'GET /invitation': { target: '/invitation', allowed: ['invitation'], success: 200 },
  'POST /invitation/actions/accept': {
    target: '/invitation/actions/accept',
    allowed: ['invitation'],
    success: 201,
  },
  'GET /email-confirmation': {
    target: '/email-confirmation',
    allowed: ['confirmation'],
    success: 200,
  },
  'POST /email-confirmation/actions/confirm': {
    target: '/email-confirmation/actions/confirm',
    allowed: ['confirmation'],
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
  'GET /admin/users': { target: '/admin/users', allowed: ['site'], success: 200 },
  'PATCH /admin/users/{user_id}': {
    target: '/admin/users/{user}',
    body: attributes('users'),
    allowed: ['site'],
    success: 200,
  },
  'DELETE /admin/users/{user_id}': {
    target: '/admin/users/{newUser}',
    allowed: ['site'],
    success: 204,
  },
  ...Object.fromEntries(
    ['suspend', 'grant_admin', 'revoke_admin'].map((action) => [
      `POST /admin/users/{user_id}/actions/${action}`,
      {
        target: `/admin/users/{newUser}/actions/${action}`,
        allowed: ['site'],
        success: 200,
      } as const,
    ]),
  ),
  'POST /admin/users/{user_id}/actions/unsuspend': {
    target: '/admin/users/{newUser}/actions/unsuspend',
    allowed: ['site'],
    // The user is not suspended.
    success: 400,
  },
  'GET /admin/organizations': {
    target: '/admin/organizations',
    allowed: ['site'],
    success: 200,
  },
  'GET /admin/organizations/{organization_name}': {
    target: '/admin/organizations/acme',
    allowed: ['site'],
    success: 200,
  },
  'PATCH /admin/organizations/{organization_name}': {
    target: '/admin/organizations/acme',
    body: attributes('organizations'),
    allowed: ['site'],
    success: 200,
  },
  'GET /admin/authentication-tokens': {
    target: '/admin/authentication-tokens',
    allowed: ['site'],
    success: 200,
  },
  'POST /command-logins': {
    target: '/command-logins',
    body: attributes('command-logins', {
      'response-type': 'code',
      'client-id': 'terraform-cli',
      'redirect-uri': 'http://localhost:10000/login',
      'code-challenge': 'x'.repeat(43),
      'code-challenge-method': 'S256',
      state: 'state',
      approved: true,
    }),
    allowed: EVERYONE.filter((caller) => caller !== 'organization'),
    success: 201,
  },
  // The code in its form is the credential, and it takes no JSON.
  'POST /command-logins/token': {
    target: '/command-logins/token',
    body: {},
    allowed: [],
    success: 0,
    everyone: 415,
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
