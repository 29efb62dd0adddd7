/**
 * Signing in to clients of a provider (`identity/oidc/provider`), as clients and the page of the console call it.
 *
 * | case                                                            | outcome                                             |
 * | --------------------------------------------------------------- | --------------------------------------------------- |
 * | a confidential client, by Basic authentication or in the body   | ID token with nonce, hashes and claims of scopes    |
 * | a public client with PKCE                                       | the same, without a secret                          |
 * | an unknown client or redirect URI                               | refused, and nothing is sent to the address         |
 * | a loopback redirect URI with another port                       | accepted (RFC 8252 §7.3)                            |
 * | other faults of the request                                     | refused, and sent to the client with its state      |
 * | a caller without an entity or assignment                        | `access_denied`                                     |
 * | `max_age` that the login exceeds, also by a child token         | `max_age_violation`, not sent to the client         |
 * | a code: again, late, of another client, URI, provider, verifier | refused; any attempt spends it                      |
 * | the entity disabled, its session revoked, its assignment gone   | no tokens for the code, no userinfo                 |
 * | a wrong secret, no secret, two credentials                      | `invalid_client`, 401                               |
 * | an access token elsewhere, at another provider or namespace     | refused                                             |
 * | other tokens at userinfo                                        | refused, 401                                        |
 * | scopes with the same claim                                      | refused together                                    |
 * | the 101st code of an entity                                     | refused                                             |
 * | codes that nobody redeems                                       | are deleted, and never stored in plain text         |
 */
import { hash } from 'node:crypto';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { oidcSteps } from '../../test/oidc-steps.ts';
import {
  type Document,
  openInitializedSys,
  type SysHarness,
  type SysRequest,
} from '../../test/sys-harness.ts';

const PUBLIC_URL = 'https://keelson.example';
const CALLBACK = 'https://app.example/callback?tenant=a';
const VERIFIER = 'the-verifier-of-this-test-has-43-characters-at-least';
const CHALLENGE = hash('sha256', VERIFIER, 'base64url');
const FORM = 'application/x-www-form-urlencoded';

let harness: SysHarness;
let uuid: string;
let alice: { readonly token: string; readonly entity: string };
let app: { readonly id: string; readonly secret: string };
let spa: { readonly id: string };
beforeAll(async () => {
  harness = await openInitializedSys({ config: { publicUrl: PUBLIC_URL } });
  await joinMethod(harness);
  ({ uuid } = await mountMethod(harness, 'people'));
  alice = await signIn('alice');
  await harness.asRoot('POST', `identity/entity/id/${alice.entity}`, {
    body: { metadata: { mail: 'alice@x.example' } },
  });
  await post('scope/mail', { template: '{"mail": {{identity.entity.metadata.mail}}}' });
  await post('scope/other', { template: '{"mail": "fixed", "time": {{time.now}}}' });
  await post('assignment/staff', { entity_ids: alice.entity });
  await newClient('app', {
    redirect_uris: [CALLBACK],
    assignments: 'staff',
    access_token_ttl: 600,
  });
  await newClient('spa', {
    redirect_uris: ['http://127.0.0.1/callback', 'https://spa.example/'],
    assignments: 'allow_all',
    client_type: 'public',
  });
  app = await clientOf('app');
  spa = await clientOf('spa');
  await post('provider/main', {
    allowed_client_ids: [app.id, spa.id],
    scopes_supported: ['mail', 'other'],
  });
});
afterAll(() => harness.close());

const signIn = async (aliasName: string, ttlSeconds = 864_000) => {
  const auth = await logIn(harness, uuid, {
    aliasName,
    limits: { ttlSeconds, policies: ['default'] },
  });
  return { token: String(auth.client_token), entity: String(auth.entity_id) };
};

const { post, newClient, clientOf } = oidcSteps(() => harness);

const PROVIDER = 'identity/oidc/provider/main';
const REQUEST = () => ({
  client_id: app.id,
  redirect_uri: CALLBACK,
  scope: 'openid mail unknown',
  response_type: 'code',
  state: 'a state',
  nonce: 'a nonce',
});

const ask = async (
  change: Document = {},
  { token = alice.token, at = PROVIDER, method = 'POST' } = {},
) => {
  const parameters = { ...REQUEST(), ...change };
  return method === 'GET'
    ? harness.call('GET', `${at}/authorize`, {
        token,
        query: new URLSearchParams(parameters).toString(),
      })
    : harness.call('POST', `${at}/authorize`, { token, body: parameters });
};
const codeFor = async (change: Document = {}, by = {}): Promise<string> => {
  const { status, body } = await ask(change, by);
  expect([status, body.error]).toEqual([200, undefined]);
  return body.code;
};
const redeem = (change: Document = {}, request: SysRequest = {}, at = PROVIDER) =>
  harness.call('POST', `${at}/token`, {
    contentType: FORM,
    credentials: `${app.id}:${app.secret}`,
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      redirect_uri: CALLBACK,
      ...change,
    }).toString(),
    ...request,
  });
const SPA = () => ({
  client_id: spa.id,
  redirect_uri: 'https://spa.example/',
  code_challenge: CHALLENGE,
  code_challenge_method: 'S256',
});
const redeemSpa = (change: Document) =>
  redeem(
    { client_id: spa.id, redirect_uri: 'https://spa.example/', code_verifier: VERIFIER, ...change },
    { credentials: '' },
  );
const userInfo = (token: string, at = PROVIDER, method = 'GET') =>
  harness.call(method, `${at}/userinfo`, { token });
const tokensOf = async (change: Document = {}): Promise<Document> => {
  const { status, body } = await redeem({ code: await codeFor(change) });
  expect([status, body.error_description]).toEqual([200, undefined]);
  return body;
};

describe('a client', () => {
  test('gets an ID token, and an access token that shows the claims of its scopes', async () => {
    const authorized = await ask();
    const { code, state, redirect_to: address } = authorized.body;
    expect(state).toBe('a state');
    const url = new URL(address);
    expect(address.startsWith('https://app.example/callback?')).toBe(true);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      tenant: 'a',
      code,
      state,
      iss: `${PUBLIC_URL}/v1/${PROVIDER}`,
    });
    const { status, body } = await redeem({ code });
    expect(status).toBe(200);
    expect(body).toMatchObject({ token_type: 'Bearer', expires_in: 600 });
    const keys = (await harness.call('GET', `${PROVIDER}/.well-known/keys`)).body;
    const { payload, protectedHeader } = await jwtVerify(body.id_token, createLocalJWKSet(keys), {
      issuer: `${PUBLIC_URL}/v1/${PROVIDER}`,
      audience: app.id,
      currentDate: new Date(harness.clock.nowMs()),
    });
    expect(protectedHeader.alg).toBe('RS256');
    const half = (text: string) =>
      hash('sha256', text, 'buffer').subarray(0, 16).toString('base64url');
    expect(payload).toMatchObject({
      sub: alice.entity,
      nonce: 'a nonce',
      namespace: 'root',
      mail: 'alice@x.example',
      at_hash: half(body.access_token),
      c_hash: half(code),
    });
    expect(payload).not.toHaveProperty('auth_time');
    for (const method of ['GET', 'POST'])
      expect(await userInfo(body.access_token, PROVIDER, method)).toEqual({
        status: 200,
        body: { sub: alice.entity, mail: 'alice@x.example' },
      });
  });

  test('may ask by GET, prove itself in the body, and use PKCE', async () => {
    const code = await codeFor(
      { code_challenge: VERIFIER, code_challenge_method: 'plain', scope: 'openid', state: '' },
      { method: 'GET' },
    );
    const body = { client_id: app.id, client_secret: app.secret, code, code_verifier: VERIFIER };
    const { status, body: tokens } = await redeem(body, { credentials: '' });
    expect(status).toBe(200);
    expect((await userInfo(tokens.access_token)).body).toEqual({ sub: alice.entity });
  });

  test('that is public has no secret, must use PKCE, and may listen at any port of its machine', async () => {
    expect((await harness.asRoot('GET', 'identity/oidc/client/spa')).body.data).not.toHaveProperty(
      'client_secret',
    );
    const { code_challenge: _, code_challenge_method: __, ...without } = SPA();
    expect((await ask(without)).body).toMatchObject({
      error: 'invalid_request',
      error_description: 'PKCE is required for public clients',
    });
    const redirect_uri = 'http://127.0.0.1:43210/callback';
    const code = await codeFor({ ...SPA(), redirect_uri });
    expect((await redeemSpa({ code, redirect_uri })).status).toBe(200);
  });
});

describe('a request for a code', () => {
  test.for<[change: () => Document, error: string, isForClient: boolean]>([
    [() => ({ client_id: '' }), 'invalid_client_id', false],
    [() => ({ client_id: 'unknown' }), 'invalid_client_id', false],
    [() => ({ client_id: '../x' }), 'invalid_client_id', false],
    [() => ({ redirect_uri: '' }), 'invalid_request', false],
    [() => ({ redirect_uri: 'https://app.example/callback' }), 'invalid_redirect_uri', false],
    [() => ({ redirect_uri: `${CALLBACK}&x=1` }), 'invalid_redirect_uri', false],
    [
      () => ({ redirect_uri: 'https://app.example:444/callback?tenant=a' }),
      'invalid_redirect_uri',
      false,
    ],
    [() => ({ redirect_uri: 'https://evil.example/' }), 'invalid_redirect_uri', false],
    [() => ({ redirect_uri: 'javascript:alert(1)' }), 'invalid_redirect_uri', false],
    [() => ({ request: 'x' }), 'request_not_supported', true],
    [() => ({ request_uri: 'https://app.example/r' }), 'request_uri_not_supported', true],
    [() => ({ scope: 'mail' }), 'invalid_request', true],
    [() => ({ scope: '' }), 'invalid_request', true],
    [() => ({ response_type: '' }), 'invalid_request', true],
    [() => ({ response_type: 'token' }), 'unsupported_response_type', true],
    [() => ({ max_age: 0 }), 'invalid_request', true],
    [() => ({ ...SPA(), code_challenge: 'short' }), 'invalid_request', true],
    [() => ({ ...SPA(), code_challenge_method: 'S512' }), 'invalid_request', true],
  ])('is refused: %s', async ([change, error, isForClient]) => {
    const { status, body } = await ask(change());
    expect([status, body.error, 'redirect_to' in body, body.state]).toEqual([
      400,
      error,
      isForClient,
      'a state',
    ]);
    const returned = isForClient ? new URL(body.redirect_to).searchParams : new URLSearchParams();
    expect([returned.get('error'), returned.get('code')]).toEqual([
      isForClient ? error : null,
      null,
    ]);
  });

  test('needs an entity that is assigned to the client, and a provider that allows it', async () => {
    const bob = await signIn('bob');
    const stranger = await ask({}, { token: bob.token });
    expect(stranger.body).toMatchObject({
      error: 'access_denied',
      error_description: 'identity entity not authorized by client assignment',
    });
    const machine = await ask({}, { token: await harness.createToken(['default']) });
    expect(machine.body.error).toBe('access_denied');
    expect((await ask({}, { token: '' })).status).toBe(403);
    const group = await harness.asRoot('POST', 'identity/group', {
      body: { name: 'guests', member_entity_ids: [bob.entity] },
    });
    await post('assignment/guests', { group_ids: [group.body.data.id] });
    await newClient('app', { assignments: ['staff', 'guests'] });
    expect(await codeFor({}, { token: bob.token })).toMatch(/^\w{32}$/);
    await newClient('app', { assignments: ['staff'] });
    await post('provider/narrow', { allowed_client_ids: spa.id });
    const narrow = await ask({}, { at: 'identity/oidc/provider/narrow' });
    expect(narrow.body.error).toBe('unauthorized_client');
    const unknown = await ask({}, { at: 'identity/oidc/provider/unknown' });
    expect(unknown.body).toEqual({
      error: 'invalid_request',
      error_description: 'provider not found',
      state: 'a state',
    });
  });

  test('stays assigned when its entity is merged into another one', async () => {
    const bob = await signIn('bob');
    await post('assignment/bobs', { entity_ids: [bob.entity] });
    await newClient('app', { assignments: ['bobs'] });
    const { id } = (await harness.asRoot('POST', 'identity/entity', { body: { name: 'robert' } }))
      .body.data;
    const merge = { from_entity_ids: [bob.entity], to_entity_id: id };
    expect((await harness.asRoot('POST', 'identity/entity/merge', { body: merge })).status).toBe(
      204,
    );
    expect(await codeFor({}, { token: bob.token })).toMatch(/^\w{32}$/);
  });

  test('with max_age needs a login that is recent enough, whatever token it made since', async () => {
    const eve = await signIn('eve');
    await newClient('app', { assignments: ['allow_all'] });
    const signedInAt = Math.floor(harness.clock.nowMs() / 1000);
    harness.clock.advance(100_000);
    const { id_token } = (await redeem({ code: await codeFor({ max_age: 100 }, eve) })).body;
    const payload = JSON.parse(Buffer.from(id_token.split('.')[1], 'base64url').toString());
    expect(payload.auth_time).toBe(signedInAt);
    harness.clock.advance(1000);
    await harness.asRoot('POST', 'sys/policies/acl/makes', {
      body: { policy: 'path "auth/token/create" { capabilities = ["update"] }' },
    });
    await harness.asRoot('POST', `identity/entity/id/${eve.entity}`, {
      body: { policies: ['makes'] },
    });
    const child = await harness.call('POST', 'auth/token/create', { token: eve.token, body: {} });
    expect(child.status).toBe(200);
    for (const token of [eve.token, child.body.auth.client_token])
      expect((await ask({ max_age: 100 }, { token })).body).toEqual({
        error: 'max_age_violation',
        error_description: 'active re-authentication is required by max_age',
        state: 'a state',
      });
    await newClient('app', { assignments: ['staff'] });
  });

  test('is refused while 100 codes of the entity wait', async () => {
    const busy = await signIn('busy');
    const change = SPA();
    for (let count = 0; count < 100; count += 1) await codeFor(change, busy);
    const one = await ask(change, busy);
    expect(one.body).toMatchObject({
      error: 'access_denied',
      error_description: 'too many codes of the entity wait to be redeemed',
    });
    harness.clock.advance(61_000);
    await harness.settle('oidc-codes');
    expect(await harness.store.list('local/oidc-codes/')).toEqual([]);
    const code = await codeFor(change, busy);
    const stored = await harness.store.scan('local/oidc-codes/');
    expect(JSON.stringify(stored.map(({ path, value }) => [path, value.toString()]))).not.toContain(
      code,
    );
  });
});

describe('a code', () => {
  const INVALID = { error: 'invalid_grant' };
  test('is good for one attempt, whatever comes of it', async () => {
    const code = await codeFor();
    expect((await redeem({ code })).status).toBe(200);
    const again = await redeem({ code });
    expect(again).toMatchObject({ status: 400, body: INVALID });
    const spent = await codeFor();
    expect((await redeem({ code: spent, redirect_uri: 'https://other.example/' })).body).toEqual({
      error: 'invalid_grant',
      error_description:
        'redirect_uri does not match the redirect_uri used in the authorization request',
    });
    expect((await redeem({ code: spent })).body).toMatchObject(INVALID);
  });

  test.for<[name: string, change: () => Promise<Document>, error: string]>([
    ['of another client', async () => ({ code: await codeFor(SPA()) }), 'invalid_grant'],
    ['unknown', async () => ({ code: 'x'.repeat(32) }), 'invalid_grant'],
    ['missing', async () => ({}), 'invalid_request'],
    [
      'without redirect_uri',
      async () => ({ code: await codeFor(), redirect_uri: '' }),
      'invalid_request',
    ],
    [
      'with a verifier that nobody asked for',
      async () => ({ code: await codeFor(), code_verifier: VERIFIER }),
      'invalid_request',
    ],
    [
      'with another grant',
      async () => ({ code: await codeFor(), grant_type: 'password' }),
      'unsupported_grant_type',
    ],
    ['without a grant', async () => ({ code: await codeFor(), grant_type: '' }), 'invalid_request'],
  ])('is refused: %s', async ([, change, error]) => {
    const { status, body } = await redeem(await change());
    expect([status, body.error]).toEqual([400, error]);
  });

  test.for([
    ['', 'invalid_request'],
    ['x'.repeat(43), 'invalid_grant'],
    [CHALLENGE, 'invalid_grant'],
  ])('with the verifier "%s" is refused', async ([code_verifier, error]) => {
    const { body } = await redeemSpa({ code: await codeFor(SPA()), code_verifier });
    expect(body.error).toBe(error);
  });

  test('ends after a minute, and with the entity, the session and the assignment', async () => {
    const late = await codeFor();
    harness.clock.advance(60_000);
    expect((await redeem({ code: late })).body).toMatchObject(INVALID);

    const carol = await signIn('carol');
    const of = () => codeFor(SPA(), carol);
    const disabled = await of();
    const path = `identity/entity/id/${carol.entity}`;
    await harness.asRoot('POST', path, { body: { disabled: true } });
    expect((await redeemSpa({ code: disabled })).body).toMatchObject(INVALID);
    await harness.asRoot('POST', path, { body: { disabled: false } });

    const unassigned = await of();
    await newClient('spa', { assignments: ['staff'] });
    expect((await redeemSpa({ code: unassigned })).body).toMatchObject(INVALID);
    await newClient('spa', { assignments: ['allow_all'] });

    const revoked = await of();
    await harness.call('POST', 'auth/token/revoke-self', { token: carol.token });
    expect((await redeemSpa({ code: revoked })).body).toEqual({
      error: 'invalid_grant',
      error_description: 'the session that asked for the code has ended',
    });
  });

  test('of one provider is refused by another, which allows the same client', async () => {
    await post('provider/second', { allowed_client_ids: '*' });
    const { body } = await redeem({ code: await codeFor() }, {}, 'identity/oidc/provider/second');
    expect(body).toMatchObject({
      error: 'invalid_grant',
      error_description: 'authorization code was not issued by the provider',
    });
  });
});

describe('a client that does not prove itself', () => {
  test.for<[name: string, request: () => SysRequest, change: () => Document, status: number]>([
    ['a wrong secret', () => ({ credentials: `${app.id}:${app.secret}x` }), () => ({}), 401],
    ['no secret', () => ({ credentials: `${app.id}:` }), () => ({}), 401],
    ['an unknown name', () => ({ credentials: 'unknown:' }), () => ({}), 401],
    ['nothing', () => ({ credentials: '' }), () => ({}), 400],
    [
      'a wrong secret in the body',
      () => ({ credentials: '' }),
      () => ({ client_id: app.id, client_secret: 'x' }),
      401,
    ],
    ['two credentials', () => ({}), () => ({ client_secret: app.secret }), 400],
  ])('is refused: %s', async ([, request, change, status]) => {
    const code = await codeFor();
    const answer = await redeem({ code, ...change() }, request());
    expect([answer.status, answer.body.error]).toEqual([
      status,
      status === 401 ? 'invalid_client' : 'invalid_request',
    ]);
    // Whoever has the code alone cannot spend it.
    expect((await redeem({ code })).status).toBe(200);
  });

  test('neither does one that the provider or the key no longer allows', async () => {
    const code = await codeFor();
    await post('provider/main', { allowed_client_ids: spa.id });
    expect((await redeem({ code })).body.error).toBe('invalid_client');
    await post('provider/main', { allowed_client_ids: [app.id, spa.id] });
    await post('key/narrow', { allowed_client_ids: 'another' });
    await newClient('narrow', { key: 'narrow', redirect_uris: CALLBACK, assignments: 'allow_all' });
    const narrow = await clientOf('narrow');
    const at = 'identity/oidc/provider/default';
    const own = await codeFor({ client_id: narrow.id }, { at });
    const refused = await redeem(
      { code: own },
      { credentials: `${narrow.id}:${narrow.secret}` },
      at,
    );
    expect(refused).toMatchObject({
      status: 401,
      body: { error_description: 'client is not authorized to use the key' },
    });
  });
});

test('scopes that set the same claim are refused together', async () => {
  const both = await redeem({ code: await codeFor({ scope: 'openid mail other' }) });
  expect(both.body).toMatchObject({
    error: 'invalid_request',
    error_description: expect.stringMatching(/claim "mail" in scopes/),
  });
});

describe('an access token', () => {
  test('is of no use anywhere else', async () => {
    const { access_token: token } = await tokensOf();
    for (const path of ['auth/token/lookup-self', 'sys/mounts', `${PROVIDER}/authorize`])
      expect((await harness.call('GET', path, { token })).status).toBe(403);
    await post('provider/second', { allowed_client_ids: '*' });
    expect((await userInfo(token, 'identity/oidc/provider/second')).status).toBe(401);
    await harness.createNamespace('apart');
    const apart = await harness.call('GET', 'identity/oidc/provider/default/userinfo', {
      token,
      namespace: 'apart',
    });
    expect(apart.status).toBe(401);
  });

  test('ends in its time, and with the entity, the assignment, the provider and the client', async () => {
    const { access_token: token } = await tokensOf();
    const now = async (): Promise<number> => (await userInfo(token)).status;
    expect(await now()).toBe(200);
    await newClient('app', { assignments: [] });
    expect(await now()).toBe(403);
    await newClient('app', { assignments: ['staff'] });
    await post('provider/main', { allowed_client_ids: spa.id });
    expect(await now()).toBe(403);
    await post('provider/main', { allowed_client_ids: [app.id, spa.id] });
    const path = `identity/entity/id/${alice.entity}`;
    await harness.asRoot('POST', path, { body: { disabled: true } });
    expect(await now()).toBe(403);
    await harness.asRoot('POST', path, { body: { disabled: false } });
    expect(await now()).toBe(200);
    harness.clock.advance(600_000);
    expect(await now()).toBe(401);
    const brief = await newClient('brief', { redirect_uris: CALLBACK, assignments: 'allow_all' });
    expect(brief).toBeUndefined();
    const { id, secret } = await clientOf('brief');
    const at = 'identity/oidc/provider/default';
    const code = await codeFor({ client_id: id }, { at });
    const { body } = await redeem({ code }, { credentials: `${id}:${secret}` }, at);
    await harness.asRoot('DELETE', 'identity/oidc/client/brief');
    expect((await userInfo(body.access_token, at)).status).toBe(403);
  });

  test.for<readonly [name: string, token: () => Promise<string>]>([
    ['nothing', async () => ''],
    ['a service token', async () => alice.token],
    ['an ID token', async () => (await tokensOf()).id_token],
    ['a changed token', async () => `${(await tokensOf()).access_token.slice(0, -2)}AA`],
    ['a long text', async () => `oidc.${'A'.repeat(20_000)}`],
  ])('is not %s', async ([, token]) => {
    expect(await userInfo(await token())).toMatchObject({
      status: 401,
      body: { error: 'invalid_token' },
    });
  });
});
