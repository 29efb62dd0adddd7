/** Signing in at a real control plane: the tokens that logins make, and when they end. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { type AddressedCluster, callsOf } from '@keelson/testkit/addressed-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;
let root: Pick<AddressedCluster, 'v1'>;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: folder.path });
  root = callsOf(
    () => keelson.http,
    () => keelson.rootToken,
    keelson.apiToken,
  );
}, 60_000);
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

/** A request with a token, or without. */
const call = async (
  token: string | undefined,
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
) => {
  const response = await fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers: {
      ...(token !== undefined && { 'x-vault-token': token }),
      'content-type': 'application/json',
      ...headers,
    },
    ...(body !== undefined && method !== 'GET' && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  // Some answers are pages for browsers.
  const isJson = response.headers.get('content-type') === 'application/json';
  return { status: response.status, body: isJson && text !== '' ? JSON.parse(text) : undefined };
};

let serial = 0;
/** Mounts userpass at a path of its own with the user "alice". */
const withAlice = async (settings: object = {}, mount: object = {}) => {
  serial += 1;
  const path = `people-${serial}`;
  const enabled = await root.v1('POST', `sys/auth/${path}`, { type: 'userpass', ...mount });
  expect(enabled.status).toBe(204);
  const made = await root.v1('POST', `auth/${path}/users/alice`, { password: 'pw', ...settings });
  expect(made.status).toBe(204);
  return {
    path,
    logIn: async (headers: Readonly<Record<string, string>> = {}) => {
      const login = `auth/${path}/login/alice`;
      return call(undefined, 'POST', login, { password: 'pw' }, headers);
    },
  };
};

const lookUp = (token: string) => call(token, 'GET', 'auth/token/lookup-self');

describe('the token of a login', () => {
  test('names the person and the mount, and has the policies of the user', async () => {
    const { path, logIn } = await withAlice({ token_policies: 'dev', token_ttl: '1h' });
    const { body } = await logIn();
    expect(body.warnings).toEqual(['Policy "dev" does not exist']);
    expect(body.auth).toMatchObject({
      policies: ['default', 'dev'],
      lease_duration: 3600,
      renewable: true,
      metadata: { username: 'alice' },
      orphan: true,
    });
    expect((await lookUp(body.auth.client_token)).body.data).toMatchObject({
      display_name: `${path}-alice`,
      path: `auth/${path}/login/alice`,
      meta: { username: 'alice' },
      ttl: 3600,
    });
  });

  test('ends with the mount of its method, and so do its children', async () => {
    const { path, logIn } = await withAlice({ token_policies: 'maker' });
    await root.v1('POST', 'sys/policies/acl/maker', {
      policy: 'path "auth/token/create" { capabilities = ["update"] }',
    });
    const { client_token: token } = (await logIn()).body.auth;
    const child = (await call(token, 'POST', 'auth/token/create', {})).body.auth.client_token;
    expect((await lookUp(child)).status).toBe(200);
    await root.v1('DELETE', `sys/auth/${path}`);
    expect((await lookUp(token)).status).toBe(403);
    expect((await lookUp(child)).status).toBe(403);
    expect((await logIn()).status).toBe(404);
  });

  test.for(['revoke-prefix', 'revoke-force'])(
    'ends with the leases below its mount (%s), and those of no other mount do',
    async (operation) => {
      await root.v1('POST', 'sys/policies/acl/maker', {
        policy: 'path "auth/token/create" { capabilities = ["update"] }',
      });
      const [ended, other] = [await withAlice({ token_policies: 'maker' }), await withAlice()];
      const { client_token: token } = (await ended.logIn()).body.auth;
      const child = (await call(token, 'POST', 'auth/token/create', {})).body.auth.client_token;
      const kept = (await other.logIn()).body.auth.client_token;
      const path = `sys/leases/${operation}/auth/${ended.path}`;
      expect((await root.v1('POST', path)).status).toBe(204);
      const statuses = await Promise.all([token, child, kept].map(lookUp));
      expect(statuses.map(({ status }) => status)).toEqual([403, 403, 200]);
      // A beginning of a name is not a path.
      await root.v1('POST', `sys/leases/${operation}/auth/${other.path.slice(0, -1)}`);
      await root.v1('POST', `sys/leases/${operation}/pki`);
      expect((await lookUp(kept)).status).toBe(200);
      await root.v1('POST', `sys/leases/${operation}/auth`);
      expect((await lookUp(kept)).status).toBe(403);
      // The root token has no lease.
      expect((await root.v1('GET', 'auth/token/lookup-self')).status).toBe(200);
      expect((await ended.logIn()).status).toBe(200);
    },
  );

  test('ends with all others of the same person, and those of nobody else do', async () => {
    await root.v1('POST', 'sys/policies/acl/maker', {
      policy: 'path "auth/token/create" { capabilities = ["update"] }',
    });
    const { path } = await withAlice({ token_policies: 'maker' });
    const settings = { password: 'pw' };
    await root.v1('POST', `auth/${path}/users/alice.b`, settings);
    const tokenOf = async (name: string): Promise<string> =>
      (await call(undefined, 'POST', `auth/${path}/login/${name}`, settings)).body.auth
        .client_token;
    const tokens = [await tokenOf('alice'), await tokenOf('ALICE'), await tokenOf('alice.b')];
    const child = await call(tokens[0], 'POST', 'auth/token/create', {});
    tokens.push(child.body.auth.client_token);
    const ended = await root.v1('POST', `sys/leases/revoke-prefix/auth/${path}/login/alice`);
    expect(ended.status).toBe(204);
    const statuses = await Promise.all(tokens.map(lookUp));
    expect(statuses.map(({ status }) => status)).toEqual([403, 403, 200, 403]);
    expect((await lookUp(await tokenOf('alice'))).status).toBe(200);
  });

  test('is renewed as long as the login would be granted', async () => {
    const { path, logIn } = await withAlice({ token_ttl: '10m', token_max_ttl: '1h' });
    const { client_token: token } = (await logIn()).body.auth;
    const renew = () => call(token, 'POST', 'auth/token/renew-self', { increment: '2h' });
    expect((await renew()).body.auth.lease_duration).toBeLessThanOrEqual(3600);
    await root.v1('POST', `auth/${path}/users/alice`, { token_policies: 'other' });
    expect((await renew()).body.errors).toEqual([expect.stringContaining('policies have changed')]);
    await root.v1('DELETE', `auth/${path}/users/alice`);
    expect((await renew()).body.errors).toEqual([expect.stringContaining('would be refused now')]);
    expect((await lookUp(token)).status).toBe(200);
  });

  test.for([
    ['the user', { token_type: 'batch' }, {}],
    ['the mount', {}, { config: { token_type: 'batch' } }],
    [
      'a default of the mount',
      { token_type: 'default' },
      { config: { token_type: 'default-batch' } },
    ],
  ] as const)('is a batch token if %s says so', async ([, settings, mount]) => {
    const { path, logIn } = await withAlice(settings, mount);
    const { auth } = (await logIn()).body;
    expect(auth).toMatchObject({ token_type: 'batch', renewable: false });
    expect((await lookUp(auth.client_token)).status).toBe(200);
    await root.v1('DELETE', `sys/auth/${path}`);
    expect((await lookUp(auth.client_token)).status).toBe(403);
  });

  test('has the lifetimes of the mount where the user has none', async () => {
    const { logIn } = await withAlice(
      {},
      { config: { default_lease_ttl: '5m', max_lease_ttl: '6m' } },
    );
    expect((await logIn()).body.auth.lease_duration).toBe(300);
  });

  test('can be wrapped', async () => {
    const { logIn } = await withAlice();
    const { wrap_info: wrapped, auth } = (await logIn({ 'x-vault-wrap-ttl': '60s' })).body;
    expect(auth).toBeNull();
    const unwrapped = await call(wrapped.token, 'POST', 'sys/wrapping/unwrap');
    expect((await lookUp(unwrapped.body.auth.client_token)).status).toBe(200);
  });

  test('is bound to networks, from outside of which every password is a wrong one', async () => {
    const { logIn } = await withAlice({ token_bound_cidrs: '10.0.0.0/8' });
    const { status, body } = await logIn();
    expect([status, body.errors]).toEqual([400, ['invalid username or password']]);
  });
});

describe('mounts of auth methods', () => {
  test('are apart from those of secrets engines, and their types are too', async () => {
    expect((await root.v1('POST', 'sys/auth/shared', { type: 'approle' })).status).toBe(204);
    expect((await root.v1('POST', 'sys/mounts/shared', { type: 'pki' })).status).toBe(204);
    for (const [path, type] of [
      ['sys/mounts/wrong', 'approle'],
      ['sys/auth/wrong', 'pki'],
    ] as const)
      expect((await root.v1('POST', path, { type })).body.errors).toEqual([
        `plugin not found in the catalog: ${type}`,
      ]);
    const taken = await root.v1('POST', 'sys/auth/shared/below', { type: 'userpass' });
    expect(taken.body.errors).toEqual(['path is already in use at shared/']);
    await root.v1('DELETE', 'sys/mounts/shared');
    expect((await root.v1('GET', 'sys/auth/shared')).body.data.type).toBe('approle');
  });

  test('are moved with their roles, and their tokens stay', async () => {
    const { path, logIn } = await withAlice();
    const { client_token: token } = (await logIn()).body.auth;
    const moved = await root.v1('POST', 'sys/remount', { from: `auth/${path}`, to: 'auth/moved' });
    expect(moved.status).toBe(200);
    const login = await call(undefined, 'POST', 'auth/moved/login/alice', { password: 'pw' });
    expect(login.status).toBe(200);
    expect((await lookUp(token)).status).toBe(200);
  });

  test('show token_type only where there are logins', async () => {
    const { body } = await root.v1('POST', 'sys/mounts/no-logins', {
      type: 'pki',
      config: { token_type: 'batch' },
    });
    expect(body.errors).toEqual([expect.stringContaining('token_type has no effect')]);
  });

  test('of a namespace make tokens of that namespace', async () => {
    await root.v1('POST', 'sys/namespaces/team');
    await root.v1('POST', 'team/sys/auth/userpass', { type: 'userpass' });
    await root.v1('POST', 'team/auth/userpass/users/bob', { password: 'pw' });
    const { body } = await call(undefined, 'POST', 'team/auth/userpass/login/bob', {
      password: 'pw',
    });
    const found = await call(body.auth.client_token, 'GET', 'team/auth/token/lookup-self');
    expect(found.body.data.namespace_path).toBe('team/');
    expect((await lookUp(body.auth.client_token)).status).toBe(403);
  });
});

test('the person of a login is named in look-ups, leases and audit entries', async () => {
  await using logs = await temporaryDirectory();
  const file = join(logs.path, 'audit.log');
  const device = { type: 'file', options: { file_path: file } };
  expect((await root.v1('POST', 'sys/audit/people', device)).status).toBe(204);
  await root.v1('POST', 'sys/mounts/leased', { type: 'pki' });
  await root.v1('POST', 'leased/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
  await root.v1('POST', 'leased/roles/web', {
    allow_any_name: true,
    generate_lease: true,
    key_type: 'ec',
  });
  await root.v1('POST', 'sys/policies/acl/leased', {
    policy: 'path "leased/issue/web" { capabilities = ["update"] }',
  });
  const { path, logIn } = await withAlice({ token_policies: 'leased' });
  const { client_token: token, entity_id } = (await logIn()).body.auth;
  const named = { display_name: `${path}-alice`, entity_id };
  expect((await lookUp(token)).body.data).toMatchObject(named);
  const issued = await call(token, 'POST', 'leased/issue/web', {
    common_name: 'a.example.com',
    ttl: '1h',
  });
  expect([issued.status, issued.body.errors]).toEqual([200, undefined]);
  const lease = { lease_id: issued.body.lease_id };
  const found = await root.v1('POST', 'sys/leases/lookup', lease);
  expect(found.body.data).toMatchObject(named);
  const entries = readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
    .filter(({ request }) => request.path === 'leased/issue/web');
  expect(entries.map(({ type, auth }) => [type, auth])).toEqual(
    ['request', 'response'].map((type) => [type, expect.objectContaining(named)]),
  );
  expect((await root.v1('DELETE', 'sys/audit/people')).status).toBe(204);
});

describe('a certificate role with a parameter of the caller', () => {
  const ISSUE = { common_name: 'web.example.com', ttl: '1h' };
  const role = (parameter: string) => ({
    allowed_domains: `{{${parameter}}}.example.com`,
    allowed_domains_template: true,
    allow_bare_domains: true,
    key_type: 'ec',
  });
  /** Mounts pki, with the role `own` and the policy `issuer` for it. */
  const mountPki = async (namespace: string, parameter: string) => {
    const at = `${namespace}sys/mounts/own-pki`;
    expect((await root.v1('POST', at, { type: 'pki' })).status).toBe(204);
    const authority = { common_name: 'Root', key_type: 'ec' };
    await root.v1('POST', `${namespace}own-pki/root/generate/internal`, authority);
    const made = await root.v1('POST', `${namespace}own-pki/roles/own`, role(parameter));
    expect([made.status, made.body?.errors]).toEqual([200, undefined]);
  };

  test('gives the names of the entity, until it is changed or disabled', async () => {
    await mountPki('', 'identity.entity.metadata.team');
    await root.v1('POST', 'sys/policies/acl/issuer', {
      policy: 'path "own-pki/issue/own" { capabilities = ["update"] }',
    });
    const { logIn } = await withAlice({ token_policies: 'issuer' });
    const { client_token: token, entity_id: id } = (await logIn()).body.auth;
    const entity = `identity/entity/id/${id}`;
    const issue = () => call(token, 'POST', 'own-pki/issue/own', ISSUE);
    const refused = 'common name web.example.com not allowed by this role';
    expect((await issue()).body.errors).toEqual([refused]);
    for (const [team, status] of [
      ['web', 200],
      ['*', 400],
      ['a.web', 400],
      ['web', 200],
    ] as const) {
      await root.v1('POST', entity, { metadata: { team } });
      expect((await issue()).status).toBe(status);
    }
    expect((await root.v1('POST', 'own-pki/issue/own', ISSUE)).body.errors).toEqual([refused]);
    await root.v1('POST', entity, { disabled: true });
    expect((await issue()).status).toBe(403);
  });

  test('gives addresses with the names of its groups, as long as the entity is in them', async () => {
    await root.v1('POST', 'sys/mounts/group-pki', { type: 'pki' });
    const authority = { common_name: 'Root', key_type: 'ec' };
    await root.v1('POST', 'group-pki/root/generate/internal', authority);
    const { id: group } = (await root.v1('POST', 'identity/group', { name: 'crew' })).body.data;
    await root.v1('POST', 'group-pki/roles/crew', {
      allow_any_name: true,
      allowed_uri_sans: [
        'spiffe://example.com/{{identity.groups.names.crew.id}}/{{identity.entity.metadata.team}}',
        `spiffe://example.com/of-{{identity.groups.ids.${group}.name}}`,
      ],
      allowed_uri_sans_template: true,
      key_type: 'ec',
    });
    await root.v1('POST', 'sys/policies/acl/crew', {
      policy: 'path "group-pki/issue/crew" { capabilities = ["update"] }',
    });
    const { logIn } = await withAlice({ token_policies: 'crew' });
    const { client_token: token, entity_id: id } = (await logIn()).body.auth;
    await root.v1('POST', `identity/entity/id/${id}`, { metadata: { team: 'web' } });
    const issue = async (uri: string): Promise<number> => {
      const body = { ...ISSUE, uri_sans: `spiffe://example.com/${uri}` };
      const headers = { 'x-service-token': token };
      return (await call(undefined, 'POST', 'group-pki/issue/crew', body, headers)).status;
    };
    const own = [`${group}/web`, 'of-crew'];
    const statuses = async () => [await issue(own[0] ?? ''), await issue(own[1] ?? '')];
    expect(await statuses()).toEqual([400, 400]);
    await root.v1('POST', `identity/group/id/${group}`, { member_entity_ids: [id] });
    expect(await statuses()).toEqual([200, 200]);
    expect([await issue(`${group}/ops`), await issue('of-others')]).toEqual([400, 400]);
    await root.v1('POST', `identity/group/id/${group}`, { member_entity_ids: [] });
    expect(await statuses()).toEqual([400, 400]);
  });

  test('in a namespace takes the entity from the namespace of the token', async () => {
    await root.v1('POST', 'sys/namespaces/inner');
    await mountPki('inner/', 'identity.entity.name');
    const policy = 'path "inner/own-pki/issue/own" { capabilities = ["update"] }';
    await root.v1('POST', 'sys/policies/acl/outer', { policy });
    const { logIn } = await withAlice({ token_policies: 'outer' });
    const { client_token: token, entity_id: id } = (await logIn()).body.auth;
    await root.v1('POST', 'inner/identity/entity', { name: 'web' });
    const issue = () => call(token, 'POST', 'inner/own-pki/issue/own', ISSUE);
    expect((await issue()).status).toBe(400);
    await root.v1('POST', `identity/entity/id/${id}`, { name: 'web' });
    expect((await issue()).status).toBe(200);
  });
});

test('people change their own password, and that of nobody else, with one policy for all', async () => {
  const { path, logIn } = await withAlice({ token_policies: 'own-password' });
  const { accessor } = (await root.v1('GET', `sys/auth/${path}`)).body.data;
  await root.v1('POST', 'sys/policies/acl/own-password', {
    policy: `path "auth/${path}/users/{{identity.entity.aliases.${accessor}.name}}/password" { capabilities = ["update"] }`,
  });
  await root.v1('POST', `auth/${path}/users/bob`, { password: 'pw' });
  const { client_token: token } = (await logIn()).body.auth;
  const change = async (name: string, field = 'password'): Promise<number> =>
    (await call(token, 'POST', `auth/${path}/users/${name}/${field}`, { password: 'new' })).status;
  expect([await change('bob'), await change('alice', 'policies')]).toEqual([403, 403]);
  expect(await change('alice')).toBe(204);
  expect((await logIn()).status).toBe(400);
  const login = `auth/${path}/login/alice`;
  expect((await call(undefined, 'POST', login, { password: 'new' })).status).toBe(200);
});

test('every path of a method but its login needs a token with rights', async () => {
  for (const type of ['approle', 'cert', 'jwt', 'kubernetes', 'ldap', 'userpass'])
    await root.v1('POST', `sys/auth/${type}`, { type });
  const { paths } = (await (await fetch(`${keelson.http}/openapi/auth.json`)).json()) as {
    paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  };
  const { body } = await root.v1('POST', 'auth/token/create', { policies: ['default'] });
  const rows = Object.entries(paths).flatMap(([path, operations]) =>
    Object.keys(operations).map((method) => [method.toUpperCase(), path] as const),
  );
  expect(rows.length).toBeGreaterThan(40);
  const open: string[] = [];
  for (const [method, path] of rows) {
    const at = `auth${path.replaceAll(/\{\w+\}/g, 'nothing')}`;
    const answers = [
      await call(undefined, method, at, {}),
      await call(body.auth.client_token, method, at, {}),
    ];
    if (answers.some(({ status }) => status !== 403)) open.push(`${method} ${path}`);
  }
  expect(open).toEqual([
    'POST /approle/login',
    'POST /cert/login',
    'POST /jwt/login',
    'POST /jwt/oidc/auth_url',
    'GET /jwt/oidc/callback',
    'POST /jwt/oidc/callback',
    'POST /jwt/oidc/poll',
    'POST /kubernetes/login',
    'POST /ldap/login/{username}',
    'POST /userpass/login/{username}',
  ]);
});
