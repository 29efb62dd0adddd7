/** The method userpass: people with a password of their own. */
import { countPasswordHashes } from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { type CallMount, mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

let auth: OpenAuth;
beforeAll(async () => {
  auth = await openAuth();
});
afterAll(() => auth.close());

let serial = 0;
let mount: ReturnType<typeof mountOf>;
let call: CallMount;

/** A mount of its own for each test. */
beforeEach(() => {
  serial += 1;
  mount = mountOf('userpass', `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`);
  auth.logins.length = 0;
  call = (method, path, body, remoteAddress = '127.0.0.1') =>
    auth.call('userpass', method, path, body, { mount, remoteAddress });
});

const logIn = (name: string, password: string, address?: string) =>
  call('POST', `login/${name}`, { password }, address);
const WRONG = ['invalid username or password'];

test('a user signs in whatever the case of the name, and the password is never shown', async () => {
  await call('POST', 'users/Alice', { password: 'correct horse', token_policies: 'dev' });
  const { json } = await logIn('ALICE', 'correct horse');
  expect(json.auth).toEqual({ client_token: 'hvs.test' });
  expect(auth.logins).toMatchObject([
    {
      displayName: 'alice',
      metadata: { username: 'alice' },
      limits: { policies: ['dev'] },
      loginData: Buffer.from('{"user":"alice"}'),
      aliasName: 'alice',
    },
  ]);
  const shown = await call('GET', 'users/alice');
  expect(shown.data.token_policies).toEqual(['dev']);
  expect(JSON.stringify(shown.json)).not.toMatch(/password|argon2/);
  expect((await call('LIST', 'users')).data).toEqual({ keys: ['alice'] });
});

test('the older names of settings mean the same, and are shown', async () => {
  const older = { policies: ['dev'], ttl: 60, max_ttl: 600, bound_cidrs: ['127.0.0.0/8'] };
  const { json } = await call('POST', 'users/alice', { password: 'right', ...older });
  expect(json).toBeUndefined();
  expect((await call('GET', 'users/alice')).data).toMatchObject({
    ...older,
    token_policies: ['dev'],
    token_ttl: 60,
    token_max_ttl: 600,
    token_bound_cidrs: ['127.0.0.0/8'],
  });
  expect((await logIn('alice', 'right')).status).toBe(200);
  expect(auth.logins).toMatchObject([
    {
      limits: {
        policies: ['dev'],
        ttlSeconds: 60,
        maxTtlSeconds: 600,
        boundCidrs: ['127.0.0.0/8'],
      },
    },
  ]);
  await call('POST', 'users/alice', { ttl: 0, bound_cidrs: '' });
  expect((await call('GET', 'users/alice')).data).not.toHaveProperty('ttl');
});

test('a wrong password and an unknown user have one answer after the same work', async () => {
  await call('POST', 'users/alice', { password: 'right' });
  for (const name of ['nobody', 'alice']) {
    const hashes = await countPasswordHashes(async () => {
      const { status, json } = await logIn(name, 'wrong');
      expect([status, json.errors]).toEqual([400, WRONG]);
    });
    expect([name, hashes]).toEqual([name, 1]);
  }
});

test('from outside of the networks of a user every password is wrong, and nobody locks the user', async () => {
  await call('POST', 'users/alice', { password: 'right', token_bound_cidrs: '127.0.0.0/8' });
  const answers = async (name: string, password: string) => {
    const found: unknown[] = [];
    for (let attempt = 0; attempt < 6; attempt += 1) {
      const { status, json } = await logIn(name, password, '10.0.0.1');
      found.push([status, json.errors]);
    }
    return found;
  };
  let ofUnknown: unknown;
  const hashes = await countPasswordHashes(async () => {
    ofUnknown = await answers('nobody', 'wrong');
  });
  const sameHashes = await countPasswordHashes(async () => {
    expect(await answers('alice', 'right')).toEqual(ofUnknown);
  });
  expect(ofUnknown).toEqual([...Array(5).fill([400, WRONG]), [403, ['permission denied']]]);
  expect([hashes, sameHashes]).toEqual([5, 5]);
  expect(auth.logins).toEqual([]);
  expect((await logIn('alice', 'right')).status).toBe(200);
  const { aliasNames } = await auth.service.methods.listLockedUsers({ mount });
  expect(aliasNames).toEqual(['alice (outside of token_bound_cidrs)', 'nobody']);
});

test('the password and the policies of a user are changed alone', async () => {
  await call('POST', 'users/alice', { password: 'first', token_ttl: '1h' });
  expect((await call('POST', 'users/alice/password', { password: 'second' })).status).toBe(204);
  expect((await logIn('alice', 'first')).json.errors).toEqual(WRONG);
  expect((await logIn('alice', 'second')).status).toBe(200);
  expect((await call('POST', 'users/alice/policies', { token_policies: 'ops' })).status).toBe(204);
  expect((await call('GET', 'users/alice')).data).toMatchObject({
    token_policies: ['ops'],
    token_ttl: 3600,
  });
  for (const [path, body] of [
    ['password', { password: 'x' }],
    ['policies', { policies: 'x' }],
  ] as const)
    expect((await call('POST', `users/nobody/${path}`, body)).status).toBe(404);
});

test('a deleted user cannot sign in', async () => {
  await call('POST', 'users/alice', { password: 'right' });
  await call('DELETE', 'users/alice');
  expect((await logIn('alice', 'right')).json.errors).toEqual(WRONG);
  expect((await call('GET', 'users/alice')).status).toBe(404);
});

test.for([
  [{}, /missing password/],
  [{ password: '' }, /password cannot be empty/],
  [{ password: 'p'.repeat(1025) }, /password has at most 1024 characters/],
  [{ password: 'p', token_policies: 'root' }, /token_policies cannot contain "root"/],
] as const)('a user is refused with %j', async ([body, text]) => {
  const { status, json } = await call('POST', 'users/alice', body);
  expect([status, json.errors]).toEqual([400, [expect.stringMatching(text)]]);
  expect((await call('LIST', 'users')).status).toBe(404);
});

test('a policy that no login may yield is refused where policies alone are changed', async () => {
  await call('POST', 'users/alice', { password: 'right' });
  const { status, json } = await call('POST', 'users/alice/policies', { policies: 'root' });
  expect([status, json.errors]).toEqual([400, [expect.stringContaining('token_policies')]]);
});
