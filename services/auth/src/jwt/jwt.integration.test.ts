/** The method jwt with keys that the operator gives: configuration, roles and logins. */
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeKey, signBytes, signToken } from '../../test/identity-provider.ts';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

let auth: OpenAuth;
beforeAll(async () => {
  auth = await openAuth();
});
afterAll(() => auth.close());

const key = makeKey('one');
const other = makeKey('two');
const SOUND = { role_type: 'jwt', user_claim: 'sub', bound_audiences: 'keelson' };

let serial = 0;
let call: (method: string, path: string, body?: unknown) => ReturnType<OpenAuth['call']>;

/** A mount of its own for each test. */
beforeEach(() => {
  serial += 1;
  const mount = mountOf('jwt', `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`);
  auth.logins.length = 0;
  call = (method, path, body) => auth.call('jwt', method, path, body, { mount });
});

const now = (): number => Math.floor(auth.clock.nowMs() / 1000);
const claimsOf = (claims: object = {}) => ({
  iss: 'https://issuer.example',
  sub: 'repo:acme/app',
  aud: 'keelson',
  iat: now(),
  exp: now() + 300,
  ...claims,
});
const configure = async (settings: object = {}): Promise<void> => {
  const config = { jwt_validation_pubkeys: [key.publicPem], ...settings };
  expect((await call('POST', 'config', config)).status).toBe(204);
};
const makeRole = async (settings: object = {}): Promise<void> => {
  expect((await call('POST', 'role/ci', { ...SOUND, ...settings })).status).toBe(204);
};
const logIn = (jwt: string, role: string | undefined = 'ci') =>
  call('POST', 'login', { jwt, ...(role !== undefined && { role }) });
/** The status of a login, with the text of a refusal, of which sys does not learn. */
const outcomeOf = async (answer: ReturnType<typeof logIn>): Promise<readonly unknown[]> => {
  const { status, json } = await answer;
  expect(auth.logins).toHaveLength(status === 200 ? 1 : 0);
  return [status, ...(json.errors ?? [])];
};

describe('the configuration', () => {
  test('is read as it was written, and replaced as a whole', async () => {
    expect((await call('GET', 'config')).status).toBe(404);
    await configure({
      bound_issuer: 'https://issuer.example',
      jwt_supported_algs: 'ES256,RS256',
      default_role: 'CI',
    });
    expect((await call('GET', 'config')).data).toEqual({
      oidc_discovery_url: '',
      oidc_discovery_ca_pem: '',
      oidc_client_id: '',
      oidc_response_mode: '',
      oidc_response_types: [],
      jwks_url: '',
      jwks_ca_pem: '',
      jwks_pairs: [],
      jwt_validation_pubkeys: [key.publicPem.trim()],
      jwt_supported_algs: ['ES256', 'RS256'],
      bound_issuer: 'https://issuer.example',
      default_role: 'ci',
    });
    await configure();
    expect((await call('GET', 'config')).data).toMatchObject({
      jwt_supported_algs: [],
      bound_issuer: '',
      default_role: '',
    });
  });

  const ONE_KIND =
    "exactly one of 'jwt_validation_pubkeys', 'jwks_url', 'jwks_pairs', 'oidc_discovery_url' or 'keelson_runs' must be set";
  const privatePem = key.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  test.for([
    [{}, ONE_KIND],
    [{ jwt_validation_pubkeys: key.publicPem, jwks_url: 'https://a.example/keys' }, ONE_KIND],
    [{ jwt_validation_pubkeys: 'none' }, 'error parsing public key: '],
    [{ jwt_validation_pubkeys: privatePem }, 'error parsing public key: '],
    [{ jwt_validation_pubkeys: Array(33).fill(key.publicPem) }, 'at most 32'],
    [{ jwks_url: 'ftp://a.example' }, 'jwks_url must be an http or https URL'],
    [{ jwks_url: 'https://name:pw@a.example' }, 'without credentials'],
    [{ jwks_url: 'https://a.example', jwks_ca_pem: 'x' }, 'jwks_ca_pem must be certificates'],
    [{ jwks_pairs: [{ jwks_ca_pem: '' }] }, 'needs a jwks_url'],
    [
      { jwt_validation_pubkeys: key.publicPem, oidc_client_id: 'a' },
      "both 'oidc_client_id' and 'oidc_client_secret' must be set",
    ],
    [
      { jwt_validation_pubkeys: key.publicPem, oidc_client_id: 'a', oidc_client_secret: 'b' },
      "'oidc_discovery_url' must be set for OIDC",
    ],
    [{ oidc_response_mode: 'fragment' }, 'invalid response_mode: "fragment"'],
    [{ oidc_response_types: 'code,token' }, 'invalid response_types: each must be'],
    [
      { jwt_validation_pubkeys: key.publicPem, jwt_supported_algs: 'HS256' },
      'unsupported signing algorithm "HS256"',
    ],
    [
      { jwt_validation_pubkeys: key.publicPem, jwt_supported_algs: 'none' },
      'unsupported signing algorithm "none"',
    ],
  ] as const)('is refused with %j', async ([settings, text]) => {
    const { status, json } = await call('POST', 'config', settings);
    expect([status, json.errors]).toEqual([400, [expect.stringContaining(text)]]);
    expect((await call('GET', 'config')).status).toBe(404);
  });
});

describe('a role', () => {
  test('is read as it was written; a change keeps what it does not name', async () => {
    await makeRole({
      bound_subject: 'repo:acme/app',
      bound_claims: { ref: ['main', 'v1'], '/nested/level': 3 },
      claim_mappings: { repository: 'repo' },
      groups_claim: '',
      expiration_leeway: '2m',
      not_before_leeway: -1,
      clock_skew_leeway: '-1',
      policies: 'dev',
      ttl: '1h',
      max_ttl: 7200,
      num_uses: 3,
      bound_cidrs: '127.0.0.0/8',
    });
    await call('POST', 'role/CI', { bound_claims_type: 'string' });
    expect((await call('GET', 'role/ci')).data).toEqual({
      role_type: 'jwt',
      allowed_redirect_uris: [],
      oidc_scopes: [],
      callback_mode: 'client',
      poll_interval: 0,
      oidc_disable_confirmation: false,
      bound_audiences: ['keelson'],
      bound_subject: 'repo:acme/app',
      bound_claims: { ref: ['main', 'v1'], '/nested/level': 3 },
      bound_claims_type: 'string',
      claim_mappings: { repository: 'repo' },
      user_claim: 'sub',
      user_claim_json_pointer: false,
      groups_claim: '',
      expiration_leeway: 120,
      not_before_leeway: -1,
      clock_skew_leeway: -1,
      token_bound_cidrs: ['127.0.0.0/8'],
      token_explicit_max_ttl: 0,
      token_max_ttl: 7200,
      token_no_default_policy: false,
      token_num_uses: 3,
      token_period: 0,
      token_policies: ['dev'],
      token_ttl: 3600,
      token_type: 'default',
      // Older clients read the older names.
      bound_cidrs: ['127.0.0.0/8'],
      max_ttl: 7200,
      num_uses: 3,
      policies: ['dev'],
      ttl: 3600,
    });
  });

  test.for([
    [{ role_type: 'saml' }, "invalid 'role_type': saml"],
    [{ role_type: undefined }, "'allowed_redirect_uris' must be set"],
    [{ role_type: 'oidc', allowed_redirect_uris: 'here' }, 'absolute URIs'],
    [{ user_claim: undefined }, 'a user claim must be defined on the role'],
    [
      { bound_audiences: undefined },
      'must have at least one bound constraint when creating/updating a role',
    ],
    [{ claim_mappings: { sub: 'role' } }, 'metadata key "role" is reserved'],
    [{ claim_mappings: { a: 'x', b: 'x' } }, 'multiple keys are mapped to metadata key "x"'],
    [{ bound_claims_type: 'regex' }, "invalid 'bound_claims_type': regex"],
    [{ bound_claims: { a: { b: 1 } } }, 'bound claim "a" is not a string or list'],
    [{ bound_claims: { a: 1 }, bound_claims_type: 'glob' }, 'bound claim "a" must be a string'],
    [{ expiration_leeway: 'soon' }, 'expiration_leeway'],
    [{ token_policies: 'root' }, 'token_policies cannot contain "root"'],
    [{ ttl: '2h', max_ttl: '1h' }, 'token_ttl cannot be greater'],
    [{ bound_cidrs: 'here' }, 'bound_cidrs must be a list of IP addresses'],
  ] as const)('is refused with %j', async ([settings, text]) => {
    const { status, json } = await call('POST', 'role/ci', { ...SOUND, ...settings });
    expect([status, json.errors]).toEqual([400, [expect.stringContaining(text)]]);
    expect((await call('GET', 'role/ci')).status).toBe(404);
  });

  test('is one of 101 in a list, page by page, and is deleted', async () => {
    for (let index = 100; index <= 200; index += 1) await call('POST', `role/r${index}`, SOUND);
    expect((await call('LIST', 'role')).data.keys).toHaveLength(101);
    expect((await call('LIST', 'role?after=r198&limit=2')).data.keys).toEqual(['r199', 'r200']);
    expect((await call('DELETE', 'role/r100')).status).toBe(204);
    expect((await call('LIST', 'role')).data.keys).toHaveLength(100);
  });
});

describe('a login', () => {
  test('asks sys for a token with what the role and the claims say', async () => {
    await configure({ default_role: 'ci' });
    await makeRole({
      token_policies: 'deploy',
      token_ttl: 60,
      user_claim: '/actor/name',
      user_claim_json_pointer: true,
      claim_mappings: { '/actor/id': 'actor_id', missing: 'nothing', protected: 'protected' },
    });
    const jwt = await signToken(
      key,
      claimsOf({ actor: { name: 'ann', id: 42 }, protected: true, aud: ['x', 'keelson'] }),
    );
    const { json } = await call('POST', 'login', { jwt });
    expect(json.auth).toEqual({ client_token: 'hvs.test' });
    expect(auth.logins).toMatchObject([
      {
        requestPath: 'login',
        displayName: 'ann',
        metadata: { role: 'ci', actor_id: '42', protected: 'true' },
        aliasName: 'ann',
        aliasMetadata: { actor_id: '42', protected: 'true' },
        limits: { policies: ['deploy'], ttlSeconds: 60 },
        loginData: Buffer.from('{"role":"ci"}'),
      },
    ]);
    expect(Object.keys(auth.logins[0]?.metadata ?? {})).not.toContain('nothing');
  });

  test('names the groups of the token, one or a list of them', async () => {
    await configure();
    await makeRole({ groups_claim: 'groups' });
    for (const groups of [['staff', 'web'], 'staff'])
      await logIn(await signToken(key, claimsOf({ groups })));
    expect(auth.logins.map(({ groupAliases }) => groupAliases)).toEqual([
      ['staff', 'web'],
      ['staff'],
    ]);
  });

  test('serves mounts of the type oidc as well', async () => {
    const mount = mountOf('oidc', '8f0b1c1e-1111-4000-8000-000000000001');
    const there: typeof call = (method, path, body) =>
      auth.call('jwt', method, path, body, { mount });
    await there('POST', 'config', { jwt_validation_pubkeys: key.publicPem });
    await there('POST', 'role/ci', SOUND);
    const login = await there('POST', 'login', {
      role: 'ci',
      jwt: await signToken(key, claimsOf()),
    });
    expect(login.status).toBe(200);
  });

  test.for(['RS256', 'PS512', 'ES256', 'ES384', 'ES512', 'EdDSA'] as const)(
    'takes a token signed with %s, unless only others are supported',
    async (alg) => {
      const signing = makeKey('k', alg);
      await configure({ jwt_validation_pubkeys: [key.publicPem, signing.publicPem] });
      await makeRole();
      const jwt = await signToken(signing, claimsOf());
      expect((await logIn(jwt)).status).toBe(200);
      await configure({ jwt_validation_pubkeys: signing.publicPem, jwt_supported_algs: 'RS512' });
      auth.logins.length = 0;
      expect(await outcomeOf(logIn(jwt))).toEqual([
        400,
        'error validating token: it is not signed with one of the algorithms RS512',
      ]);
    },
  );

  test('says what is missing', async () => {
    const jwt = await signToken(key, claimsOf());
    expect(await outcomeOf(logIn(jwt))).toEqual([400, 'could not load configuration']);
    await configure();
    expect(await outcomeOf(logIn(jwt, ''))).toEqual([400, 'missing role']);
    expect(await outcomeOf(logIn(jwt, 'none'))).toEqual([400, 'role "none" could not be found']);
    await makeRole();
    expect(await outcomeOf(logIn(''))).toEqual([400, 'missing token']);
    expect((await logIn(jwt)).status).toBe(200);
    await call('DELETE', 'role/ci');
    auth.logins.length = 0;
    expect(await outcomeOf(logIn(jwt))).toEqual([400, 'role "ci" could not be found']);
  });

  const AUDIENCE = 'audience claim found in JWT but no audiences bound to the role';
  const MISMATCH = (claim: string) =>
    `error validating claims: claim "${claim}" does not match any associated bound claim values`;
  test.for<[string, object, object, string | undefined]>([
    ['the audience', {}, { aud: 'other' }, 'error validating token: invalid audience'],
    ['no audience', {}, { aud: undefined }, 'error validating token: invalid audience'],
    [
      'an audience that no one expects',
      { bound_audiences: [], bound_subject: 'repo:acme/app' },
      {},
      AUDIENCE,
    ],
    [
      'no audience where none is bound',
      { bound_audiences: [], bound_subject: 'repo:acme/app' },
      { aud: undefined },
      undefined,
    ],
    [
      'the subject',
      { bound_subject: 'repo:acme' },
      {},
      'error validating token: invalid subject (sub) claim',
    ],
    ['no user', { user_claim: 'email' }, {}, 'claim "email" not found in token'],
    [
      'a user that is a number',
      { user_claim: 'id' },
      { id: 4 },
      'claim "id" could not be converted to string',
    ],
    [
      'a user without end',
      { user_claim: 'id' },
      { id: 'x'.repeat(1025) },
      'claim "id" has more than',
    ],
    ['an inherited user', { user_claim: 'constructor' }, {}, 'claim "constructor" not found'],
    ['a bound claim', { bound_claims: { ref: 'main' } }, { ref: 'dev' }, MISMATCH('ref')],
    [
      'a bound claim that is absent',
      { bound_claims: { ref: 'main' } },
      {},
      'error validating claims: claim "ref" is missing',
    ],
    ['a bound claim of another type', { bound_claims: { n: 1 } }, { n: '1' }, MISMATCH('n')],
    [
      'a bound claim that is an object',
      { bound_claims: { n: 'a' } },
      { n: {} },
      'error validating claims: claim "n" is not a string or list',
    ],
    ['one of a list', { bound_claims: { ref: ['a', 'b'] } }, { ref: ['c', 'b'] }, undefined],
    ['none of a list', { bound_claims: { ref: ['a', 'b'] } }, { ref: ['c', 'd'] }, MISMATCH('ref')],
    [
      'a pattern taken literally',
      { bound_claims: { ref: 'ma*' } },
      { ref: 'main' },
      MISMATCH('ref'),
    ],
    [
      'a pattern',
      { bound_claims: { ref: 'refs/*/v*' }, bound_claims_type: 'glob' },
      { ref: 'refs/tags/v1' },
      undefined,
    ],
    [
      'a pattern of another text',
      { bound_claims: { ref: 'refs/*/v*' }, bound_claims_type: 'glob' },
      { ref: 'refs/tags/1' },
      MISMATCH('ref'),
    ],
    ['a nested claim', { bound_claims: { '/a/b~1c/0': 'x' } }, { a: { 'b/c': ['x'] } }, undefined],
    ['no groups', { groups_claim: 'groups' }, {}, '"groups" claim not found in token'],
    [
      'groups that are no texts',
      { groups_claim: 'groups' },
      { groups: [1] },
      '"groups" claim could not be converted',
    ],
    [
      'a mapped claim that is an object',
      { claim_mappings: { a: 'a' } },
      { a: {} },
      'error converting claim "a"',
    ],
  ])('compares %s', async ([, settings, claims, refusal]) => {
    await configure();
    expect((await call('POST', 'role/ci', { ...SOUND, ...settings })).status).toBeLessThan(300);
    const answer = logIn(await signToken(key, claimsOf(claims)));
    const [status, ...texts] = await outcomeOf(answer);
    expect([status, texts.join('')]).toEqual([
      refusal === undefined ? 200 : 400,
      expect.stringContaining(refusal ?? ''),
    ]);
  });

  test('compares the issuer', async () => {
    await makeRole();
    await configure({ bound_issuer: 'https://issuer.example' });
    expect((await logIn(await signToken(key, claimsOf()))).status).toBe(200);
    auth.logins.length = 0;
    const wrong = claimsOf({ iss: 'https://issuer.example/' });
    expect(await outcomeOf(logIn(await signToken(key, wrong)))).toEqual([
      400,
      'error validating token: invalid issuer (iss) claim',
    ]);
  });

  const TIMELESS = 'no issued at (iat), not before (nbf), or expiration time (exp) claims in token';
  const EXPIRED = 'invalid expiration time (exp) claim: token is expired';
  const EARLY = 'invalid not before (nbf) claim: token not yet valid';
  const FUTURE = 'invalid issued at (iat) claim: token issued in the future';
  const NONE = { expiration_leeway: -1, not_before_leeway: -1, clock_skew_leeway: -1 };
  test.for<[object, Readonly<Record<'exp' | 'nbf' | 'iat', unknown>> | object, string | undefined]>(
    [
      [{}, {}, TIMELESS],
      [{}, { exp: 'soon' }, 'invalid exp claim: it must be a number of seconds'],
      [{}, { exp: 0 }, EXPIRED],
      [{}, { exp: -60 }, undefined],
      [{}, { exp: -61 }, EXPIRED],
      [{ clock_skew_leeway: 5 }, { exp: -5 }, undefined],
      [{ clock_skew_leeway: 5 }, { exp: -6 }, EXPIRED],
      [NONE, { exp: 0.5 }, EARLY],
      [NONE, { exp: 300, iat: 0 }, undefined],
      [NONE, { exp: -1, iat: -300 }, EXPIRED],
      [{}, { exp: 300, nbf: 60 }, undefined],
      [{}, { exp: 300, nbf: 61 }, EARLY],
      [{}, { exp: 300, nbf: 0, iat: 61 }, FUTURE],
      [{}, { iat: -210 }, undefined],
      [{}, { iat: -211 }, EXPIRED],
      [{ expiration_leeway: 10 }, { nbf: -70 }, undefined],
      [{ expiration_leeway: 10 }, { nbf: -71 }, EXPIRED],
      [{}, { exp: 210 }, undefined],
      [{}, { exp: 211 }, EARLY],
      [{ not_before_leeway: 3600 }, { exp: 211 }, undefined],
    ],
  )('with the leeways %j and the times %j from now', async ([settings, times, refusal]) => {
    await configure();
    await makeRole(settings);
    const absolute = Object.fromEntries(
      Object.entries(times).map(([name, value]) => [
        name,
        // An expiry of 0 is the epoch, which is no time that is missing.
        typeof value !== 'number' || (value === 0 && name === 'exp') ? value : now() + value,
      ]),
    );
    const claims = { ...claimsOf({ iat: undefined, exp: undefined }), ...absolute };
    const answer = logIn(await signToken(key, claims));
    expect(await outcomeOf(answer)).toEqual(
      refusal === undefined ? [200] : [400, `error validating token: ${refusal}`],
    );
  });
});

describe('a forged token', () => {
  const NO_KEY = 'error validating token: no known key successfully validated the token signature';
  const encode = (value: object): string =>
    Buffer.from(JSON.stringify(value)).toString('base64url');
  beforeEach(async () => {
    await configure();
    await makeRole();
  });

  test('without a signature is refused', async () => {
    for (const alg of ['none', 'None', 'NONE', ''])
      expect(await outcomeOf(logIn(`${encode({ alg })}.${encode(claimsOf())}.`))).toEqual([
        400,
        expect.stringContaining('it is not signed with one of the algorithms'),
      ]);
  });

  test('with the public key as a shared secret is refused', async () => {
    const data = `${encode({ alg: 'HS256' })}.${encode(claimsOf())}`;
    for (const secret of [key.publicPem, key.publicPem.trim()]) {
      const signature = createHmac('sha256', secret).update(data).digest('base64url');
      expect(await outcomeOf(logIn(`${data}.${signature}`))).toEqual([
        400,
        expect.stringContaining('it is not signed with one of the algorithms'),
      ]);
    }
  });

  test('by the key of another mount is refused', async () => {
    expect(await outcomeOf(logIn(await signToken(other, claimsOf())))).toEqual([400, NO_KEY]);
  });

  test('that brings its own key is refused', async () => {
    const jwk = other.publicKey.export({ format: 'jwk' });
    const jwt = await signToken(other, claimsOf(), { jwk, jku: 'http://127.0.0.1/keys' });
    expect(await outcomeOf(logIn(jwt))).toEqual([400, NO_KEY]);
  });

  test('with other claims than those that were signed is refused', async () => {
    const [head, , signature] = (await signToken(key, claimsOf())).split('.');
    const jwt = `${head}.${encode(claimsOf({ sub: 'admin' }))}.${signature}`;
    expect(await outcomeOf(logIn(jwt))).toEqual([400, NO_KEY]);
  });

  test('of a kind that is no JWT is refused', async () => {
    const claims = JSON.stringify(claimsOf());
    const plain = JSON.stringify({ alg: 'ES256', b64: false, crit: ['b64'] });
    for (const [jwt, text] of [
      ['x', 'it is not a signed token in compact form (JWS)'],
      ['a.b.c.d.e', 'it is not a signed token in compact form (JWS)'],
      ['..', 'it is not a signed token in compact form (JWS)'],
      [await signBytes(key, '[]', claims), 'it is not a signed token in compact form (JWS)'],
      [await signBytes(key, plain, claims), 'it is not signed with one of the algorithms'],
      [
        await signBytes(key, '{"alg":"ES256","crit":["x"],"x":1}', claims),
        'its signature cannot be verified',
      ],
      [await signBytes(key, '{"alg":"ES256"}', 'text'), 'its claims are not a JSON object'],
      [await signBytes(key, '{"alg":"ES256"}', '[]'), 'its claims are not a JSON object'],
      [
        await signBytes(key, '{"alg":"ES256"}', `{"a":${'['.repeat(4000)}${']'.repeat(4000)}}`),
        'its claims are not a JSON object',
      ],
    ] as const)
      expect(await outcomeOf(logIn(jwt))).toEqual([400, expect.stringContaining(text)]);
  });

  test('that is longer than any that a provider makes is refused before it is read', async () => {
    const jwt = await signToken(key, claimsOf({ groups: 'x'.repeat(16_384) }));
    expect(await outcomeOf(logIn(jwt))).toEqual([400, 'jwt has at most 16384 characters']);
  });

  test('with a claim twice counts as its last value says, for every rule', async () => {
    const { sub: _, ...claims } = claimsOf();
    const twice = JSON.stringify(claims).replace('{', '{"sub":"first","sub":"last",');
    await makeRole({ bound_subject: 'first' });
    const jwt = await signBytes(key, '{"alg":"ES256"}', twice);
    expect(await outcomeOf(logIn(jwt))).toEqual([
      400,
      'error validating token: invalid subject (sub) claim',
    ]);
    await makeRole({ bound_subject: 'last' });
    expect((await logIn(jwt)).status).toBe(200);
    expect(auth.logins[0]?.displayName).toBe('last');
  });
});
