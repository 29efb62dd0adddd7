/** The method approle: roles, secret ids and logins, as machines and their operators see them. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { type CallMount, mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

let auth: OpenAuth;
beforeAll(async () => {
  auth = await openAuth();
});
afterAll(() => auth.close());

let serial = 0;
let call: CallMount;

/** A mount of its own for each test. */
beforeEach(() => {
  serial += 1;
  const mount = {
    ...mountOf('approle', `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`),
    // Logins that lose a race for a secret id would lock the role id.
    userLockout: { disabled: true, threshold: 5, durationSeconds: 900, counterResetSeconds: 900 },
  };
  auth.logins.length = 0;
  call = (method, path, body, remoteAddress = '127.0.0.1') =>
    auth.call('approle', method, path, body, { mount, remoteAddress });
});

const makeRole = async (settings: object = {}): Promise<string> => {
  expect((await call('POST', 'role/web', settings)).json?.errors).toBeUndefined();
  return (await call('GET', 'role/web/role-id')).data.role_id;
};
const makeSecretId = async (settings: object = {}) => {
  const { data, json } = await call('POST', 'role/web/secret-id', settings);
  expect(json.errors).toBeUndefined();
  return data as { readonly secret_id: string; readonly secret_id_accessor: string };
};
const logIn = (role_id: string, secret_id?: string, address?: string) =>
  call('POST', 'login', { role_id, ...(secret_id !== undefined && { secret_id }) }, address);

const WRONG = ['invalid role or secret ID'];

describe('a role', () => {
  test('has defaults, is found whatever the case of its name, and is changed field by field', async () => {
    await makeRole({ token_policies: ['ci'], token_ttl: '20m' });
    await call('POST', 'role/WEB', { secret_id_num_uses: 3 });
    expect((await call('GET', 'role/Web')).data).toEqual({
      bind_secret_id: true,
      local_secret_ids: false,
      secret_id_bound_cidrs: [],
      secret_id_num_uses: 3,
      secret_id_ttl: 0,
      token_bound_cidrs: [],
      token_explicit_max_ttl: 0,
      token_max_ttl: 0,
      token_no_default_policy: false,
      token_num_uses: 0,
      token_period: 0,
      token_policies: ['ci'],
      token_ttl: 1200,
      token_type: 'default',
      policies: ['ci'],
    });
    expect((await call('LIST', 'role')).data).toEqual({ keys: ['web'] });
  });

  test.for([
    [{ bind_secret_id: false }, /constraint/],
    [{ token_ttl: '2h', token_max_ttl: '1h' }, /token_ttl cannot be greater than token_max_ttl/],
    [{ token_policies: 'root' }, /token_policies cannot contain "root"/],
    [{ token_type: 'batch', token_num_uses: 1 }, /'token_type' cannot be 'batch'/],
    [{ token_type: 'none' }, /token_type must be one of/],
    [{ secret_id_bound_cidrs: '10.0.0.0/33' }, /secret_id_bound_cidrs must be/],
    [{ token_bound_cidrs: 'here' }, /token_bound_cidrs must be/],
    [{ secret_id_num_uses: -1 }, /secret_id_num_uses cannot be negative/],
    [{ token_num_uses: -1 }, /token_num_uses must be between/],
    [{ role_id: 'a/b' }, /role_id may have/],
  ] as const)('is refused with %j', async ([settings, text]) => {
    const { status, json } = await call('POST', 'role/web', settings);
    expect([status, json.errors]).toEqual([400, [expect.stringMatching(text)]]);
    expect((await call('GET', 'role/web')).status).toBe(404);
  });

  test('keeps local_secret_ids from its creation', async () => {
    await makeRole({ local_secret_ids: true });
    const { json } = await call('POST', 'role/web', { local_secret_ids: false });
    expect(json.errors).toEqual(['local_secret_ids can only be modified during role creation']);
    const { secret_id } = await makeSecretId();
    expect(
      (await logIn((await call('GET', 'role/web/role-id')).data.role_id, secret_id)).status,
    ).toBe(200);
  });

  test('has an id of its own that the operator may choose, and no other role may have', async () => {
    const first = await makeRole();
    expect((await call('POST', 'role/web/role-id', { role_id: 'chosen' })).status).toBe(204);
    const { secret_id } = await makeSecretId();
    expect((await logIn(first, secret_id)).json.errors).toEqual(WRONG);
    expect((await logIn('chosen', secret_id)).status).toBe(200);
    const { json } = await call('POST', 'role/other', { role_id: 'chosen' });
    expect(json.errors).toEqual(['role_id is in use by another role']);
  });

  test.for([
    ['policies', 'token_policies', ['a', 'b'], []],
    ['bind-secret-id', 'bind_secret_id', false, true],
    ['secret-id-bound-cidrs', 'secret_id_bound_cidrs', ['10.0.0.0/8'], []],
    ['secret-id-num-uses', 'secret_id_num_uses', 7, 0],
    ['secret-id-ttl', 'secret_id_ttl', 70, 0],
    ['token-ttl', 'token_ttl', 60, 0],
    ['token-max-ttl', 'token_max_ttl', 600, 0],
    ['token-num-uses', 'token_num_uses', 5, 0],
    ['token-bound-cidrs', 'token_bound_cidrs', ['10.0.0.0/8'], []],
    ['period', 'token_period', 90, 0],
  ] as const)('has its parameter %s at a path of its own', async ([path, name, value, reset]) => {
    await makeRole({ token_bound_cidrs: path === 'bind-secret-id' ? ['127.0.0.0/8'] : [] });
    expect((await call('POST', `role/web/${path}`, { [name]: value })).status).toBe(204);
    expect((await call('GET', `role/web/${path}`)).data).toEqual({ [name]: value });
    expect((await call('GET', 'role/web')).data[name]).toEqual(value);
    expect((await call('DELETE', `role/web/${path}`)).status).toBe(204);
    expect((await call('GET', `role/web/${path}`)).data).toEqual({ [name]: reset });
    expect((await call('POST', `role/absent/${path}`, { [name]: value })).status).toBe(404);
  });

  test('takes its secret ids and tokens with it when it is deleted', async () => {
    const roleId = await makeRole();
    const { secret_id } = await makeSecretId();
    expect((await call('DELETE', 'role/web')).status).toBe(204);
    expect((await logIn(roleId, secret_id)).json.errors).toEqual(WRONG);
    await makeRole({ role_id: roleId });
    expect((await logIn(roleId, secret_id)).json.errors).toEqual(WRONG);
    expect((await call('LIST', 'role/web/secret-id')).status).toBe(404);
  });
});

describe('a secret id', () => {
  test('is returned once, and shown by its accessor and by itself afterwards', async () => {
    await makeRole({ secret_id_num_uses: 4, secret_id_ttl: '1h' });
    const made = await call('POST', 'role/web/secret-id', {
      metadata: '{"team":"blue"}',
      cidr_list: '127.0.0.0/8',
      token_bound_cidrs: ['127.0.0.1'],
    });
    const { secret_id, secret_id_accessor } = made.data;
    expect(made.data).toEqual({
      secret_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      secret_id_accessor: expect.stringMatching(/^[0-9a-f-]{36}$/),
      secret_id_num_uses: 4,
      secret_id_ttl: 3600,
    });
    expect((await call('LIST', 'role/web/secret-id')).data).toEqual({ keys: [secret_id_accessor] });
    const byAccessor = await call('POST', 'role/web/secret-id-accessor/lookup', {
      secret_id_accessor,
    });
    expect(byAccessor.data).toMatchObject({
      cidr_list: ['127.0.0.0/8'],
      metadata: { team: 'blue' },
      secret_id_accessor,
      secret_id_num_uses: 4,
      secret_id_ttl: 3600,
      token_bound_cidrs: ['127.0.0.1'],
    });
    const bySecret = await call('POST', 'role/web/secret-id/lookup', { secret_id });
    expect(bySecret.data).toEqual(byAccessor.data);
    expect(JSON.stringify(bySecret.json)).not.toContain(secret_id);
  });

  test('is one of a list that is read page by page', async () => {
    await makeRole();
    for (let made = 0; made < 5; made += 1) await makeSecretId();
    const page = async (query: string) =>
      (await call('LIST', `role/web/secret-id?${query}`)).data.keys as string[];
    const all = await page('');
    expect(all).toHaveLength(5);
    expect(await page('limit=2')).toEqual(all.slice(0, 2));
    expect(await page(`after=${all[1]}&limit=2`)).toEqual(all.slice(2, 4));
    expect((await call('LIST', `role/web/secret-id?after=${all[4]}`)).status).toBe(404);
  });

  test('may be chosen, once', async () => {
    const roleId = await makeRole();
    const chosen = { secret_id: 'chosen by the operator' };
    const { data } = await call('POST', 'role/web/custom-secret-id', chosen);
    expect(data.secret_id).toBe(chosen.secret_id);
    const { json } = await call('POST', 'role/web/custom-secret-id', chosen);
    expect(json.errors).toEqual(['SecretID is already registered']);
    expect((await logIn(roleId, chosen.secret_id)).status).toBe(200);
  });

  test.for(['secret-id', 'secret-id-accessor'] as const)('is destroyed by %s', async (by) => {
    const roleId = await makeRole();
    const made = await makeSecretId();
    const name = by === 'secret-id' ? 'secret_id' : 'secret_id_accessor';
    expect((await call('POST', `role/web/${by}/destroy`, { [name]: made[name] })).status).toBe(204);
    expect((await logIn(roleId, made.secret_id)).json.errors).toEqual(WRONG);
    const again = await call('POST', `role/web/${by}/lookup`, { [name]: made[name] });
    expect(again.status).toBe(by === 'secret-id' ? 204 : 404);
  });

  test('expires, and is removed by tidy', async () => {
    const roleId = await makeRole();
    const { secret_id } = await makeSecretId({ ttl: '60s' });
    auth.clock.advance(59_000);
    expect((await logIn(roleId, secret_id)).status).toBe(200);
    auth.clock.advance(1_000);
    expect((await logIn(roleId, secret_id)).json.errors).toEqual(WRONG);
    expect((await call('LIST', 'role/web/secret-id')).status).toBe(200);
    expect((await call('POST', 'tidy/secret-id')).status).toBe(202);
    expect((await call('LIST', 'role/web/secret-id')).status).toBe(404);
  });

  test.for([
    [{ metadata: 'no JSON' }, /metadata must be/],
    [{ metadata: '{"a":1}' }, /metadata must be/],
    [{ cidr_list: 'nowhere' }, /cidr_list must be/],
    [{ num_uses: -1 }, /num_uses cannot be negative/],
  ] as const)('is refused with %j', async ([settings, text]) => {
    await makeRole();
    const { status, json } = await call('POST', 'role/web/secret-id', settings);
    expect([status, json.errors]).toEqual([400, [expect.stringMatching(text)]]);
  });

  describe.for(['secret-id', 'custom-secret-id'] as const)('made by %s', (path) => {
    const make = async (settings: object) => {
      const chosen = path === 'secret-id' ? {} : { secret_id: JSON.stringify(settings) };
      const { status, json } = await call('POST', `role/web/${path}`, { ...chosen, ...settings });
      return [status, json.errors];
    };
    const LIMITED = {
      secret_id_num_uses: 3,
      secret_id_ttl: '1h',
      secret_id_bound_cidrs: ['10.0.0.0/8', '2001:db8::/32'],
      token_bound_cidrs: '10.1.0.0/16',
    };

    test.for([
      [{ num_uses: 4 }, "num_uses cannot be higher than the role's secret_id_num_uses: 1 to 3"],
      [{ num_uses: 0 }, "num_uses cannot be higher than the role's secret_id_num_uses: 1 to 3"],
      [{ ttl: 3601 }, "ttl cannot be longer than the role's secret_id_ttl: 1 to 3600 seconds"],
      [{ ttl: 0 }, "ttl cannot be longer than the role's secret_id_ttl: 1 to 3600 seconds"],
      [
        { cidr_list: '10.2.0.0/16,0.0.0.0/0' },
        "cidr_list must be a subset of the role's secret_id_bound_cidrs: 10.0.0.0/8, 2001:db8::/32",
      ],
      [
        { token_bound_cidrs: '10.0.0.0/8' },
        "token_bound_cidrs must be a subset of the role's token_bound_cidrs: 10.1.0.0/16",
      ],
    ] as const)('it is refused with more than its role has, as with %j', async ([more, text]) => {
      await makeRole(LIMITED);
      expect(await make(more)).toEqual([400, [text]]);
      expect((await call('LIST', 'role/web/secret-id')).status).toBe(404);
    });

    test.for([
      {},
      { num_uses: 3, ttl: '1h' },
      { num_uses: 1, ttl: 1 },
      { cidr_list: '10.0.0.0/8,2001:db8:1::/48,::ffff:10.1.2.3', token_bound_cidrs: '10.1.2.3' },
      { cidr_list: [], token_bound_cidrs: [] },
    ])('it has up to as much as its role, as with %j', async (settings) => {
      await makeRole(LIMITED);
      expect((await make(settings))[0]).toBe(200);
    });

    test.for([
      { num_uses: 0 },
      { num_uses: 900, ttl: '900h' },
      { cidr_list: '0.0.0.0/0', token_bound_cidrs: '::/0' },
    ])('it has what it likes of a role without limits, as with %j', async (settings) => {
      await makeRole();
      expect((await make(settings))[0]).toBe(200);
    });
  });
});

describe('a login', () => {
  test('asks sys for a token with what the role and the secret id say', async () => {
    const roleId = await makeRole({
      token_policies: ['ci', 'Deploy'],
      token_ttl: 60,
      token_max_ttl: 600,
      token_explicit_max_ttl: 700,
      token_period: 0,
      token_num_uses: 9,
      token_no_default_policy: true,
      token_type: 'service',
      token_bound_cidrs: ['10.0.0.0/8', '127.0.0.0/8'],
    });
    const { secret_id } = await makeSecretId({
      metadata: '{"team":"blue"}',
      token_bound_cidrs: ['127.0.0.1'],
    });
    const { json } = await logIn(roleId, secret_id);
    expect(json.auth).toEqual({ client_token: 'hvs.test' });
    expect(auth.logins).toEqual([
      {
        mountUuid: expect.any(String),
        requestPath: 'login',
        displayName: '',
        metadata: { role_name: 'web', team: 'blue' },
        limits: {
          policies: ['ci', 'deploy'],
          noDefaultPolicy: true,
          ttlSeconds: 60,
          maxTtlSeconds: 600,
          explicitMaxTtlSeconds: 700,
          periodSeconds: 0,
          numUses: 9,
          tokenType: 'service',
          boundCidrs: ['127.0.0.1'],
        },
        loginData: Buffer.from('{"role":"web"}'),
        remoteAddress: '127.0.0.1',
        aliasName: roleId,
        aliasMetadata: { role_name: 'web', team: 'blue' },
        groupAliases: [],
        passcodes: [],
        role: 'web',
      },
    ]);
  });

  test('is refused with one text for every wrong pair', async () => {
    const roleId = await makeRole();
    const { secret_id } = await makeSecretId();
    expect((await logIn('unknown', secret_id)).json.errors).toEqual(WRONG);
    expect((await logIn(roleId, 'unknown')).json.errors).toEqual(WRONG);
    for (const one of [roleId, 'unknown'])
      expect((await logIn(one)).json.errors).toEqual(['missing secret_id']);
    expect((await call('POST', 'login', {})).json.errors).toEqual(['missing role_id']);
    expect(auth.logins).toEqual([]);
  });

  test('uses up a secret id: one of fifty at the same time succeeds', async () => {
    const roleId = await makeRole({ secret_id_num_uses: 1 });
    const { secret_id } = await makeSecretId();
    const answers = await Promise.all(Array.from({ length: 50 }, () => logIn(roleId, secret_id)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(auth.logins).toHaveLength(1);
  });

  test('counts only logins from an address that may have it', async () => {
    const roleId = await makeRole({
      secret_id_num_uses: 1,
      secret_id_bound_cidrs: ['127.0.0.0/8'],
    });
    const { secret_id } = await makeSecretId({ cidr_list: '127.0.0.1' });
    expect((await logIn(roleId, secret_id, '10.0.0.1')).status).toBe(403);
    expect((await logIn(roleId, secret_id, '127.0.0.2')).status).toBe(403);
    expect((await logIn(roleId, secret_id, '127.0.0.1')).status).toBe(200);
  });

  test.for([
    ['its role', { token_bound_cidrs: '127.0.0.0/8' }, {}],
    ['its secret id', {}, { token_bound_cidrs: '127.0.0.0/8' }],
  ] as const)(
    'from outside of the networks of the tokens of %s takes no use of a secret id',
    async ([, ofRole, ofSecretId]) => {
      const roleId = await makeRole({ secret_id_num_uses: 1, ...ofRole });
      const { secret_id } = await makeSecretId(ofSecretId);
      expect((await logIn(roleId, secret_id, '10.0.0.1')).status).toBe(403);
      expect(auth.logins).toEqual([]);
      expect((await logIn(roleId, secret_id, '127.0.0.1')).status).toBe(200);
    },
  );

  test('is from the networks of both secret id and role, also where the role has become narrower', async () => {
    const roleId = await makeRole();
    const { secret_id } = await makeSecretId({
      cidr_list: '10.1.0.0/16',
      token_bound_cidrs: '10.1.0.0/16,10.2.0.5',
    });
    const bound = async (address: string) => {
      auth.logins.length = 0;
      const { status } = await logIn(roleId, secret_id, address);
      return [status, auth.logins[0]?.limits?.boundCidrs];
    };
    expect(await bound('10.1.9.9')).toEqual([200, ['10.1.0.0/16', '10.2.0.5']]);
    await makeRole({ token_bound_cidrs: '10.1.2.0/24,10.2.0.0/16,10.3.0.0/16' });
    expect(await bound('10.1.9.9')).toEqual([403, undefined]);
    expect(await bound('10.1.2.3')).toEqual([200, ['10.1.2.0/24', '10.2.0.5']]);
    await makeRole({ secret_id_bound_cidrs: '10.1.2.4' });
    expect(await bound('10.1.2.3')).toEqual([403, undefined]);
    expect(await bound('10.1.2.4')).toEqual([200, ['10.1.2.0/24', '10.2.0.5']]);
    await makeRole({ token_bound_cidrs: '10.3.0.0/16' });
    expect(await bound('10.1.2.4')).toEqual([403, undefined]);
    await makeRole({ token_bound_cidrs: '' });
    expect(await bound('10.1.2.4')).toEqual([200, ['10.1.0.0/16', '10.2.0.5']]);
  });

  test('needs no secret id where networks bind the role', async () => {
    const roleId = await makeRole({ bind_secret_id: false, secret_id_bound_cidrs: '127.0.0.0/8' });
    expect((await logIn(roleId)).status).toBe(200);
    expect((await logIn(roleId, undefined, '10.0.0.1')).status).toBe(403);
    const { json } = await call('POST', 'role/web/secret-id');
    expect(json.errors).toEqual([expect.stringContaining('bind_secret_id is not set')]);
  });
});

test('a sealed replica leaves a login to another one', async () => {
  const sealed = await openAuth();
  sealed.barrier.seal();
  await expect(sealed.call('approle', 'POST', 'login', {})).rejects.toMatchObject({
    code: 'sys.sealed',
  });
  await sealed.close();
});
