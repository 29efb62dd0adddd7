/** The method kubernetes with an API server that reviews tokens: configuration, roles, logins and renewals. */
import { API_AUDIENCE } from '@keelson/testkit/kubernetes-api';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { makeKey } from '../../test/identity-provider.ts';
import { DENIED, openKubernetes, REVIEWER, SOUND } from '../../test/open-kubernetes.ts';

const kubernetes = await openKubernetes();
const { auth, api, call, configure, makeRole, logIn, tokenOf, renew } = kubernetes;
afterAll(kubernetes.close);
beforeEach(kubernetes.nextMount);

describe('the configuration', () => {
  test('is read as it was written, without the token of the reviewer, and replaced as a whole', async () => {
    expect((await call('GET', 'config')).status).toBe(404);
    await configure({ pem_keys: [api.publicPem], issuer: 'https://issuer.example' });
    const { data } = await call('GET', 'config');
    expect(data).toEqual({
      kubernetes_host: api.url,
      kubernetes_ca_cert: api.caPem,
      token_reviewer_jwt_set: true,
      pem_keys: [api.publicPem.trim()],
      disable_local_ca_jwt: false,
      disable_iss_validation: true,
      issuer: 'https://issuer.example',
      use_annotations_as_alias_metadata: false,
    });
    await call('POST', 'config', { kubernetes_host: 'https://10.0.0.1/k8s/clusters/c-1' });
    expect((await call('GET', 'config')).data).toMatchObject({
      kubernetes_host: 'https://10.0.0.1/k8s/clusters/c-1',
      kubernetes_ca_cert: '',
      token_reviewer_jwt_set: false,
      pem_keys: [],
    });
  });

  const privatePem = makeKey('x').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  test.for([
    [{ kubernetes_host: undefined }, 'no host provided'],
    [{ kubernetes_host: '' }, 'no host provided'],
    [{ kubernetes_host: 'http://10.0.0.1' }, 'kubernetes_host must be an https URL'],
    [{ kubernetes_host: 'kubernetes.default.svc' }, 'kubernetes_host must be an https URL'],
    [{ kubernetes_host: 'https://name:pw@a.example' }, 'kubernetes_host must be an https URL'],
    [{ kubernetes_host: 'https://a.example?x=' }, 'kubernetes_host must be an https URL'],
    [{ kubernetes_host: 'https://a.example/#' }, 'kubernetes_host must be an https URL'],
    [{ kubernetes_ca_cert: 'x' }, 'kubernetes_ca_cert must be certificates in PEM'],
    [{ token_reviewer_jwt: 'a\r\nhost: b' }, 'token_reviewer_jwt must be a token'],
    [{ pem_keys: privatePem }, 'error parsing public key: '],
    [{ use_annotations_as_alias_metadata: true }, 'annotations of service accounts are not read'],
  ] as const)('is refused with %j', async ([settings, text]) => {
    const config = { kubernetes_host: 'https://a.example', ...settings };
    const { status, json } = await call('POST', 'config', config);
    expect([status, json.errors]).toEqual([400, [expect.stringContaining(text)]]);
    expect((await call('GET', 'config')).status).toBe(404);
  });
});

describe('a role', () => {
  test('is read as it was written; a change keeps what it does not name', async () => {
    await makeRole({
      bound_service_account_names: ['web', 'job-*'],
      alias_name_source: 'serviceaccount_name',
      policies: 'dev',
      ttl: '1h',
      max_ttl: 7200,
      num_uses: 3,
      bound_cidrs: '127.0.0.0/8',
    });
    await call('POST', 'role/WEB', { bound_service_account_namespaces: '*' });
    expect((await call('GET', 'role/web')).data).toEqual({
      bound_service_account_names: ['web', 'job-*'],
      bound_service_account_namespaces: ['*'],
      bound_service_account_namespace_selector: '',
      audience: 'keelson',
      alias_name_source: 'serviceaccount_name',
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
    [{ bound_service_account_names: undefined }, '"bound_service_account_names" can not be empty'],
    [{ bound_service_account_names: '' }, '"bound_service_account_names" can not be empty'],
    [
      { bound_service_account_namespaces: undefined },
      '"bound_service_account_namespaces" can not be empty',
    ],
    [{ bound_service_account_names: 'web,*' }, 'can not mix "*" with values'],
    [{ bound_service_account_namespaces: '*,shop' }, 'can not mix "*" with values'],
    [
      { bound_service_account_namespace_selector: 'matchLabels: {a: b}' },
      'bound_service_account_namespace_selector must be a label selector in JSON',
    ],
    [{ alias_name_source: 'pod' }, 'invalid alias_name_source "pod", must be one of'],
    [{ token_policies: 'root' }, 'token_policies cannot contain "root"'],
    [{ ttl: '2h', max_ttl: '1h' }, 'token_ttl cannot be greater'],
    [{ bound_cidrs: 'here' }, 'bound_cidrs must be a list of IP addresses'],
  ] as const)('is refused with %j', async ([settings, text]) => {
    const { status, json } = await call('POST', 'role/web', { ...SOUND, ...settings });
    expect([status, json.errors]).toEqual([400, [expect.stringContaining(text)]]);
    expect((await call('GET', 'role/web')).status).toBe(404);
  });

  test('that is wide open has warnings', async () => {
    const { json } = await call('POST', 'role/web', {
      bound_service_account_names: '*',
      bound_service_account_namespaces: '*',
    });
    expect(json.warnings).toEqual([
      expect.stringContaining('The role has no audience'),
      'Every service account of the cluster can sign in with the role.',
    ]);
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
  test('asks the API server, and sys for a token with what the role and the account say', async () => {
    await configure();
    await makeRole({ token_policies: 'deploy', token_ttl: 60 });
    const jwt = tokenOf();
    const { json } = await call('POST', 'login', { role: 'WEB', jwt });
    expect(json.auth).toEqual({ client_token: 'hvs.test' });
    const uid = api.uidOf('shop/web') ?? '';
    const metadata = {
      service_account_name: 'web',
      service_account_namespace: 'shop',
      service_account_secret_name: '',
      service_account_uid: uid,
    };
    expect(auth.logins).toMatchObject([
      {
        requestPath: 'login',
        displayName: 'shop-web',
        metadata: { ...metadata, role: 'web' },
        aliasName: uid,
        aliasMetadata: metadata,
        groupAliases: [],
        limits: { policies: ['deploy'], ttlSeconds: 60 },
      },
    ]);
    expect(api.asked).toEqual([
      {
        bearer: REVIEWER,
        path: '/apis/authentication.k8s.io/v1/tokenreviews',
        review: { token: jwt, audiences: ['keelson'] },
      },
    ]);
    expect(auth.logged.join('')).not.toContain(jwt);
  });

  test('has an entity by the name of the account, if the role says so', async () => {
    await configure();
    await makeRole({ alias_name_source: 'serviceaccount_name' });
    expect(await logIn(tokenOf())).toEqual([200]);
    expect(auth.logins).toMatchObject([{ aliasName: 'shop/web' }]);
  });

  test('takes a token that is stored in a secret', async () => {
    await configure();
    await makeRole({ audience: '' });
    tokenOf();
    const older = 'kubernetes.io/serviceaccount';
    const jwt = tokenOf('shop/web', API_AUDIENCE, {
      aud: undefined,
      'kubernetes.io': undefined,
      [`${older}/namespace`]: 'shop',
      [`${older}/secret.name`]: 'web-token-x',
      [`${older}/service-account.name`]: 'web',
      [`${older}/service-account.uid`]: api.uidOf('shop/web'),
    });
    expect(await logIn(jwt)).toEqual([200]);
    expect(auth.logins).toMatchObject([
      { metadata: { service_account_secret_name: 'web-token-x' } },
    ]);
  });

  test('is reviewed by its own token where there is no other', async () => {
    await configure({ token_reviewer_jwt: '' });
    await makeRole({ audience: API_AUDIENCE });
    const jwt = tokenOf('shop/web', API_AUDIENCE);
    expect(await logIn(jwt)).toEqual([200]);
    expect(api.asked).toMatchObject([{ bearer: jwt }]);
    await makeRole();
    // A token for Keelson is none with which the API server could be asked.
    expect(await logIn(tokenOf())).toEqual(DENIED);
  });

  test('says what is missing', async () => {
    const jwt = tokenOf();
    expect(await logIn(jwt, '')).toEqual([400, 'missing role']);
    expect(await logIn('')).toEqual([400, 'missing jwt']);
    expect(await logIn(jwt)).toEqual([400, 'invalid role name "web"']);
    await makeRole();
    expect(await logIn(jwt)).toEqual([400, 'could not load backend configuration']);
    await configure();
    expect(await logIn(jwt)).toEqual([200]);
    await call('DELETE', 'role/web');
    expect(await logIn(jwt)).toEqual([400, 'invalid role name "web"']);
    expect((await call('POST', 'login', { role: 'web', jwt: 'x'.repeat(16_385) })).status).toBe(
      400,
    );
  });

  test.for<[string, object, string, boolean]>([
    ['a pattern of names', { bound_service_account_names: 'we*' }, 'shop/web', true],
    ['a pattern of namespaces', { bound_service_account_namespaces: 'team-*' }, 'team-a/web', true],
    ['all namespaces', { bound_service_account_namespaces: '*' }, 'x/web', true],
    ['another account', {}, 'shop/api', false],
    ['another namespace', {}, 'mall/web', false],
    ['a longer name', {}, 'shop/web-2', false],
    ['a namespace that ends alike', {}, 'my-shop/web', false],
    ['a name in another case', { bound_service_account_names: 'WEB' }, 'shop/web', false],
  ])('compares %s', async ([, settings, account, isAllowed]) => {
    await configure();
    await makeRole(settings);
    expect(await logIn(tokenOf(account))).toEqual(isAllowed ? [200] : DENIED);
    // Nobody is asked about a token that could not sign in.
    expect(api.asked).toHaveLength(isAllowed ? 1 : 0);
  });

  test('is refused to a token for another audience, whatever it says of itself', async () => {
    await configure();
    await makeRole();
    expect(await logIn(tokenOf('shop/web', 'other'))).toEqual(DENIED);
    expect(api.asked).toEqual([]);
    expect(await logIn(tokenOf('shop/web', 'other', { aud: ['keelson'] }))).toEqual(DENIED);
    expect(api.asked).toHaveLength(1);
    // Without an audience, the token must be one for the API server.
    await makeRole({ audience: '' });
    expect(await logIn(tokenOf())).toEqual(DENIED);
    expect(await logIn(tokenOf('shop/web', API_AUDIENCE))).toEqual([200]);
  });

  test('is refused to a token of another issuer, if the mount checks it', async () => {
    await configure({ disable_iss_validation: false });
    await makeRole();
    expect(await logIn(tokenOf())).toEqual(DENIED);
    const iss = 'kubernetes/serviceaccount';
    expect(await logIn(tokenOf('shop/web', 'keelson', { iss }))).toEqual([200]);
    await configure({ disable_iss_validation: false, issuer: API_AUDIENCE });
    expect(await logIn(tokenOf())).toEqual([200]);
  });

  test('is refused to a token that another key has signed, before anybody is asked', async () => {
    await configure({ pem_keys: makeKey('other', 'RS256').publicPem });
    await makeRole();
    const jwt = tokenOf();
    expect(await logIn(jwt)).toEqual(DENIED);
    expect(api.asked).toEqual([]);
    await configure({ pem_keys: [makeKey('other', 'RS256').publicPem, api.publicPem] });
    expect(await logIn(jwt)).toEqual([200]);
    // The account of the token may be gone.
    api.revoke(jwt);
    expect(await logIn(jwt)).toEqual(DENIED);
    expect(api.asked).toHaveLength(2);
  });

  test.for<[string, string | object]>([
    ['no token', 'x'],
    ['a token without claims', 'a.b.c'],
    ['claims without an account', { 'kubernetes.io': undefined }],
    ['an account that is a list', { 'kubernetes.io': [] }],
    [
      'a name with a separator',
      { 'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'web:x', uid: 'u' } } },
    ],
    ['no uid', { 'kubernetes.io': { namespace: 'shop', serviceaccount: { name: 'web' } } }],
  ])('is refused with %s', async ([, given]) => {
    await configure();
    await makeRole();
    const jwt = typeof given === 'string' ? given : tokenOf('shop/web', 'keelson', given);
    expect(await logIn(jwt)).toEqual(DENIED);
    expect(api.asked).toEqual([]);
  });
});

describe('a role with a selector of namespaces', () => {
  const selector = { bound_service_account_namespace_selector: '{"matchLabels":{"team":"web"}}' };
  beforeAll(() => {
    api.labels = { mall: { team: 'web' }, depot: { team: 'api' } };
  });

  test.for([
    ['mall/web', 200, 2],
    ['depot/web', 403, 2],
    ['plain/web', 403, 2],
    ['mall/api', 403, 0],
    // This namespace is named, so that its labels do not matter.
    ['shop/web', 200, 1],
  ] as const)('answers %s with %j after %j questions', async ([account, status, questions]) => {
    await configure();
    await makeRole(selector);
    expect((await logIn(tokenOf(account)))[0]).toBe(status);
    expect(api.asked.map(({ bearer }) => bearer)).toEqual(Array(questions).fill(REVIEWER));
  });

  test('asks about no namespace before the token has been confirmed', async () => {
    await configure();
    await makeRole({ ...selector, bound_service_account_namespaces: '' });
    const jwt = tokenOf('mall/web');
    api.revoke(jwt);
    expect(await logIn(jwt)).toEqual(DENIED);
    expect(api.asked).toHaveLength(1);
  });

  test('renews as long as it has the same selector', async () => {
    await configure();
    await makeRole(selector);
    await logIn(tokenOf('mall/web'));
    await renew();
    await makeRole({ bound_service_account_namespace_selector: '{"matchLabels":{"team":"api"}}' });
    await expect(renew()).rejects.toThrow('cannot be renewed');
    await makeRole({ ...selector, bound_service_account_names: 'api' });
    await expect(renew()).rejects.toThrow('cannot be renewed');
  });
});

describe('a renewal', () => {
  test('has the limits of the role as of now', async () => {
    await configure();
    await makeRole({ token_ttl: 60 });
    await logIn(tokenOf());
    await makeRole({ token_ttl: 90 });
    expect(await renew()).toBe(90);
  });

  test('is refused once the role is gone, or for other accounts', async () => {
    await configure();
    await makeRole();
    await logIn(tokenOf());
    await makeRole({ bound_service_account_names: 'api' });
    await expect(renew()).rejects.toThrow('cannot be renewed');
    await makeRole({ bound_service_account_namespaces: 'mall' });
    await expect(renew()).rejects.toThrow('cannot be renewed');
    await makeRole();
    expect(await renew()).toBe(0);
    await call('DELETE', 'role/web');
    await expect(renew()).rejects.toThrow('cannot be renewed');
  });
});
