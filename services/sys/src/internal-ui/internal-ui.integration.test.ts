import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const enable = (path: string, body: object = {}) =>
  harness.asRoot('POST', `sys/mounts/${path}`, { body: { type: 'sample', ...body } });
describe('the mounts', () => {
  test('contains only visible mounts, reduced, for anonymous callers', async () => {
    await enable('open', { config: { listing_visibility: 'unauth' } });
    await enable('closed');
    const { body } = await harness.call('GET', 'sys/internal/ui/mounts');
    expect(body.data).toEqual({
      auth: {},
      secret: { 'open/': { type: 'sample', description: '', options: null } },
    });
  });

  test('contains the mounts that the policies of a token reach', async () => {
    await enable('open');
    const token = await harness.createToken(['default']);
    const full = (await harness.asRoot('GET', 'sys/internal/ui/mounts')).body.data;
    expect(Object.keys(full.secret)).toEqual(['cubbyhole/', 'identity/', 'open/', 'sys/']);
    expect(Object.keys(full.auth)).toEqual(['token/']);
    const little = (await harness.call('GET', 'sys/internal/ui/mounts', { token })).body.data;
    expect(Object.keys(little.secret)).toEqual(['cubbyhole/', 'identity/', 'sys/']);
    expect((await harness.asRoot('GET', 'sys/internal/ui/mounts/open/x')).body.data).toMatchObject({
      path: 'open/',
    });
    for (const path of ['open', 'absent'])
      expect(await harness.call('GET', `sys/internal/ui/mounts/${path}`, { token })).toEqual({
        status: 403,
        body: {
          errors: [
            `preflight capability check returned 403, please ensure client's policies grant access to path "${path}/"`,
          ],
        },
      });
  });
});

describe('the resultant ACL', () => {
  const PATH = 'sys/internal/ui/resultant-acl';
  const resultant = async (token: string, namespace = '') =>
    (await harness.call('GET', PATH, { token, namespace })).body.data;

  test('is a single flag for a root token, and refused without a token', async () => {
    expect((await harness.asRoot('GET', PATH)).body.data).toEqual({ root: true });
    expect((await harness.call('GET', PATH)).status).toBe(403);
  });

  test('combines the policies of a token by path and kind of path', async () => {
    const put = (name: string, policy: string) =>
      harness.asRoot('PUT', `sys/policies/acl/${name}`, { body: { policy } });
    await put(
      'one',
      `path "a/b" {
        capabilities = ["create", "patch"]
        required_parameters = ["ttl"]
        allowed_parameters = { "ttl" = ["1h"], "*" = [] }
        denied_parameters = { "ip" = [] }
        min_wrapping_ttl = "1m"
        max_wrapping_ttl = "2m"
      }
      path "c/*" { capabilities = ["read"] }
      path "d/+/e" { capabilities = ["list"] }
      path "d/+/f*" { capabilities = ["sudo"] }
      path "none" { capabilities = [] }`,
    );
    await put('two', 'path "a/b" { policy = "read" } path "c/*" { policy = "deny" }');
    const body = { policies: ['one', 'two'], no_default_policy: true };
    const { client_token: token } = (await harness.asRoot('POST', 'auth/token/create', { body }))
      .body.auth;
    expect((await harness.call('GET', PATH, { token })).status).toBe(403);
    await put('reader', `path "${PATH}" { capabilities = ["read"] }`);
    body.policies.push('reader');
    const reader = (await harness.asRoot('POST', 'auth/token/create', { body })).body.auth;
    expect(await resultant(reader.client_token)).toEqual({
      root: false,
      exact_paths: {
        'a/b': {
          capabilities: ['create', 'list', 'patch', 'read'],
          min_wrapping_ttl: 60,
          max_wrapping_ttl: 120,
          allowed_parameters: { ttl: ['1h'], '*': [] },
          denied_parameters: { ip: [] },
          required_parameters: ['ttl'],
        },
        'd/+/e': { capabilities: ['list'] },
        none: { capabilities: ['deny'] },
        [PATH]: { capabilities: ['read'] },
      },
      glob_paths: { 'c/': { capabilities: ['deny'] }, 'd/+/f': { capabilities: ['sudo'] } },
    });
  });

  test('is granted by the default policy and contains paths from the root namespace', async () => {
    await harness.asRoot('POST', 'sys/namespaces/team');
    const made = await harness.asRoot('POST', 'team/auth/token/create', {
      body: { policies: ['default'], no_parent: true },
    });
    const { exact_paths, glob_paths } = await resultant(made.body.auth.client_token, 'team');
    expect(exact_paths).toMatchObject({
      'team/auth/token/lookup-self': { capabilities: ['read'] },
      [`team/${PATH}`]: { capabilities: ['read'] },
    });
    expect(Object.keys(glob_paths)).toEqual(['team/cubbyhole/', 'team/sys/tools/hash/']);
  });
});

test('the namespaces are those directly below that the caller reaches', async () => {
  for (const path of ['a', 'a/b', 'c']) await harness.asRoot('POST', `sys/namespaces/${path}`);
  const PATH = 'sys/internal/ui/namespaces';
  const keys = async (token: string) =>
    (await harness.call('GET', PATH, { token })).body?.data?.keys ?? [];
  expect((await harness.asRoot('GET', PATH)).body.data).toEqual({ keys: ['a/', 'c/'] });
  await harness.asRoot('PUT', 'sys/policies/acl/below', {
    body: {
      policy: `path "${PATH}" { capabilities = ["read"] } path "a/*" { capabilities = ["read"] }`,
    },
  });
  expect(await keys(await harness.createToken(['below']))).toEqual(['a/']);
});
