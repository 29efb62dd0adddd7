/** Signing in at the clusters of a performance set: what they share, and which cluster a token is of. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  type MailServer,
  type NatsServer,
  publicAddress,
  startMailServer,
  startNats,
} from '@keelson/testkit';
import { startKubernetesApi } from '@keelson/testkit/kubernetes-api';
import {
  attach,
  type Cluster,
  generateRoot,
  startCluster,
  untilEqual,
} from '@keelson/testkit/replication-cluster';
import { openSoftwareAuthenticator } from '@keelson/testkit/software-authenticator';
import { URI } from 'otpauth';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startRunWithToken } from '../run-with-token.ts';
import { signClaims } from '../signed-claims.ts';

const WITHIN_MS = 120_000;

let nats: NatsServer;
let mail: MailServer;
let primary: Cluster;
let secondary: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  mail = await startMailServer();
  const near = {
    KEELSON_OUTBOUND_RANGES: '127.0.0.0/8',
    KEELSON_WORKSPACE_SMTP_URL: mail.url,
    KEELSON_WORKSPACE_MAIL_FROM: 'keelson@keelson.example',
  };
  [primary, secondary] = await Promise.all([
    startCluster(nats.url, { ...near, ...(await publicAddress()) }),
    startCluster(nats.url, near),
  ]);
  await primary.v1('POST', 'sys/auth/approle', { type: 'approle' });
  await primary.v1('POST', 'sys/auth/userpass', { type: 'userpass' });
  await primary.v1('POST', 'sys/auth/jwt', { type: 'jwt' });
  await primary.v1('POST', 'sys/auth/kubernetes', { type: 'kubernetes' });
  await primary.v1('POST', 'sys/replication/performance/primary/enable');
  await attach('performance', primary, secondary, 'branch');
  await untilEqual('performance', primary, secondary);
  secondary.token = await generateRoot(secondary, primary.shares);
}, WITHIN_MS);
afterAll(async () => {
  await primary.stop();
  await secondary.stop();
  await nats[Symbol.asyncDispose]();
  await mail[Symbol.asyncDispose]();
}, WITHIN_MS);

const logIn = (cluster: Cluster, path: string, body: object) => cluster.v1('POST', path, body, '');
const ownTokenAt = async (cluster: Cluster, token: string): Promise<number> =>
  (await cluster.v1('GET', 'auth/token/lookup-self', undefined, token)).status;

test('a user that the secondary creates signs in at both, with a token of the one cluster', async () => {
  const path = 'auth/userpass/users/alice';
  expect((await secondary.v1('POST', path, { password: 'pw' })).status).toBe(204);
  await untilEqual('performance', primary, secondary);
  for (const [here, elsewhere] of [
    [primary, secondary],
    [secondary, primary],
  ] as const) {
    const { body } = await logIn(here, 'auth/userpass/login/alice', { password: 'pw' });
    const { client_token: token } = body.auth;
    expect(await ownTokenAt(here, token)).toBe(200);
    expect(await ownTokenAt(elsewhere, token)).toBe(403);
    expect((await here.v1('POST', 'auth/token/renew-self', {}, token)).status).toBe(200);
  }
});

test('each cluster lists and ends the tokens of a person that it has made itself', async () => {
  const path = 'auth/userpass/users/olga';
  expect((await primary.v1('POST', path, { password: 'pw' })).status).toBe(204);
  await untilEqual('performance', primary, secondary);
  const authOf = async (cluster: Cluster) =>
    (await logIn(cluster, 'auth/userpass/login/olga', { password: 'pw' })).body.auth;
  const signIn = async (cluster: Cluster): Promise<string> => (await authOf(cluster)).client_token;
  const own = async (cluster: Cluster, token: string) =>
    (await cluster.v1('GET', 'auth/token/own', undefined, token)).body.data.tokens;
  const here = await signIn(primary);
  const [there, further] = [await signIn(secondary), await signIn(secondary)];
  expect(await own(primary, here)).toHaveLength(1);
  const [newest] = await own(secondary, there);
  expect(newest).toMatchObject({ display_name: 'userpass-olga', is_current: false });
  const end = { accessor: newest.accessor };
  const elsewhere = await primary.v1('POST', 'auth/token/own/revoke', end, here);
  expect(elsewhere.body.errors).toEqual(['invalid accessor']);
  expect((await secondary.v1('POST', 'auth/token/own/revoke', end, there)).status).toBe(204);
  expect(await ownTokenAt(secondary, further)).toBe(403);
  // A disabled person is refused at once, a merged one has the tokens of both.
  const { entity_id: from } = await authOf(secondary);
  const { id: into } = (await primary.v1('POST', 'identity/entity', { name: 'olga' })).body.data;
  const merge = { from_entity_ids: [from], to_entity_id: into };
  expect((await primary.v1('POST', 'identity/entity/merge', merge)).status).toBe(204);
  await untilEqual('performance', primary, secondary);
  expect(await own(secondary, there)).toHaveLength(2);
  expect((await secondary.v1('POST', 'auth/token/own/revoke-others', {}, there)).body.data).toEqual(
    { revoked: 1 },
  );
  expect(await own(primary, here)).toHaveLength(1);
});

test('a certificate role has the names of the entity at both clusters', async () => {
  await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
  await primary.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
  await primary.v1('POST', 'pki/roles/own', {
    allowed_domains: '{{identity.entity.metadata.team}}.example.com',
    allowed_domains_template: true,
    allow_bare_domains: true,
    key_type: 'ec',
  });
  const policy = 'path "pki/issue/own" { capabilities = ["update"] }';
  await primary.v1('POST', 'sys/policies/acl/issuer', { policy });
  const user = { password: 'pw', token_policies: 'issuer' };
  await primary.v1('POST', 'auth/userpass/users/bob', user);
  await untilEqual('performance', primary, secondary);
  const { entity_id: id } = (await logIn(secondary, 'auth/userpass/login/bob', user)).body.auth;
  const entity = `identity/entity/id/${id}`;
  expect((await secondary.v1('POST', entity, { metadata: { team: 'web' } })).status).toBeLessThan(
    300,
  );
  await untilEqual('performance', primary, secondary);
  for (const cluster of [primary, secondary]) {
    const { body } = await logIn(cluster, 'auth/userpass/login/bob', user);
    const issue = async (name: string): Promise<number> =>
      (
        await cluster.v1(
          'POST',
          'pki/issue/own',
          { common_name: `${name}.example.com`, ttl: '1h' },
          body.auth.client_token,
        )
      ).status;
    expect([await issue('web'), await issue('other')]).toEqual([200, 400]);
  }
});

test('a secret id is used as often as it may be, whichever clusters are asked at the same time', async () => {
  // Logins that lose the race would lock the role id.
  const unlocked = { user_lockout_config: { lockout_disable: true } };
  await primary.v1('POST', 'sys/auth/approle/tune', unlocked);
  await primary.v1('POST', 'auth/approle/role/ci', { secret_id_num_uses: 3 });
  const { body: role } = await primary.v1('GET', 'auth/approle/role/ci/role-id');
  // The secondary reads the role in its own store.
  await untilEqual('performance', primary, secondary);
  const { body: made } = await secondary.v1('POST', 'auth/approle/role/ci/secret-id', {});
  await untilEqual('performance', primary, secondary);
  const credentials = { role_id: role.data.role_id, secret_id: made.data.secret_id };
  const answers = await Promise.all(
    Array.from({ length: 16 }, async (_, index) => {
      const cluster = index % 2 === 0 ? primary : secondary;
      return { cluster, ...(await logIn(cluster, 'auth/approle/login', credentials)) };
    }),
  );
  const granted = answers.filter(({ status }) => status === 200);
  expect(granted).toHaveLength(3);
  for (const { cluster, body } of granted)
    expect(await ownTokenAt(cluster, body.auth.client_token)).toBe(200);
  await untilEqual('performance', primary, secondary);
  for (const cluster of [primary, secondary])
    expect((await logIn(cluster, 'auth/approle/login', credentials)).body.errors).toEqual([
      'invalid role or secret ID',
    ]);
});

test('a passkey that is added at the secondary signs in at both, with a signature for one cluster', async () => {
  const methods = 'identity/mfa/method/webauthn';
  const [here, there] = ['https://one.example.com', 'https://two.example.com'];
  const { body: made } = await primary.v1('POST', methods, {
    relying_party_id: 'example.com',
    relying_party_origins: [here, there],
  });
  const { method_id } = made.data;
  await primary.v1('POST', 'sys/policies/acl/passkeys', {
    policy: `path "${methods}/own/*" { capabilities = ["update"] }`,
  });
  const user = { password: 'pw', token_policies: 'passkeys' };
  await primary.v1('POST', 'auth/userpass/users/grace', user);
  await untilEqual('performance', primary, secondary);
  const begin = async (cluster: Cluster) =>
    (await logIn(cluster, 'auth/userpass/login/grace', user)).body.auth;
  const { client_token: token, entity_id } = await begin(secondary);
  const device = openSoftwareAuthenticator({ countStep: 0 });
  const own = async (deed: string, body: object) =>
    secondary.v1('POST', `${methods}/own/${deed}`, { method_id, ...body }, token);
  const { registration } = (await own('begin', {})).body.data;
  const added = await own('finish', { credential: device.create(there, registration) });
  expect([added.status, added.body.errors]).toEqual([200, undefined]);
  await primary.v1('POST', 'identity/mfa/login-enforcement/grace', {
    mfa_method_ids: method_id,
    identity_entity_ids: entity_id,
  });
  await untilEqual('performance', primary, secondary);
  const sign = async (cluster: Cluster, origin: string) => {
    const { mfa_requirement: waits } = await begin(cluster);
    const [{ options }] = waits.mfa_constraints.grace.any;
    return { id: waits.mfa_request_id, answer: device.get(origin, options) };
  };
  const finish = (cluster: Cluster, id: string, answer: object) =>
    logIn(cluster, 'sys/mfa/validate', {
      mfa_request_id: id,
      mfa_payload: { [method_id]: [answer] },
    });
  for (const [cluster, origin, other] of [
    [primary, here, secondary],
    [secondary, there, primary],
  ] as const) {
    const [{ id, answer }, elsewhere] = [await sign(cluster, origin), await sign(other, origin)];
    expect((await finish(other, id, answer)).status).toBe(403);
    expect((await finish(other, elsewhere.id, answer)).status).toBe(403);
    const { status, body } = await finish(cluster, id, answer);
    expect([status, body.auth?.entity_id]).toEqual([200, entity_id]);
    expect((await finish(cluster, id, answer)).status).toBe(403);
  }
});

/** A user whose logins need a passcode at both clusters. */
const addPasscodeUser = async (name: string, settings: object = {}) => {
  const [totp, login] = ['identity/mfa/method/totp', `auth/userpass/login/${name}`];
  const made = await primary.v1('POST', totp, { issuer: 'Keelson', ...settings });
  const { method_id } = made.body.data;
  await primary.v1('POST', `auth/userpass/users/${name}`, { password: 'pw' });
  await untilEqual('performance', primary, secondary);
  const begin = async (cluster: Cluster) =>
    (await logIn(cluster, login, { password: 'pw' })).body.auth;
  const { entity_id } = await begin(secondary);
  const key = await secondary.v1('POST', `${totp}/admin-generate`, { method_id, entity_id });
  await primary.v1('POST', `identity/mfa/login-enforcement/${name}`, {
    mfa_method_ids: method_id,
    identity_entity_ids: entity_id,
  });
  await untilEqual('performance', primary, secondary);
  const finish = async (cluster: Cluster, passcode: string) => {
    const { mfa_request_id: id } = (await begin(cluster)).mfa_requirement;
    const payload = { mfa_request_id: id, mfa_payload: { [method_id]: [passcode] } };
    const { status, body } = await logIn(cluster, 'sys/mfa/validate', payload);
    return [status, body.errors?.[0] ?? body.auth.entity_id === entity_id];
  };
  return { app: URI.parse(key.body.data.url), finish };
};

test('a passcode signs in at one cluster of the set, and guesses at each of them count together', async () => {
  const { app, finish } = await addPasscodeUser('hedy', { max_validation_attempts: 3 });
  const used = [403, expect.stringContaining('the passcode has been used already')];
  const timestamp = Date.now();
  // The passcode of the next period is accepted as well.
  const first = app.generate({ timestamp });
  const second = app.generate({ timestamp: timestamp + 30_000 });
  expect(await finish(secondary, first)).toEqual([200, true]);
  expect(await finish(primary, first)).toEqual(used);
  expect(await finish(primary, second)).toEqual([200, true]);
  expect(await finish(secondary, second)).toEqual(used);
  expect(await finish(secondary, first)).toEqual(used);
  expect(await finish(primary, first)).toEqual(used);
  for (const cluster of [primary, secondary])
    expect(await finish(cluster, '000000')).toEqual([
      403,
      expect.stringContaining('too many wrong passcodes'),
    ]);
});

test('a local secret id is of the cluster that made it', async () => {
  await primary.v1('POST', 'auth/approle/role/edge', { local_secret_ids: true });
  await untilEqual('performance', primary, secondary);
  const { body: role } = await secondary.v1('GET', 'auth/approle/role/edge/role-id');
  const { body: made } = await secondary.v1('POST', 'auth/approle/role/edge/secret-id', {
    num_uses: 1,
  });
  const credentials = { role_id: role.data.role_id, secret_id: made.data.secret_id };
  expect((await logIn(primary, 'auth/approle/login', credentials)).status).toBe(400);
  expect((await logIn(secondary, 'auth/approle/login', credentials)).status).toBe(200);
  expect((await logIn(secondary, 'auth/approle/login', credentials)).status).toBe(400);
});

test('a provider that the secondary configures is that of both, with tokens of the one cluster', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const pem = publicKey.export({ type: 'spki', format: 'pem' });
  const config = { jwt_validation_pubkeys: pem, default_role: 'ci' };
  expect((await secondary.v1('POST', 'auth/jwt/config', config)).status).toBe(204);
  const role = { role_type: 'jwt', user_claim: 'sub', bound_subject: 'job' };
  expect((await secondary.v1('POST', 'auth/jwt/role/ci', role)).status).toBe(204);
  await untilEqual('performance', primary, secondary);
  const jwt = signClaims(privateKey, { sub: 'job', exp: Math.floor(Date.now() / 1000) + 60 });
  for (const [here, elsewhere] of [
    [primary, secondary],
    [secondary, primary],
  ] as const) {
    const { body, status } = await logIn(here, 'auth/jwt/login', { jwt });
    expect([status, body.errors]).toEqual([200, undefined]);
    const { client_token: token } = body.auth;
    expect(await ownTokenAt(here, token)).toBe(200);
    expect(await ownTokenAt(elsewhere, token)).toBe(403);
  }
});

test('a browser that brings its token signs in where its login began, and at no other cluster', async () => {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  let issuer = '';
  const provider = createServer(({ url }, response) => {
    const described = { issuer, jwks_uri: `${issuer}/keys`, authorization_endpoint: issuer };
    const keys = { keys: [publicKey.export({ format: 'jwk' })] };
    response.end(JSON.stringify(url === '/keys' ? keys : described));
  });
  await once(provider.listen(0, '127.0.0.1'), 'listening');
  issuer = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  try {
    const redirect_uri = 'http://localhost:8250/oidc/callback';
    await primary.v1('POST', 'sys/auth/oidc', { type: 'oidc' });
    await primary.v1('POST', 'auth/oidc/config', {
      oidc_discovery_url: issuer,
      oidc_client_id: 'keelson',
      oidc_client_secret: 'a secret of the test',
      oidc_response_mode: 'form_post',
      oidc_response_types: 'id_token',
      default_role: 'people',
    });
    const role = { user_claim: 'sub', allowed_redirect_uris: redirect_uri };
    await primary.v1('POST', 'auth/oidc/role/people', role);
    await untilEqual('performance', primary, secondary);
    const client_nonce = 'a nonce of the test';
    for (const [here, elsewhere] of [
      [primary, secondary],
      [secondary, primary],
    ] as const) {
      const asked = { redirect_uri, client_nonce };
      const begun = await logIn(here, 'auth/oidc/oidc/auth_url', asked);
      const { nonce, state } = Object.fromEntries(new URL(begun.body.data.auth_url).searchParams);
      const iat = Math.floor(Date.now() / 1000);
      const claims = { iss: issuer, sub: 'ann', aud: 'keelson', nonce, iat, exp: iat + 60 };
      const form = { state: state ?? '', id_token: signClaims(privateKey, claims), client_nonce };
      const bring = async (cluster: Cluster): Promise<number> => {
        const at = `${cluster.process().http}/v1/auth/oidc/oidc/callback`;
        await fetch(at, { method: 'POST', body: new URLSearchParams(form) });
        return (await fetch(`${at}?${new URLSearchParams(form).toString()}`)).status;
      };
      expect(await bring(elsewhere)).toBe(400);
      expect([await bring(here), await bring(here)]).toEqual([200, 400]);
      expect(await bring(elsewhere)).toBe(400);
    }
  } finally {
    provider.closeAllConnections();
    provider.close();
  }
});

test('service accounts sign in at both, with tokens of the one cluster, until the account or the role is gone', async () => {
  const cluster = await startKubernetesApi();
  try {
    cluster.reviewers.add('reviewer');
    const api = { kubernetes_host: cluster.url, kubernetes_ca_cert: cluster.caPem };
    const config = { ...api, token_reviewer_jwt: 'reviewer' };
    expect((await secondary.v1('POST', 'auth/kubernetes/config', config)).status).toBe(204);
    const bound = { bound_service_account_names: 'web', bound_service_account_namespaces: 'shop' };
    const role = { ...bound, audience: 'keelson' };
    expect((await secondary.v1('POST', 'auth/kubernetes/role/web', role)).status).toBe(204);
    await untilEqual('performance', primary, secondary);
    const jwt = cluster.issue('shop/web', ['keelson']);
    const entities = new Set<string>();
    for (const [here, elsewhere] of [
      [primary, secondary],
      [secondary, primary],
    ] as const) {
      const { body, status } = await logIn(here, 'auth/kubernetes/login', { role: 'web', jwt });
      expect([status, body.errors]).toEqual([200, undefined]);
      const { client_token: token } = body.auth;
      entities.add(body.auth.entity_id as string);
      expect(await ownTokenAt(here, token)).toBe(200);
      expect(await ownTokenAt(elsewhere, token)).toBe(403);
      expect((await here.v1('POST', 'auth/token/renew-self', {}, token)).status).toBe(200);
      await untilEqual('performance', primary, secondary);
    }
    expect(entities.size).toBe(1);
    cluster.revoke(jwt);
    for (const here of [primary, secondary])
      expect((await logIn(here, 'auth/kubernetes/login', { role: 'web', jwt })).status).toBe(403);
    await primary.v1('DELETE', 'auth/kubernetes/role/web');
    await untilEqual('performance', primary, secondary);
    const { body } = await logIn(secondary, 'auth/kubernetes/login', { role: 'web', jwt });
    expect(body.errors).toEqual(['invalid role name "web"']);
  } finally {
    await cluster.stop();
  }
});

test('a run of the primary signs in at both, and at neither once its phase has ended', async () => {
  const { workspaces, finish, signInAt } = await startRunWithToken(primary);
  const keyIds = async (): Promise<readonly string[]> => {
    await untilEqual('performance', primary, secondary);
    const sets = await Promise.all(
      [primary, secondary].map(async (cluster) =>
        (await fetch(`${cluster.process().http}/.well-known/jwks`)).json(),
      ),
    );
    expect(sets[1]).toEqual(sets[0]);
    return (sets[0] as { readonly keys: readonly { readonly kid: string }[] }).keys.map(
      ({ kid }) => kid,
    );
  };
  const first = await keyIds();
  expect(first).toHaveLength(1);
  const statuses = () => Promise.all([primary, secondary].map(signInAt));
  expect(await statuses()).toEqual([200, 200]);
  await workspaces('POST', 'admin/oidc-settings/actions/rotate-key', {});
  const both = await keyIds();
  expect(both).toEqual([...first, expect.any(String)]);
  expect(await statuses()).toEqual([200, 200]);
  await finish();
  await untilEqual('performance', primary, secondary);
  expect(await statuses()).toEqual([400, 400]);
  await workspaces('POST', 'admin/oidc-settings/actions/trim-key', {});
  expect(await keyIds()).toEqual(both.slice(1));
});

test('a person sets a password and signs in at the secondary, with a session of both clusters', async () => {
  const resource = (type: string, attributes: object) => ({ data: { type, attributes } });
  const settings = resource('sign-in-settings', { 'passwords-enabled': true });
  expect((await primary.api('PATCH', 'admin/sign-in-settings', settings)).status).toBe(200);
  const user = resource('users', { username: 'grace', email: 'grace@keelson.example' });
  await primary.api('POST', 'admin/users', user);
  await untilEqual('performance', primary, secondary);
  const asked = resource('password-resets', { email: 'grace@keelson.example' });
  expect((await secondary.api('POST', 'password-resets', asked, '')).status).toBe(202);
  const text = (await mail.mail(0)).replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const code = /\/app\/new-password#(\S+)\r/.exec(text)?.[1] ?? '';
  const password = 'three words and a 4th';
  const given = resource('password-resets', { password });
  const set = 'password-reset/actions/set-password';
  await untilEqual('performance', primary, secondary);
  expect((await secondary.api('POST', set, given, code)).status).toBeLessThan(300);
  const signInAt = (cluster: Cluster, guess: string, passcode?: string) =>
    cluster.api(
      'POST',
      'sessions',
      resource('sessions', { login: 'grace', password: guess, ...(passcode && { passcode }) }),
      '',
    );
  const signed = await signInAt(secondary, password);
  expect(signed.status).toBe(201);
  const { token } = signed.body.data.attributes;
  await untilEqual('performance', primary, secondary);
  const statuses = () =>
    Promise.all(
      [primary, secondary].map(
        async (cluster) => (await cluster.api('GET', 'account/sessions', undefined, token)).status,
      ),
    );
  expect(await statuses()).toEqual([200, 200]);
  const factor = (path: string, attributes: object) =>
    secondary.api('POST', `account/two-factor${path}`, resource('two-factors', attributes), token);
  const begun = await factor('', { 'current-password': password });
  const app = URI.parse(begun.body.data.attributes['provisioning-url']);
  await untilEqual('performance', primary, secondary);
  const timestamp = Date.now();
  const earlier = app.generate({ timestamp: timestamp - 30_000 });
  expect((await factor('/actions/verify', { passcode: earlier })).status).toBe(200);
  await untilEqual('performance', primary, secondary);
  const passcode = app.generate({ timestamp });
  expect((await signInAt(secondary, password, passcode)).status).toBe(201);
  for (const cluster of [primary, secondary])
    expect((await signInAt(cluster, password, passcode)).status).toBe(422);
  await primary.api('POST', `admin/users/${begun.body.data.id}/actions/disable_two_factor`);
  await untilEqual('performance', primary, secondary);
  const ended = await secondary.api('DELETE', 'account/session', undefined, token);
  expect(ended.status).toBeLessThan(300);
  await untilEqual('performance', primary, secondary);
  expect(await statuses()).toEqual([401, 401]);
  // Each cluster counts failures for itself.
  const guesses = Array.from({ length: 6 }, (_, at) => `guess ${at}`);
  const answers: number[] = [];
  for (const guess of guesses) answers.push((await signInAt(secondary, guess)).status);
  expect(answers).toEqual([401, 401, 401, 401, 401, 429]);
  expect((await signInAt(secondary, password)).status).toBe(429);
  expect((await signInAt(primary, password)).status).toBe(201);
});

test('while the primary is away, a passcode signs nobody in at the secondary, and whoever needs none goes on', async () => {
  const { app, finish } = await addPasscodeUser('joan');
  await primary.v1('POST', 'auth/userpass/users/mary', { password: 'pw' });
  await untilEqual('performance', primary, secondary);
  const signIn = async (): Promise<number> =>
    (await logIn(secondary, 'auth/userpass/login/mary', { password: 'pw' })).status;
  expect(await signIn()).toBe(200);
  await primary.process().stop();
  expect(await finish(secondary, app.generate())).toEqual([
    503,
    expect.stringContaining('primary'),
  ]);
  expect(await signIn()).toBe(200);
});
