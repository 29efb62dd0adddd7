/**
 * Logins whose browser does not return to the program with parameters in its address. Behaviours:
 *
 * | login                | the browser                     | the program                                           |
 * | -------------------- | ------------------------------- | ----------------------------------------------------- |
 * | `device`             | is sent nowhere                 | polls the provider through Keelson                    |
 * | `direct`             | is asked, and comes to Keelson  | polls until Keelson has accepted the user, once       |
 * | `form_post`, console | posts a form to Keelson         | gets a code of Keelson's from the browser alone       |
 * | `form_post`, program | posts the form to the program   | passes the form on, with the nonce of the login       |
 * | `id_token`           | brings the token, in a form     | as for form_post; the token is of this login          |
 */
import { ManualClock } from '@keelson/clock';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import {
  CLIENT,
  type IdentityProvider,
  makeKey,
  signToken,
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

const OWN = 'https://keelson.example/v1/auth/oidc/oidc/callback';
const CONSOLE = 'https://keelson.example/ui/sign-in/return';
const PROGRAM = 'http://localhost:8250/oidc/callback';
const NONCE = 'n-1';
const GONE = [400, ['expired or missing OAuth state']];

let serial = 0;
let mount: ReturnType<typeof mountOf>;
const call = (method: string, path: string, body?: unknown, type?: string) =>
  auth.call('jwt', method, path, body, { mount, ...(type !== undefined && { contentType: type }) });

beforeEach(async () => {
  provider = await startProvider();
  provider.keys = [makeKey('one')];
  serial += 1;
  mount = mountOf('oidc', `8f0b1c1e-5555-4000-8000-${String(serial).padStart(12, '0')}`);
  auth.logins.length = 0;
  await configure();
  return () => provider.stop();
});

const configure = async (settings: object = {}): Promise<void> => {
  const config = { oidc_discovery_url: provider.url, default_role: 'people', ...CLIENT };
  // The provider has no TLS, of which it warns.
  expect((await call('POST', 'config', { ...config, ...settings })).status).toBe(200);
};
const setRole = async (settings: object): Promise<void> => {
  const { status, json } = await call('POST', 'role/people', { user_claim: 'sub', ...settings });
  expect([status, json?.errors]).toEqual([204, undefined]);
};
const begin = async (fields: object = {}) =>
  (await call('POST', 'oidc/auth_url', { client_nonce: NONCE, ...fields })).data;
const poll = async (state: string, nonce = NONCE) => {
  const { status, json } = await call('POST', 'oidc/poll', { state, client_nonce: nonce });
  return status === 200 ? 200 : [status, json.errors];
};
const post = async (form: URLSearchParams | Record<string, string>) => {
  const body = Buffer.from(new URLSearchParams(form).toString());
  const answer = await call('POST', 'oidc/callback', body, 'application/x-www-form-urlencoded');
  return { ...answer, text: answer.bytes.toString() };
};
const get = (form: URLSearchParams | Record<string, string>) =>
  call('GET', `oidc/callback?${new URLSearchParams(form).toString()}`);

describe('the login of a device', () => {
  beforeEach(() => setRole({ callback_mode: 'device', token_policies: 'dev' }));
  const deviceCode = () => [...provider.devices.keys()][0] ?? '';
  const setState = (state: 'permitted' | 'slow_down' | 'access_denied') => {
    const device = provider.devices.get(deviceCode());
    if (device !== undefined) device.state = state;
  };

  test('ends once its user has permitted it, once among all', async () => {
    const begun = await begin();
    expect(begun).toEqual({
      auth_url: `${provider.url}/activate`,
      user_code: 'WDJB-MJHT',
      state: expect.stringMatching(/^[\w-]+$/),
      poll_interval: '5',
    });
    expect(await poll(begun.state)).toEqual([400, ['authorization_pending']]);
    setState('slow_down');
    expect(await poll(begun.state)).toEqual([400, ['slow_down']]);
    setState('permitted');
    const replica = auth.replica();
    const answers = await Promise.all([
      call('POST', 'oidc/poll', { state: begun.state, client_nonce: NONCE }),
      replica('jwt', 'POST', 'oidc/poll', { state: begun.state, client_nonce: NONCE }, { mount }),
    ]);
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    expect(auth.logins).toHaveLength(1);
    expect(auth.logins).toMatchObject([
      { displayName: 'u-1', metadata: { role: 'people' }, limits: { policies: ['dev'] } },
    ]);
    expect(await poll(begun.state)).toEqual(GONE);
  });

  test('shows one address where the provider has one with the code, and its interval', async () => {
    const complete = `${provider.url}/activate?user_code=WDJB-MJHT`;
    provider.deviceAnswer = { verification_uri_complete: complete, interval: 7 };
    const begun = await begin();
    expect([begun.auth_url, begun.user_code, begun.poll_interval]).toEqual([
      complete,
      undefined,
      '7',
    ]);
    await setRole({ callback_mode: 'device', poll_interval: 3 });
    expect((await begin()).poll_interval).toBe('3');
  });

  test('is refused to others, after its time, and when its user has refused', async () => {
    const { state } = await begin();
    setState('permitted');
    expect(await poll(state, 'other')).toEqual([400, ['invalid client_nonce']]);
    expect(await poll(`A${state.slice(1)}`)).toEqual(GONE);
    expect(await poll('')).toEqual(GONE);
    auth.clock.advance(10 * 60_000);
    expect(await poll(state)).toEqual(GONE);
    auth.clock.advance(-10 * 60_000);
    setState('access_denied');
    expect(await poll(state)).toEqual([
      400,
      ['the provider has refused the code, or cannot be reached'],
    ]);
    expect(auth.logins).toEqual([]);
  });

  test('is bound by the claims of the role, and by its mode', async () => {
    await setRole({ callback_mode: 'device', bound_claims: { sub: 'somebody' } });
    const { state } = await begin();
    setState('permitted');
    expect(await poll(state)).toEqual([
      400,
      [expect.stringContaining('claim "sub" does not match')],
    ]);
    await setRole({ callback_mode: 'device', bound_claims: {} });
    const later = await begin();
    await setRole({ callback_mode: 'client', allowed_redirect_uris: PROGRAM });
    expect(await poll(later.state)).toEqual(GONE);
    expect((await get({ state: later.state, client_nonce: NONCE })).status).toBe(400);
  });

  test('needs a nonce, and a provider that knows devices', async () => {
    const refusal = async (fields: object) =>
      (await call('POST', 'oidc/auth_url', fields)).json.errors;
    expect(await refusal({})).toEqual(['missing client_nonce']);
    provider.hasDevices = false;
    await configure();
    expect(await refusal({ client_nonce: NONCE })).toEqual([
      'the provider has refused the code, or cannot be reached',
    ]);
  });
});

describe('a direct login', () => {
  beforeEach(() => setRole({ callback_mode: 'direct', allowed_redirect_uris: OWN }));
  const open = async () => {
    const begun = await begin({ redirect_uri: OWN });
    expect(begun).toEqual({
      auth_url: expect.stringContaining('/authorize?'),
      state: new URL(begun.auth_url).searchParams.get('state'),
      poll_interval: '5',
    });
    return { state: begun.state as string, answer: provider.consent(begun.auth_url) };
  };
  const confirm = (answer: URLSearchParams) =>
    post({ ...Object.fromEntries(answer), confirmation: 'yes' });

  test('asks the user, and then the program gets it once', async () => {
    const { state, answer } = await open();
    expect(await poll(state)).toEqual([400, ['authorization_pending']]);
    const page = await get(answer);
    expect([page.status, page.headers.get('content-type')]).toEqual([
      200,
      'text/html; charset=utf-8',
    ]);
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(page.bytes.toString()).toMatch(/the role people[\s\S]*name="code" value="[\w-]+"/);
    // Showing the page has not redeemed the code.
    expect(provider.asked.filter((path) => path === '/token')).toEqual([]);
    expect(await poll(state)).toEqual([400, ['authorization_pending']]);
    const done = await confirm(answer);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining('You are signed in')]);
    expect(auth.logins).toEqual([]);
    expect(await poll(state, 'other')).toEqual([400, ['invalid client_nonce']]);
    const polls = await Promise.all(Array.from({ length: 10 }, () => poll(state)));
    expect(polls.filter((one) => one === 200)).toHaveLength(1);
    expect(auth.logins).toHaveLength(1);
    expect((await confirm(answer)).status).toBe(400);
  });

  test('is taken up by another replica', async () => {
    const { state, answer } = await open();
    await confirm(answer);
    const asked = { state, client_nonce: NONCE };
    const taken = await auth.replica()('jwt', 'POST', 'oidc/poll', asked, { mount });
    expect(taken.status).toBe(200);
  });

  test('asks nothing where the role says so', async () => {
    await setRole({ callback_mode: 'direct', oidc_disable_confirmation: true });
    const { state, answer } = await open();
    expect((await get(answer)).bytes.toString()).toContain('You are signed in');
    expect(await poll(state)).toBe(200);
  });

  test('says in the browser why nobody is signed in, whatever the provider has written', async () => {
    const { state, answer } = await open();
    const refused = await get({ state, error: 'access_denied', error_description: '<b>no</b>' });
    expect([refused.status, refused.bytes.toString()]).toEqual([
      400,
      expect.stringContaining('&lt;b&gt;no&lt;/b&gt;'),
    ]);
    await setRole({ callback_mode: 'direct', bound_claims: { sub: 'somebody' } });
    expect((await confirm(answer)).text).toContain('does not match');
    expect(await poll(state)).toEqual([400, ['authorization_pending']]);
    expect((await get({ state: 'x', code: 'y' })).status).toBe(400);
    expect((await post({ state: 'x', code: 'y' })).text).toContain(
      'expired or missing OAuth state',
    );
  });

  test('is forgotten after five minutes', async () => {
    const { state, answer } = await open();
    await confirm(answer);
    auth.clock.advance(5 * 60_000);
    expect(await poll(state)).toEqual(GONE);
    auth.clock.advance(-5 * 60_000);
  });

  test('needs a nonce and an address that the role allows', async () => {
    const refusal = async (fields: object) => (await call('POST', 'oidc/auth_url', fields)).json;
    expect((await refusal({ redirect_uri: OWN })).errors).toEqual(['missing client_nonce']);
    expect((await refusal({ client_nonce: NONCE })).errors).toEqual(['missing redirect_uri']);
    const elsewhere = { client_nonce: NONCE, redirect_uri: `${OWN}/x` };
    expect((await refusal(elsewhere)).data).toEqual({ auth_url: '' });
  });
});

describe('a form', () => {
  beforeEach(async () => {
    await configure({ oidc_response_mode: 'form_post' });
    await setRole({ allowed_redirect_uris: [CONSOLE, PROGRAM, OWN] });
  });

  test('for the console comes to Keelson, whose code the browser brings on', async () => {
    const { auth_url: url } = await begin({ redirect_uri: CONSOLE });
    const { redirect_uri: at, response_mode: mode } = Object.fromEntries(new URL(url).searchParams);
    expect([at, mode]).toEqual([OWN, 'form_post']);
    const answer = provider.consent(url);
    const { status, headers } = await post(answer);
    const next = new URL(headers.get('location') ?? '');
    expect([status, next.origin + next.pathname]).toEqual([303, CONSOLE]);
    const state = answer.get('state') ?? '';
    expect(next.searchParams.get('state')).toBe(state);
    // A stranger who has sent the address to the user knows the state and the nonce, and not the code.
    for (const code of ['', 'no_code', answer.get('code') ?? ''])
      expect((await get({ state, code, client_nonce: NONCE })).status).toBe(400);
    const code = next.searchParams.get('code') ?? '';
    expect((await get({ state, code, client_nonce: 'other' })).status).toBe(400);
    expect((await get({ state, code, client_nonce: NONCE })).status).toBe(200);
    expect((await get({ state, code, client_nonce: NONCE })).status).toBe(400);
    expect(auth.logins).toHaveLength(1);
  });

  test('that a program has received is passed on with the nonce of the login', async () => {
    const { auth_url: url } = await begin({ redirect_uri: PROGRAM });
    const answer = provider.consent(url);
    expect((await post(answer)).text).toContain('invalid client_nonce');
    expect((await post({ ...Object.fromEntries(answer), client_nonce: 'x' })).status).toBe(400);
    answer.set('client_nonce', NONCE);
    expect((await post(answer)).status).toBe(200);
    expect((await get(answer)).status).toBe(200);
    const anonymous = await begin({ redirect_uri: PROGRAM, client_nonce: '' });
    expect((await post(provider.consent(anonymous.auth_url))).status).toBe(400);
  });

  test('is not accepted where browsers come back without one', async () => {
    const { auth_url: url } = await begin({ redirect_uri: PROGRAM });
    await configure();
    const answer = provider.consent(url);
    answer.set('client_nonce', NONCE);
    expect((await post(answer)).text).toContain('does not have oidc_response_mode form_post');
  });

  test('brings the token itself, which is of this login', async () => {
    const mode = { oidc_response_mode: 'form_post', oidc_response_types: ['id_token'] };
    await configure(mode);
    expect((await call('GET', 'config')).data).toMatchObject(mode);
    const { auth_url: url } = await begin({ redirect_uri: CONSOLE });
    const { searchParams: sent } = new URL(url);
    expect([sent.get('response_type'), sent.has('code_challenge')]).toEqual(['id_token', false]);
    const state = sent.get('state') ?? '';
    const [key] = provider.keys;
    if (key === undefined) throw new Error('no key');
    const now = Math.floor(Date.now() / 1000);
    const claims = { iss: provider.url, sub: 'u-1', aud: 'keelson', iat: now, exp: now + 300 };
    const bring = async (more: object, by = key) =>
      post({ state, id_token: await signToken(by, { ...claims, ...more }) });
    const nonce = sent.get('nonce');
    for (const [more, text] of [
      [{}, 'the token is of another login'],
      [{ nonce: 'x' }, 'the token is of another login'],
      [{ nonce, aud: 'other' }, 'aud'],
      [{ nonce, exp: 1 }, 'expired'],
      [{ nonce, iss: 'https://other.example' }, 'iss'],
    ] as const)
      expect((await bring(more)).text).toContain(text);
    expect((await bring({ nonce }, makeKey('one'))).text).toContain('no known key');
    expect((await post({ state })).text).toContain('no id_token received');
    const { status, headers } = await bring({ nonce });
    expect(status).toBe(303);
    const code = new URL(headers.get('location') ?? '').searchParams.get('code') ?? '';
    expect((await get({ state, code, client_nonce: NONCE })).status).toBe(200);
    expect(provider.asked.filter((path) => path === '/token')).toEqual([]);
  });
});

test('a token in the address of a browser is refused', async () => {
  const answer = await call('POST', 'config', {
    oidc_discovery_url: provider.url,
    ...CLIENT,
    oidc_response_types: 'id_token',
  });
  expect([answer.status, answer.json.errors]).toEqual([
    400,
    ["response_mode 'form_post' is required for response_type 'id_token'"],
  ]);
});

test.for([
  [{ callback_mode: 'other' }, "invalid 'callback_mode': other"],
  [{ poll_interval: 61 }, 'poll_interval must be an integer from 0 to 60'],
  [{ poll_interval: -1 }, 'poll_interval must be an integer from 0 to 60'],
  [{ callback_mode: 'direct' }, "'allowed_redirect_uris' must be set"],
] as const)('a role is refused with %j', async ([settings, text]) => {
  const { status, json } = await call('POST', 'role/x', { user_claim: 'sub', ...settings });
  expect([status, json.errors]).toEqual([400, [expect.stringContaining(text)]]);
});
