import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openSysHarness, type SysHarness, type SysRequest } from '../../test/sys-harness.ts';

let harness: SysHarness;
let root: string;
beforeEach(async () => {
  harness = await openSysHarness();
  root = (await harness.initialize()).rootToken;
});
afterEach(() => harness.close());

const call = (method: string, path: string, request: SysRequest = {}) =>
  harness.call(method, path, { token: root, ...request });
const tokenWith = async (text: string): Promise<string> => {
  expect((await call('PUT', 'sys/policies/acl/p', { body: { policy: text } })).status).toBe(204);
  const { body } = await call('POST', 'auth/token/create', { body: { policies: ['p'] } });
  return body.auth.client_token;
};

describe('policy endpoints', () => {
  test('write, read, list and delete', async () => {
    const policy = 'path "x" { capabilities = ["read"] }';
    const path = 'sys/policies/acl/Team';
    expect((await call('POST', path, { body: { policy } })).status).toBe(204);
    expect((await call('GET', 'sys/policies/acl/TEAM')).body.data).toEqual({
      name: 'team',
      policy,
    });
    expect((await call('LIST', 'sys/policies/acl')).body.data.keys).toEqual([
      'default',
      'root',
      'team',
    ]);
    const rules = 'path "y" { capabilities = ["list"] }';
    expect((await call('PUT', 'sys/policy/older', { body: { rules } })).body).toMatchObject({
      data: null,
      warnings: ["'rules' is deprecated, please use 'policy' instead"],
    });
    expect((await call('GET', 'sys/policies/acl/older')).body.data.policy).toBe(rules);
    expect((await call('DELETE', 'sys/policy/older')).status).toBe(204);
    for (const body of [{}, { rules: 'nonsense' }])
      expect((await call('PUT', 'sys/policy/older', { body })).status).toBe(400);
    const old = (await call('GET', 'sys/policy/team')).body;
    expect(old).toMatchObject({ name: 'team', rules: policy, data: { rules: policy } });
    expect((await call('GET', 'sys/policy')).body).toMatchObject({
      policies: ['default', 'root', 'team'],
    });
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('DELETE', path)).status).toBe(204);
    expect((await call('GET', path)).status).toBe(404);
    const encoded = Buffer.from(policy).toString('base64');
    expect((await call('PUT', path, { body: { policy: encoded } })).status).toBe(204);
    expect((await call('GET', path)).body.data.policy).toBe(policy);
  });

  test.for<[string, string, unknown, number, string]>([
    ['PUT', 'x', {}, 400, "'policy' parameter not supplied or empty"],
    [
      'PUT',
      'x',
      { policy: 'path' },
      400,
      'failed to parse policy: line 1: expected "=" or "{" after "path"',
    ],
    ['PUT', 'root', { policy: 'path "x" {}' }, 400, 'cannot update "root" policy'],
    [
      'PUT',
      'response-wrapping',
      { policy: 'path "x" {}' },
      400,
      'cannot update "response-wrapping" policy',
    ],
    ['DELETE', 'default', undefined, 400, 'cannot delete default policy'],
    ['DELETE', 'root', undefined, 400, 'cannot delete "root" policy'],
    ['DELETE', 'response-wrapping', undefined, 400, 'cannot delete "response-wrapping" policy'],
  ])('%s %s is refused', async ([method, name, body, status, text]) => {
    const answer = await call(method, `sys/policies/acl/${name}`, { body });
    expect([answer.status, answer.body.errors]).toEqual([status, [text]]);
  });

  test('a changed policy applies from the next request on', async () => {
    const token = await tokenWith('path "sys/policies/acl" { capabilities = ["list"] }');
    const status = async () => (await call('LIST', 'sys/policies/acl', { token })).status;
    expect(await status()).toBe(200);
    await call('PUT', 'sys/policies/acl/p', { body: { policy: 'path "y" { policy = "read" }' } });
    expect(await status()).toBe(403);
    await call('PUT', 'sys/policies/acl/p', {
      body: { policy: '{"path":{"sys/+/acl/":{"capabilities":["list"]}}}' },
    });
    expect(await status()).toBe(200);
    await call('DELETE', 'sys/policies/acl/p');
    expect(await status()).toBe(403);
  });

  test('capabilities of tokens on paths', async () => {
    const token = await tokenWith(`
      path "kv/*" { capabilities = ["read", "list"] }
      path "kv/no" { capabilities = ["deny"] }`);
    const { accessor } = (await call('GET', 'auth/token/lookup-self', { token })).body.data;
    const self = await call('POST', 'sys/capabilities-self', {
      token,
      body: { paths: ['kv/a', 'kv/no', 'other'] },
    });
    expect(self.body.data).toEqual({
      'kv/a': ['list', 'read'],
      'kv/no': ['deny'],
      other: ['deny'],
    });
    const one = await call('POST', 'sys/capabilities', { body: { token, paths: ['kv/a'] } });
    expect(one.body).toMatchObject({ capabilities: ['list', 'read'], 'kv/a': ['list', 'read'] });
    const byAccessor = await call('POST', 'sys/capabilities-accessor', {
      body: { accessor, paths: 'kv/a,kv/no' },
    });
    expect(byAccessor.body.data['kv/no']).toEqual(['deny']);
    const ofRoot = await call('POST', 'sys/capabilities-self', { body: { paths: ['x'] } });
    expect(ofRoot.body.data.capabilities).toEqual(['root']);
  });
});

describe('decisions', () => {
  test('parameter rules request the body and examine it', async () => {
    const token = await tokenWith(`path "sys/policies/acl/t" {
      capabilities = ["update"]
      allowed_parameters = { "policy" = ["path*"] }
    }`);
    const write = async (policy: string) =>
      (await call('PUT', 'sys/policies/acl/t', { token, body: { policy } })).status;
    expect([await write('path "a" {}'), await write('# no')]).toEqual([204, 403]);
  });

  test('create and update are distinguished if a record can exist', async () => {
    const token = await tokenWith('path "auth/token/roles/*" { capabilities = ["create"] }');
    const write = async () =>
      (await call('POST', 'auth/token/roles/r', { token, body: {} })).status;
    expect([await write(), await write()]).toEqual([204, 403]);
  });

  test('wrapping limits refuse unwrapped requests, too', async () => {
    const token = await tokenWith(`path "sys/policies/acl" {
      capabilities = ["list"]
      min_wrapping_ttl = "10s"
      max_wrapping_ttl = "60s"
    }`);
    const list = async (wrapTtlSeconds: number) =>
      (await call('LIST', 'sys/policies/acl', { token, wrapTtlSeconds })).status;
    expect([await list(0), await list(5), await list(30), await list(90)]).toEqual([
      403, 403, 200, 403,
    ]);
  });

  test('sudo is required in addition to the capability on protected paths', async () => {
    const token = await tokenWith('path "sys/rotate" { capabilities = ["update"] }');
    expect((await call('POST', 'sys/rotate', { token })).status).toBe(403);
    const sudo = await tokenWith('path "sys/rotate" { capabilities = ["update", "sudo"] }');
    expect((await call('POST', 'sys/rotate', { token: sudo })).status).toBe(204);
  });

  test('another notation of a path is treated as the path it names', async () => {
    const token = await tokenWith(`
      path "sys/policies/acl/*" { capabilities = ["read", "update"] }
      path "sys/policies/acl/secret" { capabilities = ["deny"] }`);
    const paths = [
      'secret',
      'secret/',
      '/secret',
      '%73ecret',
      'secret%2F',
      'secret#x',
      './secret',
      'x/../secret',
      '%2573ecret',
    ];
    const statuses = [];
    for (const path of paths) {
      statuses.push((await call('GET', `sys/policies/acl/${path}`, { token })).status);
    }
    expect(statuses).toEqual([403, 403, 403, 403, 400, 400, 400, 400, 404]);
  });

  test('restricted endpoints exist in the root namespace only', async () => {
    await call('POST', 'sys/namespaces/a');
    for (const path of ['sys/rotate', 'sys/seal', 'sys/generate-root/attempt', 'sys/audit/x']) {
      const answer = await call('POST', path, { namespace: 'a', body: {} });
      expect([path, answer.status, answer.body.errors]).toEqual([path, 404, ['unsupported path']]);
    }
    expect((await call('GET', 'sys/nothing', { namespace: 'none' })).status).toBe(404);
  });
});
