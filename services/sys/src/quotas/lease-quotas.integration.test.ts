/**
 * Numbers of leases (`sys/quotas/lease-count`).
 *
 * | case                                                  | outcome                                              |
 * | ----------------------------------------------------- | ---------------------------------------------------- |
 * | logins at a mount, one more than the quota allows     | refused with 429; room again once a token has ended  |
 * | twenty logins at once                                 | as many as the quota allows                          |
 * | secrets with a lease at a mount, below a path         | the engine is refused before it gives another        |
 * | a namespace                                           | counts secrets and tokens, those created too         |
 * | an inherited quota                                    | counts all namespaces together that have none        |
 * | a role at a mount                                     | counts the tokens of its logins alone                |
 * | batch tokens                                          | are no leases                                        |
 * | a mount that is moved or disabled                     | takes its quota along                                |
 * | values out of range, wrong places                     | refused by name                                      |
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { joinMethod, logIn, mountMethod } from '../../test/login-steps.ts';
import { type Document, openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const QUOTA = 'sys/quotas/lease-count';
const EXCEEDED = { code: 'request.lease_quota_exceeded' };

let harness: SysHarness;
let people: string;
let ca: string;
beforeEach(async () => {
  harness = await openInitializedSys();
  await joinMethod(harness);
  ({ uuid: people } = await mountMethod(harness, 'people'));
  await harness.asRoot('POST', 'sys/mounts/ca', { body: { type: 'sample' } });
  ca = (await harness.asRoot('GET', 'sys/mounts/ca')).body.data.uuid;
  await harness.createNamespace('team');
  await harness.asRoot('POST', 'sys/namespaces/unit', { namespace: 'team' });
});
afterEach(() => harness.close());

const put = async (name: string, body: Document): Promise<Document> =>
  harness.asRoot('POST', `${QUOTA}/${name}`, { body });
const read = async (name: string): Promise<Document> =>
  (await harness.asRoot('GET', `${QUOTA}/${name}`)).body.data;

/** Registers a lease if there is room for one, as engines do. */
const lease = async (requestPath: string, mountUuid = ca): Promise<void> => {
  const { requireRoom, register } = harness.sys.ledger;
  await requireRoom({ mountUuid, requestPath });
  const { audit } = await harness.resolve('GET', 'auth/token/lookup-self', {
    token: await harness.createToken(['default']),
  });
  await register({
    mountUuid,
    requestPath: `/${requestPath}`,
    tokenHash: audit?.caller?.tokenHash ?? '',
    namespace: { id: 'root', path: '' },
    ttlSeconds: 600,
    maxTtlSeconds: 3600,
    renewable: true,
    engineData: Buffer.from('serial'),
    tokenType: 'service',
  });
};

describe('a quota of a mount', () => {
  test('limits the tokens of its logins, exactly, until one of them ends', async () => {
    expect((await put('people', { path: 'auth/people', max_leases: 5 })).status).toBe(204);
    const tried = await Promise.allSettled(
      Array.from({ length: 20 }, (_, index) => logIn(harness, people, { aliasName: `p${index}` })),
    );
    const found = tried.filter((one) => one.status === 'fulfilled');
    expect(found).toHaveLength(5);
    const refused = tried.filter((one) => one.status === 'rejected');
    for (const { reason } of refused) expect(reason).toMatchObject(EXCEEDED);
    expect(refused).toHaveLength(15);
    expect(await read('people')).toEqual({
      type: 'lease-count',
      name: 'people',
      path: 'auth/people/',
      max_leases: 5,
      counter: 5,
      inheritable: false,
      role: '',
    });
    await expect(logIn(harness, people)).rejects.toThrow(
      'request path "auth/people/login": lease count quota exceeded',
    );
    const batch = await logIn(harness, people, { limits: { tokenType: 'batch' } });
    expect(batch.token_type).toBe('batch');
    const [first] = found;
    const token = first?.status === 'fulfilled' ? first.value.client_token : '';
    await harness.asRoot('POST', 'auth/token/revoke', { body: { token } });
    await logIn(harness, people);
    await expect(logIn(harness, people)).rejects.toMatchObject(EXCEEDED);
  });

  test('of a role limits the tokens of its logins, and no others', async () => {
    const { uuid } = await mountMethod(harness, 'machines', { type: 'approle' });
    await put('machines', { path: 'auth/machines', max_leases: 3 });
    const quota = { path: 'auth/machines', role: 'Web', max_leases: 2 };
    expect((await put('web', quota)).status).toBe(204);
    const tried = await Promise.allSettled(
      ['web', 'WEB', 'web', 'web'].map((role, index) =>
        logIn(harness, uuid, { role, aliasName: `web${index}` }),
      ),
    );
    expect(tried.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    expect(await read('web')).toMatchObject({ role: 'web', counter: 2, max_leases: 2 });
    // The mount counts all of them.
    await logIn(harness, uuid, { role: 'web2' });
    await expect(logIn(harness, uuid, { role: 'web2' })).rejects.toMatchObject(EXCEEDED);
    await expect(logIn(harness, uuid)).rejects.toMatchObject(EXCEEDED);
    expect((await read('machines')).counter).toBe(3);
  });

  test('limits its secrets with a lease, all of them or those below a path', async () => {
    await put('all', { path: 'ca', max_leases: 3 });
    await put('web', { path: 'ca/issue/web', max_leases: 1 });
    await lease('issue/web');
    await expect(lease('issue/web')).rejects.toMatchObject(EXCEEDED);
    await lease('issue/website');
    await lease('issue/mail');
    await expect(lease('issue/mail')).rejects.toThrow(
      'request path "ca/issue/mail": lease count quota exceeded',
    );
    expect([(await read('all')).counter, (await read('web')).counter]).toEqual([3, 1]);
    await put('many', { path: 'ca/issue/m*', max_leases: 2 });
    await lease('issue/mail');
    expect((await read('many')).counter).toBe(2);
    // Leases that are there already stay.
    expect((await put('all', { path: 'ca', max_leases: 1 })).status).toBe(204);
    expect((await read('all')).counter).toBe(2);
  });

  test('goes with the mount', async () => {
    await put('all', { path: 'ca', max_leases: 1 });
    await harness.asRoot('POST', 'sys/remount', { body: { from: 'ca', to: 'team/ca' } });
    expect((await read('all')).path).toBe('team/ca/');
    await harness.asRoot('DELETE', 'sys/mounts/ca', { namespace: 'team' });
    expect((await harness.asRoot('GET', `${QUOTA}/all`)).status).toBe(404);
  });
});

describe('a quota of a namespace', () => {
  const create = (namespace: string, body: Document = {}) =>
    harness.asRoot('POST', 'auth/token/create', {
      namespace,
      body: { no_parent: true, policies: ['default'], ...body },
    });

  test('counts tokens and secrets of the namespace', async () => {
    await put('team', { path: 'team', max_leases: 2 });
    expect((await create('team')).status).toBe(200);
    await harness.asRoot('POST', 'sys/mounts/ca', { namespace: 'team', body: { type: 'sample' } });
    const { uuid } = (await harness.asRoot('GET', 'sys/mounts/ca', { namespace: 'team' })).body
      .data;
    await lease('issue/web', uuid);
    const refused = await create('team');
    expect([refused.status, refused.body.errors]).toEqual([
      429,
      ['request path "auth/token/create": lease count quota exceeded'],
    ]);
    expect((await create('team', { type: 'batch', ttl: '1h' })).status).toBe(200);
    expect((await create('team/unit')).status).toBe(200);
    expect((await create('')).status).toBe(200);
    expect((await read('team')).counter).toBe(2);
  });

  test('counts all namespaces together that inherit it, but for those with one of their own', async () => {
    await put('team', { path: 'team', max_leases: 2, inheritable: true });
    expect((await create('team')).status).toBe(200);
    expect((await create('team/unit')).status).toBe(200);
    expect((await create('team')).status).toBe(429);
    expect((await create('team/unit')).status).toBe(429);
    await put('unit', { path: 'team/unit', max_leases: 2 });
    expect((await create('team/unit')).status).toBe(200);
    expect((await create('team/unit')).status).toBe(429);
    expect((await read('unit')).counter).toBe(2);
  });
});

test.for<[body: Document, text: string]>([
  [{}, 'max_leases is missing: the number of leases'],
  [{ max_leases: 0 }, 'max_leases is 1 to 100000'],
  [{ max_leases: 100_001 }, 'max_leases is 1 to 100000'],
  [{ max_leases: 'many' }, 'error converting input for field "max_leases"'],
  [{ max_leases: 1, path: 'absent' }, 'is neither a namespace nor in a mount'],
  [{ max_leases: 1, path: 'auth/token' }, 'of a whole auth method other than auth/token'],
  [{ max_leases: 1, path: 'auth/people/login' }, 'of a whole auth method other than auth/token'],
  [{ max_leases: 1, path: 'ca', inheritable: true }, 'inheritable must be false'],
  [{ max_leases: 1, path: 'auth/people', role: 'web' }, 'role must be empty'],
])('%j is refused: %s', async ([body, text]) => {
  const { status, body: answer } = await put('one', body);
  expect([status, answer.errors[0]]).toEqual([400, expect.stringContaining(text)]);
  expect((await harness.asRoot('LIST', QUOTA)).status).toBe(404);
});

test('a quota has a place of its own, and ends when it is deleted, more than once', async () => {
  await put('one', { path: 'ca', max_leases: 1 });
  expect((await put('two', { path: 'ca/', max_leases: 1 })).body.errors).toEqual([
    'the path has the quota "one" already',
  ]);
  expect((await harness.asRoot('LIST', QUOTA)).body.data.keys).toEqual(['one']);
  for (let turn = 0; turn < 2; turn += 1)
    expect((await harness.asRoot('DELETE', `${QUOTA}/one`)).status).toBe(204);
  await lease('issue/web');
  await lease('issue/web');
});
