/** The method jwt through a browser: the address of the provider, and the return from there. */
import { ManualClock } from '@keelson/clock';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import {
  CLIENT,
  type IdentityProvider,
  makeKey,
  startProvider,
} from '../../test/identity-provider.ts';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

let auth: OpenAuth;
let provider: IdentityProvider;
beforeAll(async () => {
  // The library that redeems codes reads the clock of the machine.
  auth = await openAuth({ outboundRanges: ['127.0.0.0/8'], clock: new ManualClock(Date.now()) });
});
afterAll(() => auth.close());

const REDIRECT = 'http://localhost:8250/oidc/callback';
const GONE = ['expired or missing OAuth state'];
const NOT_REDEEMED = ['the provider has refused the code, or cannot be reached'];
const ROLE = { user_claim: 'sub', allowed_redirect_uris: [REDIRECT, 'https://ui.example/back'] };

let serial = 0;
let call: (method: string, path: string, body?: unknown) => ReturnType<OpenAuth['call']>;

beforeEach(async () => {
  provider = await startProvider();
  provider.keys = [makeKey('one')];
  serial += 1;
  const mount = mountOf('oidc', `8f0b1c1e-3333-4000-8000-${String(serial).padStart(12, '0')}`);
  auth.logins.length = 0;
  call = (method, path, body) => auth.call('jwt', method, path, body, { mount });
  await configure();
  await call('POST', 'role/people', ROLE);
  return () => provider.stop();
});

const configure = () =>
  call('POST', 'config', { oidc_discovery_url: provider.url, default_role: 'people', ...CLIENT });
const begin = async (fields: object = {}): Promise<string> => {
  const { data } = await call('POST', 'oidc/auth_url', { redirect_uri: REDIRECT, ...fields });
  return data.auth_url;
};
const comeBack = async (answer: URLSearchParams, more: Record<string, string> = {}) => {
  for (const [name, value] of Object.entries(more)) answer.set(name, value);
  const { status, json } = await call('GET', `oidc/callback?${answer.toString()}`);
  expect(auth.logins.length > 0).toBe(status === 200);
  return status === 200 ? 200 : json.errors;
};

test('sends the browser to the provider, and signs in whom it brings back', async () => {
  await call('POST', 'role/people', {
    ...ROLE,
    oidc_scopes: ['email', 'profile'],
    claim_mappings: { email: 'mail', iss: 'issuer' },
    token_policies: 'dev',
  });
  const url = await begin({ client_nonce: 'n-1' });
  expect(url.startsWith(`${provider.url}/authorize?`)).toBe(true);
  expect(Object.fromEntries(new URL(url).searchParams)).toEqual({
    client_id: 'keelson',
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid email profile',
    state: expect.stringMatching(/^[\w-]+$/),
    nonce: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });
  expect(await comeBack(provider.consent(url), { client_nonce: 'n-1' })).toBe(200);
  // The signed token counts where the user's document says something else.
  expect(auth.logins).toMatchObject([
    {
      displayName: 'u-1',
      metadata: { role: 'people', mail: 'ann@example.com', issuer: provider.url },
      aliasName: 'u-1',
      limits: { policies: ['dev'] },
      loginData: Buffer.from('{"role":"people"}'),
    },
  ]);
});

test('takes a state once, at its mount, within five minutes', async () => {
  const twice = provider.consent(await begin());
  const first = new URLSearchParams(twice);
  const second = provider.consent(await begin());
  expect(await comeBack(first)).toBe(200);
  auth.logins.length = 0;
  expect(await comeBack(twice)).toEqual(GONE);
  const elsewhere = mountOf('oidc', '8f0b1c1e-4444-4000-8000-000000000001');
  const there = (method: string, path: string, body?: object) =>
    auth.call('jwt', method, path, body, { mount: elsewhere });
  await there('POST', 'config', { oidc_discovery_url: provider.url, ...CLIENT });
  await there('POST', 'role/people', ROLE);
  expect((await there('GET', `oidc/callback?${second.toString()}`)).json.errors).toEqual(GONE);
  const late = provider.consent(await begin());
  auth.clock.advance(5 * 60_000);
  expect(await comeBack(late)).toEqual(GONE);
  auth.clock.advance(-5 * 60_000);
});

test('lets one of twenty returns at the same time sign in', async () => {
  const answer = provider.consent(await begin());
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => call('GET', `oidc/callback?${answer.toString()}`)),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(auth.logins).toHaveLength(1);
});

test('is finished by a replica that has not begun it, once among all', async () => {
  const mount = mountOf('oidc', `8f0b1c1e-3333-4000-8000-${String(serial).padStart(12, '0')}`);
  const replica = auth.replica();
  const answer = provider.consent(await begin());
  const path = `oidc/callback?${answer.toString()}`;
  expect((await replica('jwt', 'GET', path, undefined, { mount })).status).toBe(200);
  auth.logins.length = 0;
  expect(await comeBack(answer)).toEqual(GONE);
});

test('refuses a state that was made up or changed', async () => {
  const answer = provider.consent(await begin());
  const state = answer.get('state') ?? '';
  const flipped = state.startsWith('A') ? `B${state.slice(1)}` : `A${state.slice(1)}`;
  for (const other of ['', 'x', 'A'.repeat(400), flipped, state.slice(0, -4), 'A'.repeat(8000)])
    expect(await comeBack(new URLSearchParams(answer), { state: other })).toEqual(GONE);
  expect(provider.asked.filter((path) => path === '/token')).toEqual([]);
});

test('refuses a code of another login, and a program that did not begin this one', async () => {
  const [own, foreign] = [provider.consent(await begin()), provider.consent(await begin())];
  own.set('code', foreign.get('code') ?? '');
  expect(await comeBack(own)).toEqual(NOT_REDEEMED);
  const bound = provider.consent(await begin({ client_nonce: 'mine' }));
  for (const nonce of ['', 'other', 'ming', 'mïne'])
    expect(await comeBack(new URLSearchParams(bound), { client_nonce: nonce })).toEqual([
      'invalid client_nonce',
    ]);
  expect(await comeBack(bound, { client_nonce: 'mine' })).toBe(200);
});

test('does without the name of the provider only where a program passes the answer on', async () => {
  provider.namesItself = true;
  await configure();
  const answer = async (nonce: string) =>
    provider.consent(await begin(nonce === '' ? {} : { client_nonce: nonce }));
  expect(await comeBack(await answer(''))).toEqual(NOT_REDEEMED);
  const other = { client_nonce: 'n-1', iss: 'https://other.example' };
  expect(await comeBack(await answer('n-1'), other)).toEqual(NOT_REDEEMED);
  expect(await comeBack(await answer('n-1'), { client_nonce: 'n-1' })).toBe(200);
});

test.for([
  ['another nonce', { nonce: 'x' }],
  ['another audience', { aud: 'other' }],
  ['another issuer', { iss: 'https://other.example' }],
  ['an end that has passed', { exp: 1 }],
] as const)('refuses a token with %s', async ([, claims]) => {
  expect(await comeBack(provider.consent(await begin(), claims))).toEqual(NOT_REDEEMED);
});

test('refuses a token that another key has signed, and claims that the role does not allow', async () => {
  const known = provider.keys;
  provider.keys = [makeKey('one')];
  expect(await comeBack(provider.consent(await begin()))).toEqual([
    expect.stringContaining('no known key'),
  ]);
  provider.keys = known;
  await call('POST', 'role/people', { bound_claims: { team: 'web' } });
  expect(await comeBack(provider.consent(await begin(), { team: 'ops' }))).toEqual([
    expect.stringContaining('claim "team" does not match'),
  ]);
  expect(await comeBack(provider.consent(await begin(), { team: 'web' }))).toBe(200);
});

test.for([
  [REDIRECT, true],
  ['http://localhost:9999/oidc/callback', true],
  ['http://localhost/oidc/callback', true],
  ['https://ui.example/back', true],
  ['http://127.0.0.1:8250/oidc/callback', false],
  ['http://localhost:8250/other', false],
  ['http://localhost:8250/oidc/callback?x=1', false],
  ['http://localhost.evil.example:8250/oidc/callback', false],
  ['http://u@localhost:8250/oidc/callback', false],
  ['https://ui.example:444/back', false],
  ['https://ui.example/back/..', false],
  ['https://evil.example/back', false],
  ['javascript:alert(1)', false],
  ['no address', false],
] as const)('lets the browser return to %s: %j', async ([uri, isAllowed]) => {
  expect((await begin({ redirect_uri: uri })) !== '').toBe(isAllowed);
});

test('never shows the secret of the client, and says what is missing', async () => {
  const { json } = await call('GET', 'config');
  expect(json.data.oidc_client_id).toBe('keelson');
  expect(JSON.stringify(json)).not.toMatch(/s3cret|state_?key/i);
  const refusalOf = async (fields: object) =>
    (await call('POST', 'oidc/auth_url', fields)).json.errors;
  expect(await refusalOf({})).toEqual(['missing redirect_uri']);
  expect(await refusalOf({ role: 'none', redirect_uri: REDIRECT })).toEqual([
    'role "none" could not be found',
  ]);
  const pending = provider.consent(await begin());
  await call('POST', 'role/people', { role_type: 'jwt', bound_audiences: 'keelson' });
  expect(await refusalOf({ redirect_uri: REDIRECT })).toEqual([
    'role with jwt role_type is not allowed',
  ]);
  await call('DELETE', 'role/people');
  expect(await comeBack(pending)).toEqual(['role "people" could not be found']);
  await call('POST', 'config', { oidc_discovery_url: provider.url, default_role: 'people' });
  await call('POST', 'role/people', ROLE);
  expect(await refusalOf({ redirect_uri: REDIRECT })).toEqual([
    'OIDC login is not configured for this mount',
  ]);
  expect((await call('POST', 'login', { jwt: 'x' })).json.errors).toEqual([
    'role with oidc role_type is not allowed',
  ]);
});
