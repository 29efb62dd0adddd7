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

const USERS = EVERYONE.filter((caller) => caller !== 'organization');

/** Known callers are refused, because an API token is not enough. */
const NEEDS_SESSION = {
  allowed: EVERYONE,
  success: 403,
} as const;

const REGISTRATION = {
  id: 'AAAA',
  rawId: 'AAAA',
  type: 'public-key',
  response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
};
const ASSERTION = {
  ...REGISTRATION,
  response: { clientDataJSON: 'AAAA', authenticatorData: 'AAAA', signature: 'AAAA' },
};

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
  [`GET ${ON}/audit-events`]: {
    target: `${O}/audit-events`,
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  'GET /organization/audit-trail': {
    target: '/organization/audit-trail',
    allowed: ['organization', 'auditor'],
    success: 200,
  },
  [`GET ${ON}/token-ttl-policies`]: {
    target: `${O}/token-ttl-policies`,
    allowed: ORGANIZATION_ADMINS,
    success: 200,
  },
  [`PATCH ${ON}/token-ttl-policies`]: {
    target: `${O}/token-ttl-policies`,
    body: attributes('organization-token-ttl-policies', {
      'token-ttl-policies': [{ 'token-type': 'team', 'max-ttl-ms': 3_600_000 }],
    }),
    allowed: ORGANIZATION_ADMINS,
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
  'GET /account/workspace-locks': {
    target: '/account/workspace-locks',
    allowed: EVERYONE,
    success: 200,
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
  'GET /admin/users/{user_id}': {
    target: '/admin/users/{user}',
    allowed: ['site'],
    success: 200,
  },
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
    ['suspend', 'end_sessions', 'grant_admin', 'revoke_admin'].map((action) => [
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
    allowed: USERS,
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
  'GET /sign-in-methods': {
    target: '/sign-in-methods',
    allowed: [],
    success: 0,
    everyone: 200,
  },
  // The name and the password are the credential.
  'POST /sessions': {
    target: '/sessions',
    body: attributes('sessions', { login: 'nobody-{n}', password: 'wrong' }),
    allowed: [],
    success: 0,
    everyone: 401,
  },
  'GET /account/sessions': { target: '/account/sessions', allowed: USERS, success: 200 },
  // None of the callers has signed in with a password: their tokens are no sessions.
  'DELETE /account/sessions/{session_id}': {
    target: '/account/sessions/at-0',
    allowed: [],
    success: 204,
  },
  'DELETE /account/sessions': { target: '/account/sessions', allowed: USERS, success: 204 },
  'DELETE /account/session': { target: '/account/session', allowed: [], success: 204 },
  'PATCH /account/password': {
    target: '/account/password',
    body: attributes('users', {
      current_password: 'wrong',
      password: 'three words and a 4th',
      password_confirmation: 'three words and a 4th',
    }),
    allowed: USERS,
    success: 422,
  },
  'POST /password-resets': {
    target: '/password-resets',
    body: attributes('password-resets', { email: 'nobody@keelson.example' }),
    allowed: [],
    success: 0,
    everyone: 202,
  },
  'GET /password-reset': { target: '/password-reset', allowed: ['reset'], success: 200 },
  'POST /password-reset/actions/set-password': {
    target: '/password-reset/actions/set-password',
    body: attributes('password-resets', { password: 'three words and a 4th' }),
    allowed: ['reset'],
    success: 204,
  },
  'POST /invitation/actions/set-password': {
    target: '/invitation/actions/set-password',
    body: attributes('invitations', { password: 'three words and a 4th' }),
    allowed: ['invitation'],
    success: 201,
  },
  // The site has no passkeys.
  'POST /invitation/actions/begin-passkey': {
    target: '/invitation/actions/begin-passkey',
    allowed: ['invitation'],
    success: 403,
  },
  'POST /invitation/actions/add-passkey': {
    target: '/invitation/actions/add-passkey',
    body: attributes('invitations', { name: 'phone', credential: REGISTRATION }),
    allowed: ['invitation'],
    success: 403,
  },
  'POST /passkey-challenges': {
    target: '/passkey-challenges',
    allowed: [],
    success: 0,
    everyone: 403,
  },
  'POST /passkey-challenges/actions/sign-in': {
    target: '/passkey-challenges/actions/sign-in',
    body: attributes('passkey-challenges', { credential: ASSERTION }),
    allowed: [],
    success: 0,
    everyone: 403,
  },
  'GET /account/passkeys': { target: '/account/passkeys', allowed: USERS, success: 200 },
  'POST /account/passkeys/actions/begin': {
    target: '/account/passkeys/actions/begin',
    ...NEEDS_SESSION,
  },
  'POST /account/passkeys/actions/confirm': {
    target: '/account/passkeys/actions/confirm',
    ...NEEDS_SESSION,
  },
  'POST /account/passkeys': {
    target: '/account/passkeys',
    body: attributes('passkeys', { name: 'phone', credential: REGISTRATION }),
    ...NEEDS_SESSION,
  },
  'PATCH /account/passkeys/{passkey_id}': {
    target: '/account/passkeys/pk-0',
    body: attributes('passkeys', { name: 'phone' }),
    ...NEEDS_SESSION,
  },
  'DELETE /account/passkeys/{passkey_id}': {
    target: '/account/passkeys/pk-0',
    ...NEEDS_SESSION,
  },
  'GET /account/two-factor': { target: '/account/two-factor', allowed: USERS, success: 200 },
  'POST /account/two-factor': {
    target: '/account/two-factor',
    body: attributes('two-factors', { 'current-password': 'wrong' }),
    ...NEEDS_SESSION,
  },
  'POST /account/two-factor/actions/verify': {
    target: '/account/two-factor/actions/verify',
    body: attributes('two-factors', { passcode: '123456' }),
    ...NEEDS_SESSION,
  },
  'POST /account/two-factor/actions/renew-recovery-codes': {
    target: '/account/two-factor/actions/renew-recovery-codes',
    body: attributes('two-factors', { passcode: '123456' }),
    ...NEEDS_SESSION,
  },
  'POST /account/two-factor/actions/disable': {
    target: '/account/two-factor/actions/disable',
    body: attributes('two-factors', { 'current-password': 'wrong', passcode: '123456' }),
    ...NEEDS_SESSION,
  },
  'POST /sso-logins': {
    target: '/sso-logins',
    body: attributes('sso-logins', { 'client-nonce': 'n'.repeat(43) }),
    allowed: [],
    success: 0,
    // The site has no provider.
    everyone: 403,
  },
  'POST /sso-logins/actions/finish': {
    target: '/sso-logins/actions/finish',
    body: attributes('sso-logins', { 'client-nonce': 'n'.repeat(43), state: 'x', code: 'y' }),
    allowed: [],
    success: 0,
    everyone: 403,
  },
  'GET /admin/sso-settings': {
    target: '/admin/sso-settings',
    allowed: ['site'],
    success: 200,
  },
  'PATCH /admin/sso-settings': {
    target: '/admin/sso-settings',
    body: attributes('sso-settings', { title: 'the provider' }),
    allowed: ['site'],
    success: 200,
  },
  'GET /admin/sign-in-settings': {
    target: '/admin/sign-in-settings',
    allowed: ['site'],
    success: 200,
  },
  'PATCH /admin/sign-in-settings': {
    target: '/admin/sign-in-settings',
    body: attributes('sign-in-settings', { 'passwords-enabled': true }),
    allowed: ['site'],
    success: 200,
  },
  ...Object.fromEntries(
    ['disable_two_factor', 'remove_passkeys'].map((action) => [
      `POST /admin/users/{user_id}/actions/${action}`,
      {
        target: `/admin/users/{newUser}/actions/${action}`,
        allowed: ['site'],
        // The user has none.
        success: 400,
      } as const,
    ]),
  ),
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
