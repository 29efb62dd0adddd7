/** An organization with teams, members and tokens. */
import {
  type GoldenCalls,
  type GoldenRead,
  ORGANIZATION,
  reads,
  resource,
  several,
} from './golden-calls.ts';

export const makePeople = async ({ api }: GoldenCalls): Promise<readonly GoldenRead[]> => {
  await api(
    'POST',
    'organizations',
    resource('organizations', { name: 'acme', email: 'ops@example.com' }),
  );
  const team = await api(
    'POST',
    `${ORGANIZATION}/teams`,
    resource('teams', { name: 'developers', 'organization-access': { 'manage-workspaces': true } }),
  );
  const member = await api(
    'POST',
    `${ORGANIZATION}/organization-memberships`,
    resource(
      'organization-memberships',
      { email: 'guest@example.com' },
      { teams: several('teams', team.data.id) },
    ),
  );
  const own = await api('GET', 'account/details');
  const user = `users/${own.data.id}`;
  await api(
    'POST',
    `${user}/authentication-tokens`,
    resource('authentication-tokens', { description: 'golden' }),
  );
  await api('POST', `${ORGANIZATION}/authentication-token`);
  await api('POST', `teams/${team.data.id}/authentication-token`);
  await api(
    'POST',
    `${ORGANIZATION}/reserved-tag-keys`,
    resource('reserved-tag-keys', { key: 'cost-center' }),
  );
  await api(
    'POST',
    'admin/users',
    resource('users', { username: 'second', email: 'second@example.com' }),
  );
  // Confirmed with a link in a mail, which no server takes; once people sign in, a token no longer suffices.
  await api('PATCH', 'account/update', resource('users', { email: 'new@example.com' }));
  await api(
    'PATCH',
    'admin/sign-in-settings',
    resource('sign-in-settings', { 'passwords-enabled': true, 'session-minutes': 60 }),
  );
  await api(
    'PATCH',
    'admin/sso-settings',
    resource('sso-settings', {
      issuer: 'https://provider.example.com',
      'client-id': 'keelson',
      'client-secret': 'a secret of the client',
    }),
  );
  await api(
    'PATCH',
    `${ORGANIZATION}/token-ttl-policies`,
    resource('organization-token-ttl-policies', {
      'token-ttl-policies': [{ 'token-type': 'user', 'max-ttl-ms': 7_776_000_000 }],
    }),
  );
  await api(
    'PATCH',
    `teams/${team.data.id}`,
    resource('teams', { 'sso-team-id': 'the developers' }),
  );
  return reads('api', 'GET', [
    'organizations',
    ORGANIZATION,
    `${ORGANIZATION}/teams`,
    `teams/${team.data.id}`,
    `${ORGANIZATION}/organization-memberships`,
    `organization-memberships/${member.data.id}`,
    'account/details',
    user,
    'admin/users',
    'admin/sign-in-settings',
    'admin/sso-settings',
    `${user}/authentication-tokens`,
    `${ORGANIZATION}/authentication-token`,
    `teams/${team.data.id}/authentication-token`,
    `${ORGANIZATION}/reserved-tag-keys`,
    `${ORGANIZATION}/token-ttl-policies`,
  ]);
};
