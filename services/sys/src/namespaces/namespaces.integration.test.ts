import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const refusal = (text: string) => ({ status: 400, body: { errors: [text] } });

describe('namespaces', () => {
  test('nest, list their direct children and carry metadata', async () => {
    expect((await harness.asRoot('LIST', 'sys/namespaces')).status).toBe(404);
    const made = await harness.asRoot('POST', 'sys/namespaces/team', {
      body: { custom_metadata: { owner: 'platform' } },
    });
    expect(made.body.data).toEqual({
      id: expect.stringMatching(/^[A-Za-z0-9]{5}$/),
      path: 'team/',
      custom_metadata: { owner: 'platform' },
    });
    const id = await harness.createNamespace('team/web');
    expect((await harness.asRoot('LIST', 'sys/namespaces')).body.data).toEqual({
      keys: ['team/'],
      key_info: { 'team/': made.body.data },
    });
    const inTeam = { namespace: 'team' };
    expect((await harness.asRoot('LIST', 'sys/namespaces/', inTeam)).body.data.keys).toEqual([
      'web/',
    ]);
    expect((await harness.asRoot('GET', 'sys/namespaces/web', inTeam)).body.data).toEqual({
      id,
      path: 'team/web/',
      custom_metadata: {},
    });
    expect((await harness.asRoot('GET', 'sys/namespaces/none')).status).toBe(404);
  });

  test.for([
    ['root', '"root" is a reserved path and cannot be used as a namespace'],
    ['team/sys', '"sys" is a reserved path and cannot be used as a namespace'],
    ['absent/child', 'parent namespace "absent/" does not exist'],
    ['a+', 'a namespace name consists of letters, digits and the characters _ - . ~ @ : = ,'],
    ['team/..', 'relative paths not supported'],
    ['pki', 'path is already in use at pki/inner/'],
  ] as const)('refuse the path %s', async ([path, text]) => {
    await harness.createNamespace('team');
    await harness.asRoot('POST', 'sys/mounts/pki/inner', { body: { type: 'sample' } });
    expect(await harness.asRoot('POST', `sys/namespaces/${path}`)).toEqual(refusal(text));
  });

  test('change their metadata by merge patch', async () => {
    await harness.asRoot('POST', 'sys/namespaces/team', {
      body: { custom_metadata: { a: '1', b: '2' } },
    });
    const patch = (body: object, path = 'team') =>
      harness.asRoot('PATCH', `sys/namespaces/${path}`, { body });
    expect(
      (await patch({ custom_metadata: { a: null, c: '3' } })).body.data.custom_metadata,
    ).toEqual({ b: '2', c: '3' });
    expect((await patch({ custom_metadata: null })).body.data.custom_metadata).toEqual({});
    expect((await patch({ custom_metadata: { a: 5 } })).status).toBe(400);
    expect((await patch({}, 'none')).status).toBe(404);
    expect(
      (
        await harness.asRoot('PATCH', 'sys/namespaces/team', {
          body: {},
          contentType: 'text/plain',
        })
      ).status,
    ).toBe(415);
  });

  test('are deleted with all their contents, once they have no children', async () => {
    const team = await harness.createNamespace('team');
    await harness.createNamespace('team/web');
    const inTeam = { namespace: 'team' };
    await harness.asRoot('POST', 'sys/mounts/pki', { ...inTeam, body: { type: 'sample' } });
    await harness.asRoot('POST', 'sys/config/ui/custom-messages', {
      ...inTeam,
      body: { title: 'x', message: '', start_time: 0 },
    });
    const token = await harness.createToken(['root'], 'team');
    await harness.call('POST', 'cubbyhole/x', { ...inTeam, token, body: { a: 1 } });
    expect(await harness.asRoot('DELETE', 'sys/namespaces/team')).toEqual(
      refusal(`cannot delete namespace (${team}): contains child namespaces`),
    );
    expect((await harness.asRoot('DELETE', 'sys/namespaces/team/web')).body.data).toEqual({
      status: 'deleted',
    });
    expect((await harness.asRoot('DELETE', 'sys/namespaces/team')).status).toBe(200);
    expect((await harness.asRoot('DELETE', 'sys/namespaces/team')).body).toMatchObject({
      data: null,
      warnings: ['requested namespace does not exist'],
    });
    for (const prefix of ['shared/', 'local/']) {
      const paths = (await harness.store.scan(prefix)).map(({ path }) => path);
      expect(paths.filter((path) => path.includes(`/${team}/`))).toEqual([]);
    }
    expect((await harness.asRoot('GET', 'team/sys/mounts')).status).toBe(404);
  });
});

test('a locked namespace locks all below it until the key or a root token unlocks it', async () => {
  await harness.createNamespace('team');
  await harness.createNamespace('team/web');
  const path = 'sys/namespaces/api-lock/unlock';
  await harness.asRoot('PUT', 'team/sys/policies/acl/unlocker', {
    body: { policy: `path "${path}" { capabilities = ["update"] }` },
  });
  const unlocker = await harness.createToken(['unlocker'], 'team');
  const status = async (below: string) =>
    (await harness.asRoot('GET', `${below}sys/mounts`)).status;
  const { body } = await harness.asRoot('POST', 'sys/namespaces/api-lock/lock/team');
  expect([await status('team/web/'), await status('')]).toEqual([503, 200]);
  expect(await harness.asRoot('POST', 'sys/namespaces/api-lock/lock/team')).toEqual(
    refusal('namespace "team/" is already locked'),
  );
  const unlock = (sent: object) =>
    harness.call('POST', path, {
      namespace: 'team',
      token: unlocker,
      ...sent,
    });
  expect(await unlock({})).toEqual(refusal('unlock_key must be supplied'));
  expect(await unlock({ body: { unlock_key: 'wrong' } })).toEqual(refusal('incorrect unlock key'));
  expect((await unlock({ body: body.data })).status).toBe(204);
  expect(await status('team/web/')).toBe(200);
  await harness.asRoot('POST', 'sys/namespaces/api-lock/lock/team');
  expect((await harness.asRoot('POST', 'sys/namespaces/api-lock/unlock/team')).status).toBe(204);
  expect(await status('team/web/')).toBe(200);
});
