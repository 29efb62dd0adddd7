/**
 * Metrics of logins. Behaviours:
 *
 * | metric                                | counts                                                             |
 * | ------------------------------------- | ------------------------------------------------------------------ |
 * | `keelson_logins_total` token          | logins for which sys made a token                                  |
 * | … second_factor                       | those that wait for one                                            |
 * | … refused                             | wrong credentials, locked users, forms that cannot be read         |
 * | … failed                              | logins that sys did not answer                                     |
 * | `keelson_users_locked`                | users that are locked now, over all mounts                         |
 */
import { KeelsonError } from '@keelson/errors';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

let auth: OpenAuth;
const mount = mountOf('userpass');
beforeEach(async () => {
  auth = await openAuth();
  await auth.join({
    initialized: true,
    sealed: false,
    serviceKey: Buffer.alloc(32, 7),
    keyringTerm: 0,
    replicationRoles: [],
    clusterId: 'c',
    clusterName: 'c',
    unreadableMountUuids: [],
    formerServiceKeys: [],
    mounts: [mount],
  });
});
afterEach(() => auth.close());

const logIn = async (password: string, name = 'ann') =>
  (await auth.call('userpass', 'POST', `login/${name}`, { password }, { mount })).status;

/** The values of a metric that are not 0, by its labels. */
const valuesOf = async (name: string) => {
  // A sample is shown for 15 s.
  auth.clock.advance(15_000);
  const text = await auth.registry.metrics();
  return Object.fromEntries(
    [...text.matchAll(new RegExp(`^${name}(?:\\{(.*)\\})? (\\S+)$`, 'gm'))]
      .map(([, labels = '', value]) => [labels.replaceAll('"', ''), Number(value)] as const)
      .filter(([, value]) => value !== 0),
  );
};
const of = (results: Readonly<Record<string, number>>, method = 'userpass') =>
  Object.fromEntries(
    Object.entries(results).map(([result, count]) => [`method=${method},result=${result}`, count]),
  );

test('logins are counted by their method and result, and nobody is named', async () => {
  expect(await valuesOf('keelson_logins_total')).toEqual({});
  expect((await auth.registry.metrics()).match(/^keelson_logins_total\{/gm)).toHaveLength(30);
  await auth.call('userpass', 'POST', 'users/ann', { password: 'right' }, { mount });
  expect([await logIn('right'), await logIn('wrong'), await logIn('wrong', 'nobody')]).toEqual([
    200, 400, 400,
  ]);
  expect(await valuesOf('keelson_logins_total')).toEqual(of({ token: 1, refused: 2 }));
  auth.answerLogins(() =>
    Promise.resolve({ client_token: '', mfa_requirement: { mfa_request_id: 'x' } }),
  );
  expect(await logIn('right')).toBe(200);
  auth.answerLogins(() => Promise.reject(new KeelsonError('sys.mfa_failed', { text: 'x' })));
  expect(await logIn('right')).toBe(403);
  auth.answerLogins(() => Promise.reject(new Error('away')));
  expect(await logIn('right')).toBe(500);
  expect(await valuesOf('keelson_logins_total')).toEqual(
    of({ token: 1, refused: 3, second_factor: 1, failed: 1 }),
  );
  expect(await auth.registry.metrics()).not.toMatch(/ann|nobody/);
});

test('other requests to a method are not logins', async () => {
  await auth.call('userpass', 'GET', 'users/nobody', undefined, { mount });
  await auth.call('userpass', 'POST', 'users/x', {}, { mount });
  await auth.call('userpass', 'GET', 'login/ann', undefined, { mount });
  expect(await valuesOf('keelson_logins_total')).toEqual({});
});

test('a poll without an answer yet is no refusal', async () => {
  const at = mountOf('oidc', '8f0b1c1e-0000-4000-8000-000000000009');
  await auth.call('jwt', 'POST', 'oidc/poll', { state: 'x' }, { mount: at });
  expect(await valuesOf('keelson_logins_total')).toEqual({});
  await auth.call('jwt', 'GET', 'oidc/callback?state=x', undefined, { mount: at });
  expect(await valuesOf('keelson_logins_total')).toEqual(of({ refused: 1 }, 'jwt'));
});

test('users are counted while they are locked', async () => {
  for (const name of ['ann', 'bob'])
    await auth.call('userpass', 'POST', `users/${name}`, { password: 'right' }, { mount });
  for (let count = 0; count < 5; count += 1) await logIn('wrong');
  await logIn('wrong', 'bob');
  expect(await valuesOf('keelson_users_locked')).toEqual({ '': 1 });
  auth.clock.advance(15 * 60_000);
  expect(await valuesOf('keelson_users_locked')).toEqual({});
});
