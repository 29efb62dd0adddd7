/**
 * Tokens of roles (`identity/oidc`).
 *
 * | case                                                        | outcome                                                 |
 * | ----------------------------------------------------------- | ------------------------------------------------------- |
 * | a role with a template, each algorithm                      | a token with its claims, which the key set verifies     |
 * | a name or metadata that looks like JSON                     | a value, and nothing else                               |
 * | a caller without an entity, or whose entity is disabled     | refused                                                 |
 * | a key that does not list the client id                      | refused                                                 |
 * | introspection: valid; other client; expired; disabled       | active, and for all others the reason                   |
 * | introspection of a token of a removed role, `none`, HS256   | not active                                              |
 * | a key in use, the built-in key                              | is not deleted                                          |
 * | settings out of range, unknown keys and algorithms          | refused by name                                         |
 * | a rotation period that has passed                           | the next key signs, which was published before          |
 * | a retired key                                               | verifies until its time is over, without private part   |
 * | the 51st rotation within `verification_ttl`                 | refused                                                 |
 * | the 101st named key                                         | refused                                                 |
 * | a child namespace                                           | has keys, roles and an issuer of its own                |
 * | no issuer and no public address                             | a warning, and no token                                 |
 * | a performance secondary                                     | issues tokens that the keys of the primary verify       |
 */
import { createHmac } from 'node:crypto';
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { joinSet, untilRecord } from '../../test/cluster-steps.ts';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import {
  type Document,
  openInitializedSys,
  openSysHarness,
  type SysHarness,
} from '../../test/sys-harness.ts';

const PUBLIC_URL = 'https://keelson.example';
const DAY_MS = 86_400_000;
const POLICY = 'path "identity/oidc/*" { capabilities = ["read", "update"] }';

let harness: SysHarness;
let uuid: string;
let accessor: string;
beforeAll(async () => {
  harness = await openInitializedSys({ config: { publicUrl: PUBLIC_URL } });
  await joinMethod(harness);
  ({ uuid, accessor } = await mountMethod(harness, 'people'));
  await harness.asRoot('POST', 'sys/policies/acl/own', { body: { policy: POLICY } });
});
afterAll(() => harness.close());

interface Signed {
  readonly token: string;
  readonly entity: string;
}

const signIn = async (aliasName = 'alice', at = harness, mount = uuid): Promise<Signed> => {
  const auth = await logIn(at, mount, { aliasName, limits: { ttlSeconds: 864_000 } });
  return { token: auth.client_token, entity: auth.entity_id };
};

const post = async (path: string, body: Document = {}, namespace = ''): Promise<Document> => {
  const answer = await harness.asRoot('POST', `identity/oidc/${path}`, { body, namespace });
  expect([path, answer.status, answer.body?.errors]).toEqual([
    path,
    expect.toSatisfy((status) => status === 200 || status === 204),
    undefined,
  ]);
  return answer.body;
};

const refusal = async (path: string, body: Document = {}, method = 'POST'): Promise<string> => {
  const answer = await harness.asRoot(method, `identity/oidc/${path}`, { body });
  expect([path, answer.status]).toEqual([path, 400]);
  return answer.body.errors[0];
};

const issue = async (role: string, { token }: Signed, namespace = '') =>
  harness.call('GET', `identity/oidc/token/${role}`, { token, namespace });

const keySet = async (namespace = '', at = harness) =>
  (await at.call('GET', 'identity/oidc/.well-known/keys', { namespace })).body;

const kids = async (): Promise<string[]> =>
  (await keySet()).keys.map(({ kid }: { readonly kid: string }) => kid);

const introspect = async (token: string, client_id?: string): Promise<Document> =>
  (await harness.asRoot('POST', 'identity/oidc/introspect', { body: { token, client_id } })).body;

let serial = 0;
const newRole = async (key: Document = {}, role: Document = {}) => {
  const name = `n${(serial += 1)}`;
  await post(`key/${name}`, { allowed_client_ids: '*', ...key });
  await post(`role/${name}`, { key: name, ...role });
  return name;
};

describe('a token of a role', () => {
  test.for(['RS256', 'ES384', 'EdDSA'])(
    'is signed by %s with the documented claims',
    async (algorithm) => {
      const alice = await signIn();
      await harness.asRoot('POST', `identity/entity/id/${alice.entity}`, {
        body: { metadata: { team: '","sub":"root","x":"' } },
      });
      const group = await harness.asRoot('POST', 'identity/group', {
        body: { name: `crew-${algorithm}`, member_entity_ids: [alice.entity] },
      });
      expect(group.status).toBe(200);
      const template = `{"team": {{identity.entity.metadata.team}}, "all": {{identity.entity.metadata}},
      "none": {{identity.entity.metadata.none}}, "crews": {{identity.entity.groups.names}},
      "who": {{identity.entity.aliases.${accessor}.name}}, "until": {{time.now.plus.1h}}}`;
      const name = await newRole(
        { algorithm },
        { template: Buffer.from(template).toString('base64'), ttl: '1h' },
      );
      const answer = await issue(name, alice);
      expect(answer.status).toBe(200);
      const { token, client_id, ttl } = answer.body.data;
      expect(ttl).toBe(3600);
      expect(client_id).toMatch(/^\w{26}$/);
      const { payload, protectedHeader } = await jwtVerify(
        token,
        createLocalJWKSet(await keySet()),
        {
          currentDate: new Date(harness.clock.nowMs()),
        },
      );
      const now = Math.floor(harness.clock.nowMs() / 1000);
      expect(protectedHeader).toMatchObject({ alg: algorithm, typ: 'JWT' });
      expect(payload).toEqual({
        iss: `${PUBLIC_URL}/v1/identity/oidc`,
        sub: alice.entity,
        aud: client_id,
        iat: now,
        exp: now + 3600,
        namespace: 'root',
        team: '","sub":"root","x":"',
        all: { team: '","sub":"root","x":"' },
        none: '',
        crews: expect.arrayContaining([`crew-${algorithm}`]),
        who: 'alice',
        until: now + 3600,
      });
      expect(await introspect(token)).toEqual({ active: true });
    },
  );

  test('is for an entity that is enabled, with a key that lists the client', async () => {
    const name = await newRole();
    const root = await harness.asRoot('GET', `identity/oidc/token/${name}`);
    expect([root.status, root.body.errors]).toEqual([
      400,
      ["No entity associated with the request's token"],
    ]);
    const bob = await signIn('bob');
    const { token } = (await issue(name, bob)).body.data;
    await harness.asRoot('POST', `identity/entity/id/${bob.entity}`, { body: { disabled: true } });
    expect((await issue(name, bob)).status).toBe(403);
    expect(await introspect(token)).toEqual({
      active: false,
      error: 'entity was not found or is disabled',
    });
    const alice = await signIn();
    await post(`key/${name}`, { allowed_client_ids: 'another' });
    const refused = await issue(name, alice);
    expect(refused.body.errors[0]).toMatch(/does not list the client ID of the role/);
    const unknown = await issue('unknown', alice);
    expect([unknown.status, unknown.body.errors]).toEqual([400, ['role "unknown" not found']]);
  });

  test('is active for its client, until it expires, and only as it was signed', async () => {
    const alice = await signIn();
    const name = await newRole({}, { ttl: 60, client_id: 'mine' });
    const { token } = (await issue(name, alice)).body.data;
    expect(await introspect(token, 'mine')).toEqual({ active: true });
    expect(await introspect(token, 'another')).toMatchObject({ active: false });
    const [head = '', claims = ''] = token.split('.');
    const { kid } = decodeProtectedHeader(token);
    const encode = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const hmac = `${encode({ alg: 'HS256', kid })}.${claims}`;
    const forged = [
      `${encode({ alg: 'none', kid })}.${claims}.`,
      `${hmac}.${createHmac('sha256', JSON.stringify((await keySet()).keys[0]))
        .update(hmac)
        .digest('base64url')}`,
      `${head}.${encode({ ...decodeJwt(token), sub: 'another' })}.${token.split('.')[2]}`,
      'x',
      '',
    ];
    for (const one of forged) expect(await introspect(one)).toMatchObject({ active: false });
    harness.clock.advance(61_000);
    expect(await introspect(token)).toMatchObject({ active: false });
    const fresh = (await issue(name, alice)).body.data.token;
    await harness.asRoot('DELETE', `identity/oidc/role/${name}`);
    expect(await introspect(fresh)).toMatchObject({ active: false });
  });
});

describe('keys and roles', () => {
  test('are shown as they were set, and listed', async () => {
    await post('key/shown', { rotation_period: '2h', verification_ttl: 7200, algorithm: 'ES256' });
    const key = await harness.asRoot('GET', 'identity/oidc/key/shown');
    expect(key.body.data).toEqual({
      algorithm: 'ES256',
      rotation_period: 7200,
      verification_ttl: 7200,
      allowed_client_ids: [],
    });
    await post('role/shown', { key: 'shown', ttl: '30m', template: '{"a":1}', client_id: 'c' });
    await post('role/shown', { ttl: '20m' });
    const role = await harness.asRoot('GET', 'identity/oidc/role/shown');
    expect(role.body.data).toEqual({
      key: 'shown',
      ttl: 1200,
      template: '{"a":1}',
      client_id: 'c',
    });
    expect((await harness.asRoot('LIST', 'identity/oidc/key')).body.data.keys).toEqual(
      expect.arrayContaining(['default', 'shown']),
    );
    expect((await harness.asRoot('LIST', 'identity/oidc/role')).body.data.keys).toContain('shown');
  });

  test.for<[path: string, body: Document, text: RegExp]>([
    ['key/bad', { rotation_period: '59s' }, /rotation_period must be at least one minute/],
    ['key/bad', { rotation_period: '1000000h' }, /at most ten years/],
    ['key/bad', { rotation_period: '1m', verification_ttl: '11m' }, /longer than 10x/],
    ['key/bad', { algorithm: 'HS256' }, /unknown signing algorithm "HS256"/],
    ['key/bad', { algorithm: ['RS256'] }, /"algorithm": expected/],
    ['key/-bad', {}, /the name of a key has/],
    ['key/unknown/rotate', {}, /key "unknown" does not exist/],
    ['role/bad', {}, /the key parameter is required/],
    ['role/bad', { key: 'unknown' }, /key "unknown" does not exist/],
    ['role/bad', { key: 'default', ttl: '25h' }, /longer than the verification_ttl/],
    ['role/bad', { key: 'default', ttl: 0 }, /at least one second/],
    ['role/bad', { key: 'default', template: '{"sub":"root"}' }, /top level key "sub" not allowed/],
    ['role/bad', { key: 'default', template: '["a"]' }, /not an object/],
    ['role/bad', { key: 'default', template: '{"a":}' }, /not valid/],
    ['role/bad', { key: 'default', template: '{"a":{{identity.root}}}' }, /no parameter of claims/],
    ['role/bad', { key: 'default', template: '{"a":{{time.now.plus.x}}}' }, /no duration/],
    ['config', { issuer: 'https://keelson.example/path' }, /invalid issuer/],
    ['config', { issuer: 'javascript:1' }, /invalid issuer/],
    ['introspect', {}, /missing token/],
    ['introspect', { token: 'x'.repeat(20_000) }, /token has at most/],
  ])('%s refuses %j', async ([path, body, text]) => {
    expect(await refusal(path, body)).toMatch(text);
  });

  test('in use are not deleted, and their tokens stay verifiable', async () => {
    const name = await newRole({}, { ttl: '20h' });
    expect(await refusal(`key/${name}`, {}, 'DELETE')).toBe(
      `unable to delete key "${name}" because it is currently referenced by these roles: ${name}`,
    );
    expect(await refusal(`key/${name}`, { verification_ttl: '1h' })).toMatch(/referenced by/);
    expect(await refusal('key/default', {}, 'DELETE')).toBe(
      'deletion of key "default" not allowed',
    );
    await harness.asRoot('DELETE', `identity/oidc/role/${name}`);
    expect((await harness.asRoot('DELETE', `identity/oidc/key/${name}`)).status).toBe(204);
    expect((await harness.asRoot('GET', `identity/oidc/key/${name}`)).status).toBe(404);
  });

  test('rotate: the next key is published before it signs, and a retired one for its time', async () => {
    const alice = await signIn();
    for (const name of (await harness.asRoot('LIST', 'identity/oidc/role')).body.data.keys)
      await harness.asRoot('DELETE', `identity/oidc/role/${name}`);
    const name = await newRole({ rotation_period: '48h', verification_ttl: '24h' });
    const signer = async () =>
      decodeProtectedHeader((await issue(name, alice)).body.data.token).kid ?? '';
    const [first = '', second = '', ...others] = await kids();
    expect(others).toEqual([]);
    expect(await signer()).toBe(first);
    const old = (await issue(name, alice)).body.data.token;
    await harness.settle('oidc-keys');
    expect(await kids()).toEqual([first, second]);
    harness.clock.advance(2 * DAY_MS);
    await harness.settle('oidc-keys');
    expect(await signer()).toBe(second);
    const published = await kids();
    expect(published.slice(0, 2)).toEqual([first, second]);
    expect(published).toHaveLength(3);
    for (const key of (await keySet()).keys) expect(Object.keys(key)).not.toContain('d');
    await expect(
      jwtVerify(old, createLocalJWKSet(await keySet()), { currentDate: new Date(0) }),
    ).resolves.toMatchObject({ protectedHeader: { kid: first } });
    harness.clock.advance(DAY_MS);
    expect(await kids()).toEqual(published.slice(1));
    await harness.settle('oidc-keys');
    const third = published[2] ?? '';
    await post(`key/${name}/rotate`, { verification_ttl: 0 });
    expect(await signer()).toBe(third);
    expect(await kids()).not.toContain(second);
    await post(`key/${name}`, { algorithm: 'ES256' });
    expect(decodeProtectedHeader((await issue(name, alice)).body.data.token).alg).toBe('RS256');
    await post(`key/${name}/rotate`);
    expect(decodeProtectedHeader((await issue(name, alice)).body.data.token).alg).toBe('ES256');
  });

  test('are limited: rotations whose keys are still published, and keys of a namespace', async () => {
    const name = await newRole({ algorithm: 'EdDSA' });
    for (let count = 0; count < 50; count += 1) await post(`key/${name}/rotate`);
    expect(await refusal(`key/${name}/rotate`)).toMatch(/rotated 50 times/);
    await harness.createNamespace('full');
    for (let count = 0; count < 100; count += 1)
      await post(`key/k${count}`, { algorithm: 'EdDSA' }, 'full');
    const one = await harness.asRoot('POST', 'identity/oidc/key/more', {
      body: {},
      namespace: 'full',
    });
    expect([one.status, one.body.errors]).toEqual([
      400,
      ['a namespace has at most 100 named keys'],
    ]);
  });
});

test('a namespace has keys, roles and an issuer of its own', async () => {
  await harness.createNamespace('team');
  const { uuid: own } = await mountMethod(harness, 'people', { namespace: 'team' });
  await harness.asRoot('POST', 'sys/policies/acl/own', {
    body: { policy: POLICY },
    namespace: 'team',
  });
  const carol = await signIn('carol', harness, own);
  await post('role/own', { key: 'default' }, 'team');
  const answer = await issue('own', carol, 'team');
  const { token } = answer.body.data;
  expect(decodeJwt(token)).toMatchObject({
    iss: `${PUBLIC_URL}/v1/team/identity/oidc`,
    sub: carol.entity,
  });
  expect((await keySet('team')).keys).toHaveLength(2);
  expect(await introspect(token)).toMatchObject({ active: false });
  expect((await issue('own', await signIn(), '')).status).toBe(400);
  await post('config', { issuer: 'https://team.example:8443' }, 'team');
  const discovery = await harness.call('GET', 'identity/oidc/.well-known/openid-configuration', {
    namespace: 'team',
  });
  expect(discovery.body).toMatchObject({
    issuer: 'https://team.example:8443/v1/team/identity/oidc',
    jwks_uri: 'https://team.example:8443/v1/team/identity/oidc/.well-known/keys',
  });
});

test('without an issuer and a public address there is a warning, and no token', async () => {
  const bare = await openInitializedSys();
  try {
    const read = await bare.asRoot('GET', 'identity/oidc/config');
    expect([read.body.data, read.body.warnings]).toEqual([
      { issuer: '' },
      [expect.stringMatching(/Neither "issuer" nor KEELSON_PUBLIC_URL/)],
    ]);
    const found = await bare.call('GET', 'identity/oidc/.well-known/openid-configuration');
    expect([found.status, found.body.errors]).toEqual([
      400,
      ['there is no issuer: set "issuer", or KEELSON_PUBLIC_URL for all'],
    ]);
    const set = await bare.asRoot('POST', 'identity/oidc/config', {
      body: { issuer: 'https://k.example' },
    });
    expect(set.body.warnings).toHaveLength(1);
    const after = await bare.asRoot('GET', 'identity/oidc/config');
    expect([after.body.data, after.body.warnings]).toEqual([{ issuer: 'https://k.example' }, null]);
  } finally {
    await bare.close();
  }
});

test('a performance secondary issues tokens that the keys of the primary verify', async () => {
  const transport = inProcessTransport();
  const primary = await openSysHarness({ transport, config: { publicUrl: PUBLIC_URL } });
  await primary.initialize();
  const secondary = await openSysHarness({
    transport,
    config: { publicUrl: 'https://second.example' },
  });
  const { rootToken: root } = await secondary.initialize();
  try {
    await joinSet('performance', primary, { cluster: secondary, root });
    for (const cluster of [primary, secondary]) await joinMethod(cluster);
    const mount = await mountMethod(primary, 'people');
    await primary.asRoot('POST', 'sys/policies/acl/own', { body: { policy: POLICY } });
    await primary.asRoot('POST', 'identity/oidc/key/k', { body: { allowed_client_ids: '*' } });
    await primary.asRoot('POST', 'identity/oidc/role/r', { body: { key: 'k' } });
    await untilRecord(secondary, 'shared/oidc-roles/root/r', true);
    const dave = await signIn('dave', secondary, mount.uuid);
    const { body } = await secondary.call('GET', 'identity/oidc/token/r', { token: dave.token });
    const { payload } = await jwtVerify(
      body.data.token,
      createLocalJWKSet(await keySet('', primary)),
      { currentDate: new Date(primary.clock.nowMs()) },
    );
    expect(payload).toMatchObject({
      iss: 'https://second.example/v1/identity/oidc',
      sub: dave.entity,
    });
  } finally {
    await secondary.close();
    await primary.close();
  }
}, 60_000);
