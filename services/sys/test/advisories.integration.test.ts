/**
 * Published advisories of comparable products, tried here. docs/advisories.md lists them, and
 * deploy/test/documentation.test.ts compares the page with these tests.
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from './sys-harness.ts';

const ALL = 'path "*" { policy = "sudo" }';

let harness: SysHarness;
/** Tokens with every right in their own namespace, and in no other. */
const owners = new Map<string, { readonly token: string; readonly accessor: string }>();
const OTHERS = [
  ['', 'a'],
  ['b', 'a'],
  ['a/inner', 'a'],
  ['a', 'a/inner'],
  ['a', ''],
] as const;

beforeAll(async () => {
  harness = await openInitializedSys();
  for (const path of ['a', 'b', 'a/inner']) await harness.createNamespace(path);
  for (const namespace of ['', 'a', 'b', 'a/inner']) {
    await harness.asRoot('PUT', 'sys/policies/acl/all', { namespace, body: { policy: ALL } });
    const body = { policies: ['all'], no_parent: true, ttl: '1h' };
    const made = await harness.asRoot('POST', 'auth/token/create', { namespace, body });
    const { client_token: token, accessor } = made.body.auth;
    owners.set(namespace, { token, accessor });
  }
});
afterAll(() => harness.close());

const ownerOf = (namespace: string) => owners.get(namespace) ?? { token: '', accessor: '' };

test.for(OTHERS)(
  'the accessor of a token of "%s" opens nothing in "%s"',
  async ([of, namespace]) => {
    const { accessor } = ownerOf(of);
    const { token } = ownerOf(namespace);
    for (const path of [
      'auth/token/lookup-accessor',
      'auth/token/renew-accessor',
      'auth/token/revoke-accessor',
      'sys/capabilities-accessor',
    ]) {
      const body = { accessor, paths: ['sys/mounts'] };
      expect(await harness.call('POST', path, { token, namespace, body })).toEqual({
        status: 400,
        body: { errors: ['invalid accessor'] },
      });
    }
    const listed = await harness.call('LIST', 'auth/token/accessors', { token, namespace });
    expect(listed.body.data.keys).not.toContain(accessor);
    const own = { token: ownerOf(of).token, namespace: of };
    const looked = await harness.call('POST', 'auth/token/lookup-accessor', {
      ...own,
      body: { accessor },
    });
    expect([looked.status, looked.body.data.ttl]).toEqual([200, 3600]);
  },
);

const register = async (namespace: string): Promise<string> => {
  const mount = `sys/mounts/pki`;
  await harness.asRoot('POST', mount, { namespace, body: { type: 'sample' } });
  const { body } = await harness.asRoot('GET', mount, { namespace });
  const resolution = await harness.resolve('GET', 'auth/token/lookup-self', {
    ...ownerOf(namespace),
    namespace,
  });
  const { tokenHash = '', namespace: home } = resolution.audit?.caller ?? {};
  const { leaseId } = await harness.sys.ledger.register({
    mountUuid: body.data.uuid,
    requestPath: '/issue/web',
    tokenHash,
    namespace: home,
    ttlSeconds: 600,
    maxTtlSeconds: 3600,
    renewable: true,
    engineData: Buffer.from('serial'),
    tokenType: 'service',
  });
  return leaseId;
};

test('a lease is looked up, renewed and revoked in its own namespace alone, at old and new addresses', async () => {
  const lease = await register('a');
  const verbs = ['leases/lookup', 'leases/renew', 'leases/revoke', 'renew', 'revoke'];
  for (const namespace of ['', 'b', 'a/inner'])
    for (const verb of verbs)
      for (const path of [`sys/${verb}`, `sys/${verb}/${lease}`]) {
        const { token } = ownerOf(namespace);
        const body = { lease_id: lease, sync: true };
        const { status } = await harness.call('POST', path, { token, namespace, body });
        // Revoking an unknown lease succeeds, as it does for one that has ended.
        expect([namespace, path, status < 300 && !verb.endsWith('revoke')]).toEqual([
          namespace,
          path,
          false,
        ]);
      }
  await harness.settle('lease-expiry');
  expect(harness.engine.revoked).toEqual([]);
  const { token } = ownerOf('a');
  const own = await harness.call('POST', 'sys/leases/lookup', {
    token,
    namespace: 'a',
    body: { lease_id: lease },
  });
  expect([own.status, own.body.data.ttl]).toEqual([200, 600]);
});

test.for(['root', 'Root', 'ROOT', 'rOoT', 'ｒｏｏｔ', 'root/child', 'Root/child'])(
  'a namespace cannot be called %s, and the name means no namespace',
  async (name) => {
    const { token } = ownerOf('a');
    const inside = { token, namespace: 'a' };
    const path = `sys/namespaces/${encodeURIComponent(name)}`.replaceAll('%2F', '/');
    expect(await harness.call('POST', path, inside)).toEqual({
      status: 400,
      body: { errors: [expect.stringContaining('is a reserved path')] },
    });
    for (const method of ['PATCH', 'DELETE'])
      await harness.call(method, path, { ...inside, body: { custom_metadata: { own: 'yes' } } });
    const kept = await harness.asRoot('GET', 'sys/namespaces/a');
    expect(kept.body.data).toMatchObject({ path: 'a/', custom_metadata: {} });
    expect((await harness.call('GET', 'sys/mounts', { token, namespace: name })).status).not.toBe(
      200,
    );
  },
);

test.for(['root', 'Root', 'ROOT', ' root', 'root ', 'ro\u00adot', 'ｒｏｏｔ', 'root\u0000'])(
  'the policy name %j gives a token of sudo no rights of root',
  async (name) => {
    const { token } = ownerOf('');
    for (const [path, body] of [
      ['auth/token/create', { policies: [name] }],
      ['auth/token/create-orphan', { policies: [name] }],
      ['auth/token/create', { policies: name }],
    ] as const) {
      const made = await harness.call('POST', path, { token, body });
      if (made.status !== 200) continue;
      expect(made.body.auth.token_policies).not.toContain('root');
      const answer = await harness.call('GET', 'sys/mounts', {
        token: made.body.auth.client_token,
      });
      expect(answer.status).toBe(403);
    }
  },
);

test('a denied wildcard is denied to LIST with and without a slash at the end', async () => {
  await harness.asRoot('PUT', 'sys/policies/acl/most', {
    body: {
      policy: `path "sys/policies/*" { capabilities = ["list", "read"] }
        path "sys/policies/acl/*" { capabilities = ["deny"] }`,
    },
  });
  const token = await harness.createToken(['most']);
  for (const path of ['sys/policies/acl/', 'sys/policies/acl//'])
    expect([path, (await harness.call('LIST', path, { token })).status]).toEqual([path, 403]);
  expect((await harness.call('GET', 'sys/policies/acl/most', { token })).status).toBe(403);
});
