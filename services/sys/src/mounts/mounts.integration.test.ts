import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const enable = (path: string, body: object = {}, namespace = '') =>
  harness.asRoot('POST', `sys/mounts/${path}`, { body: { type: 'sample', ...body }, namespace });
const refusal = (text: string) => ({ status: 400, body: { errors: [text] } });

describe('enabling', () => {
  test('shows the mount with the built-in ones, at the top level and under data', async () => {
    expect((await enable('pki', { description: 'certificates' })).status).toBe(204);
    const { body } = await harness.asRoot('GET', 'sys/mounts');
    expect(Object.keys(body.data)).toEqual(['cubbyhole/', 'identity/', 'pki/', 'sys/']);
    expect(body['pki/']).toEqual(body.data['pki/']);
    expect(body.data['pki/']).toEqual({
      type: 'sample',
      description: 'certificates',
      accessor: expect.stringMatching(/^sample_[0-9a-f]{8}$/),
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      local: false,
      seal_wrap: false,
      external_entropy_access: false,
      options: null,
      config: { default_lease_ttl: 0, max_lease_ttl: 0, force_no_cache: false },
      plugin_version: '',
      running_plugin_version: '',
      running_sha256: '',
      deprecation_status: 'supported',
    });
    expect((await harness.asRoot('GET', 'sys/mounts/pki/')).body.data).toEqual(body.data['pki/']);
  });

  test.for([
    ['pki', {}, 'path is already in use at pki/'],
    ['pki/inner', {}, 'path is already in use at pki/'],
    ['team', {}, 'path is already in use at team/a/'],
    ['tenant', {}, 'path is already in use at tenant/'],
    ['tenant/pki', {}, 'path is already in use at tenant/'],
    ['sys/x', {}, 'cannot mount under existing mount "sys/"'],
    ['auth/x', {}, 'cannot mount under existing mount "auth/"'],
    ['a/../b', {}, 'relative paths not supported'],
    ['a+', {}, 'a mount path consists of letters, digits and the characters _ - . ~ @ : = , /'],
    ['new', { type: '' }, 'backend type must be specified as a string'],
    ['new', { type: 'kv' }, 'plugin not found in the catalog: kv'],
    [
      'new',
      { config: { default_lease_ttl: '2h', max_lease_ttl: '1h' } },
      'given default lease TTL greater than given max lease TTL',
    ],
    [
      'new',
      { config: { default_lease_ttl: '769h' } },
      'given default lease TTL greater than system max lease TTL of 2764800',
    ],
    [
      'new',
      { config: { default_lease_ttl: 'long' } },
      'Field validation failed: error converting input for field "default_lease_ttl": expected a number of seconds or a duration of at least a second such as "30s", "5m" or "2h"',
    ],
    [
      'new',
      { config: { listing_visibility: 'all' } },
      'listing_visibility must be "hidden" or "unauth"',
    ],
  ] as const)('refuses %s with %j', async ([path, body, text]) => {
    await enable('pki');
    await enable('team/a');
    await harness.createNamespace('tenant');
    expect(await enable(path, body)).toEqual(refusal(text));
  });

  test.for<[string, object, RegExp]>([
    ['sys/mounts/new', { seal_wrap: true }, /^seal_wrap is not supported: /],
    ['sys/mounts/new', { external_entropy_access: 'true' }, /^external_entropy_access is not/],
    ['sys/mounts/new', { plugin_version: 'v1' }, /^plugin_version is not supported: engines are/],
    ['sys/mounts/new', { config: { force_no_cache: true } }, /^force_no_cache is not supported/],
    ['sys/mounts/pki/tune', { allowed_managed_keys: 'a' }, /^allowed_managed_keys is not/],
    ['sys/mounts/pki/tune', { identity_token_key: 'a' }, /^identity_token_key is not supported/],
    [
      'sys/auth/token/tune',
      { token_type: 'batch' },
      /^token_type has no effect on the mount token/,
    ],
    [
      'sys/auth/token/tune',
      { user_lockout_config: { lockout_threshold: 1 } },
      /^tuning of user lockout configuration for auth type "token" not allowed/,
    ],
  ])('refuses a setting without effect: %s %j', async ([path, body, text]) => {
    await enable('pki');
    const refused = await harness.asRoot('POST', path, { body: { type: 'sample', ...body } });
    expect([refused.status, refused.body.errors[0]]).toEqual([400, expect.stringMatching(text)]);
  });

  test('knows the type by its older name, too', async () => {
    const enableAs = (path: string, body: object) =>
      harness.asRoot('POST', `sys/mounts/${path}`, { body });
    expect((await enableAs('older', { plugin_name: 'sample' })).status).toBe(204);
    expect((await enableAs('both', { type: 'sample', plugin_name: 'sample' })).status).toBe(204);
    expect(await enableAs('other', { type: 'sample', plugin_name: 'pki' })).toEqual(
      refusal('plugin_name is the older name of type; only one of them may be given'),
    );
  });

  test('takes the description from config, too, as the Java driver sends it', async () => {
    const described = (path: string, body: object) =>
      harness.asRoot('POST', `sys/mounts/${path}`, { body: { type: 'sample', ...body } });
    const config = { description: 'of the team' };
    expect((await described('inside', { config })).status).toBe(204);
    expect((await described('twice', { description: 'of the team', config })).status).toBe(204);
    const { data } = (await harness.asRoot('GET', 'sys/mounts')).body;
    expect([data['inside/'].description, data['twice/'].description]).toEqual([
      'of the team',
      'of the team',
    ]);
    expect(await described('torn', { description: 'of another', config })).toEqual(
      refusal('description and config.description differ; one of them is enough'),
    );
  });

  test('warns of settings that it does not know, also inside of config', async () => {
    const { status, body } = await enable('pki', {
      seal_wraps: true,
      config: { max_lease_tl: '1h', options: null },
    });
    expect([status, body.warnings]).toEqual([
      200,
      ['Endpoint ignored these unrecognized parameters: [config.max_lease_tl seal_wraps]'],
    ]);
  });

  test('accepts what clients send for settings that are off, and warns about unnecessary ones', async () => {
    const off = {
      seal_wrap: false,
      external_entropy_access: false,
      plugin_version: '',
      config: { force_no_cache: false, allowed_managed_keys: [], identity_token_key: '' },
    };
    expect((await enable('pki', off)).status).toBe(204);
    const tuned = await harness.asRoot('POST', 'sys/mounts/pki/tune', {
      body: { delegated_auth_accessors: ['auth_token_1'] },
    });
    expect([tuned.status, tuned.body.warnings]).toEqual([
      200,
      [expect.stringContaining('delegated_auth_accessors has no effect')],
    ]);
    expect((await harness.asRoot('GET', 'sys/mounts/pki/tune')).body.data).toMatchObject({
      delegated_auth_accessors: ['auth_token_1'],
    });
  });

  test('succeeds for one of many callers', async () => {
    const statuses = await Promise.all(
      Array.from(
        { length: 20 },
        async (_, index) => (await enable(index % 2 === 0 ? 'pki' : 'pki/inner')).status,
      ),
    );
    expect(statuses.filter((status) => status === 204)).toHaveLength(1);
  });
});

describe('tuning', () => {
  test('reads effective values and keeps absent ones', async () => {
    await enable('pki', { config: { max_lease_ttl: '87600h' } });
    const tune = (body: object) => harness.asRoot('POST', 'sys/mounts/pki/tune', { body });
    expect((await tune({ passthrough_request_headers: ['If-Modified-Since'] })).status).toBe(204);
    expect((await tune({ allowed_response_headers: 'Last-Modified,Location' })).status).toBe(204);
    expect((await tune({ description: 'tuned', default_lease_ttl: 60 })).status).toBe(204);
    expect((await harness.asRoot('GET', 'sys/mounts/pki/tune')).body.data).toEqual({
      default_lease_ttl: 60,
      max_lease_ttl: 87_600 * 3600,
      force_no_cache: false,
      description: 'tuned',
      passthrough_request_headers: ['If-Modified-Since'],
      allowed_response_headers: ['Last-Modified', 'Location'],
    });
    const { outcome } = await harness.resolve('GET', 'pki/ca');
    expect(outcome?.$case === 'allowed' && outcome.value.mount).toMatchObject({
      passthroughRequestHeaders: ['If-Modified-Since'],
      allowedResponseHeaders: ['Last-Modified', 'Location'],
    });
  });

  test('keeps lifetimes sent as empty text, and resets them to those of the system', async () => {
    await enable('pki', { config: { default_lease_ttl: '1000h', max_lease_ttl: '87600h' } });
    await enable('plain', { config: { default_lease_ttl: '', max_lease_ttl: 'system' } });
    const SYSTEM = 768 * 3600;
    const tuned = async (path: string, body: object): Promise<readonly number[]> => {
      expect((await harness.asRoot('POST', `${path}/tune`, { body })).status).toBe(204);
      const { data } = (await harness.asRoot('GET', `${path}/tune`)).body;
      return [data.default_lease_ttl, data.max_lease_ttl];
    };
    // The vendor's SDK sends these values for settings that the caller omitted.
    const unset = {
      default_lease_ttl: '',
      max_lease_ttl: '',
      force_no_cache: false,
      options: null,
    };
    expect(await tuned('sys/mounts/plain', unset)).toEqual([SYSTEM, SYSTEM]);
    for (const path of ['sys/mounts/pki', 'sys/auth/token']) {
      const full = { default_lease_ttl: '1000h', max_lease_ttl: '87600h' };
      expect(await tuned(path, full)).toEqual([1000 * 3600, 87_600 * 3600]);
      expect(await tuned(path, { ...unset, default_lease_ttl: '48h' })).toEqual([
        48 * 3600,
        87_600 * 3600,
      ]);
      expect(await tuned(path, { ...unset, description: 'x' })).toEqual([48 * 3600, 87_600 * 3600]);
      expect(await tuned(path, { ...unset, max_lease_ttl: 'system' })).toEqual([48 * 3600, SYSTEM]);
      expect(await tuned(path, { ...unset, default_lease_ttl: 'system' })).toEqual([
        SYSTEM,
        SYSTEM,
      ]);
    }
  });

  test('refuses a maximum below the default', async () => {
    await enable('pki', { config: { default_lease_ttl: '2h', max_lease_ttl: '3h' } });
    expect(
      await harness.asRoot('POST', 'sys/mounts/pki/tune', { body: { default_lease_ttl: '4h' } }),
    ).toEqual(
      refusal(
        'backend max lease TTL of 10800 would be less than backend default lease TTL of 14400',
      ),
    );
    expect(
      await harness.asRoot('POST', 'sys/mounts/pki/tune', { body: { max_lease_ttl: '1h' } }),
    ).toEqual(refusal('given default lease TTL greater than given max lease TTL'));
  });

  test('reaches the token mount under both of its names', async () => {
    expect(
      (await harness.asRoot('POST', 'sys/auth/token/tune', { body: { max_lease_ttl: '1h' } }))
        .status,
    ).toBe(204);
    const { body } = await harness.asRoot('GET', 'sys/mounts/auth/token/tune');
    expect(body.data).toMatchObject({ max_lease_ttl: 3600, default_lease_ttl: 3600 });
    expect(Object.keys((await harness.asRoot('GET', 'sys/auth')).body.data)).toEqual(['token/']);
  });

  test.for([
    ['sys/mounts/sys', { passthrough_request_headers: ['A'] }],
    ['sys/auth/token', { allowed_response_headers: ['A'] }],
    ['sys/mounts/cubbyhole', { default_lease_ttl: '1h' }],
    ['sys/mounts/sys', { max_lease_ttl: '1h' }],
  ] as const)('refuses what has no effect on %s: %j', async ([path, body]) => {
    const [name] = Object.keys(body);
    const { status, body: answer } = await harness.asRoot('POST', `${path}/tune`, { body });
    expect([status, answer.errors[0]]).toEqual([
      400,
      expect.stringMatching(`^${name} has no effect on the built-in mount `),
    ]);
  });

  test('of keys that are logged in clear changes the audit generation', async () => {
    await enable('pki');
    const before = (await harness.sys.access.auditDevices({})).generation;
    await harness.asRoot('POST', 'sys/mounts/pki/tune', { body: { description: 'x' } });
    expect((await harness.sys.access.auditDevices({})).generation).toBe(before);
    await harness.asRoot('POST', 'sys/mounts/pki/tune', {
      body: { audit_non_hmac_request_keys: 'common_name' },
    });
    expect((await harness.sys.access.auditDevices({})).generation).not.toBe(before);
  });
});

describe('absent and built-in mounts', () => {
  test.for([
    ['GET', 'sys/mounts/none', 'No secret engine mount at none/'],
    ['GET', 'sys/mounts/none/tune', 'No secret engine mount at none/'],
    ['POST', 'sys/mounts/none/tune', 'No secret engine mount at none/'],
    ['DELETE', 'sys/mounts/sys', 'cannot unmount "sys/"'],
    ['DELETE', 'sys/mounts/cubbyhole', 'cannot unmount "cubbyhole/"'],
    ['DELETE', 'sys/auth/token', 'token credential backend cannot be disabled'],
  ] as const)('%s %s', async ([method, path, text]) => {
    expect(await harness.asRoot(method, path)).toEqual(refusal(text));
  });

  test('disabling an absent mount succeeds', async () => {
    expect((await harness.asRoot('DELETE', 'sys/mounts/none')).status).toBe(204);
    expect(await harness.asRoot('POST', 'sys/auth/x', { body: { type: 'userpass' } })).toEqual(
      refusal('plugin not found in the catalog: userpass'),
    );
  });
});

test('a move keeps uuid and tuning, and reports its success', async () => {
  await harness.createNamespace('tenant');
  await enable('old/pki', { description: 'moved' });
  const { uuid } = (await harness.asRoot('GET', 'sys/mounts/old/pki')).body.data;
  const moved = await harness.asRoot('POST', 'sys/remount', {
    body: { from: 'old/pki', to: 'tenant/pki' },
  });
  expect(moved.status).toBe(200);
  const id = moved.body.data.migration_id;
  expect((await harness.asRoot('GET', `sys/remount/status/${id}`)).body.data).toEqual({
    migration_id: id,
    migration_info: { source_mount: 'old/pki/', target_mount: 'tenant/pki/', status: 'success' },
  });
  expect((await harness.asRoot('GET', 'sys/mounts/old/pki')).status).toBe(400);
  expect(
    (await harness.asRoot('GET', 'sys/mounts/pki', { namespace: 'tenant' })).body.data,
  ).toMatchObject({
    uuid,
    description: 'moved',
  });
  expect(
    await harness.asRoot('POST', 'sys/remount', { body: { from: 'old/pki', to: 'new' } }),
  ).toEqual(refusal('no matching mount at "old/pki/"'));
});
