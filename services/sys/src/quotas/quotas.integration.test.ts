import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { joinMethod, mountMethod } from '../../test/login-steps.ts';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

const QUOTA = 'sys/quotas/rate-limit';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
  await harness.createNamespace('team');
  await harness.asRoot('POST', 'sys/namespaces/inner', { namespace: 'team' });
  for (const namespace of ['', 'team', 'team/inner'])
    await harness.asRoot('POST', 'sys/mounts/ca', { body: { type: 'sample' }, namespace });
  await joinMethod(harness);
  await mountMethod(harness, 'people');
  await mountMethod(harness, 'approle', { type: 'approle' });
});
afterEach(() => harness.close());

const put = (name: string, body: object) =>
  harness.asRoot('POST', `${QUOTA}/${name}`, { body: { rate: 10, ...body } });
const read = async (name: string) => (await harness.asRoot('GET', `${QUOTA}/${name}`)).body.data;
const list = async () => (await harness.asRoot('LIST', QUOTA)).body.data.keys;

/** Name of the quota that limits a request, if one does. */
const limiting = async (path: string, namespace = ''): Promise<string | undefined> =>
  (await harness.resolve('GET', path, { namespace })).rateQuota?.name;

describe('a rate limit quota', () => {
  test('is returned as it was given, with its defaults', async () => {
    expect((await put('all', { rate: '897.3' })).status).toBe(204);
    expect(await read('all')).toEqual({
      type: 'rate-limit',
      name: 'all',
      path: '',
      rate: 897.3,
      interval: 1,
      block_interval: 0,
      inheritable: true,
      role: '',
    });
    await put('ca', { path: '/team/ca/', interval: '2m', block_interval: 300 });
    expect(await read('ca')).toMatchObject({
      path: 'team/ca/',
      rate: 10,
      interval: 120,
      block_interval: 300,
      inheritable: false,
    });
    expect(await list()).toEqual(['all', 'ca']);
  });

  test('is replaced as a whole, also by one for another path', async () => {
    await put('one', { path: 'ca', interval: '1h' });
    await put('one', { path: 'team' });
    expect(await read('one')).toMatchObject({ path: 'team/', interval: 1 });
    expect([await limiting('ca/x'), await limiting('ca/x', 'team')]).toEqual([undefined, 'one']);
    expect(await list()).toEqual(['one']);
  });

  test('can be deleted, more than once', async () => {
    await put('one', {});
    for (let turn = 0; turn < 2; turn += 1)
      expect((await harness.asRoot('DELETE', `${QUOTA}/one`)).status).toBe(204);
    expect((await harness.asRoot('GET', `${QUOTA}/one`)).status).toBe(404);
    expect((await harness.asRoot('LIST', QUOTA)).status).toBe(404);
    expect(await limiting('ca/x')).toBeUndefined();
  });

  test.for([
    [{ rate: undefined }, 'rate is missing: the number of requests in an interval'],
    [{ rate: 0 }, 'rate is greater than 0 and at most 1000000000'],
    [{ rate: 'many' }, 'error converting input for field "rate": expected a number'],
    [{ interval: 0 }, 'interval has 1 second to 24 hours'],
    [{ interval: '25h' }, 'interval has 1 second to 24 hours'],
    [{ block_interval: '25h' }, 'block_interval has at most 24 hours'],
    [{ path: 'absent/x' }, 'the path "absent/x" is neither a namespace nor in a mount'],
    [{ path: 'ca/*/x' }, 'path may have a * at its end only'],
    [{ path: 'ca', inheritable: true }, 'inheritable must be false for the path of a mount'],
    [
      { path: 'ca', role: 'web' },
      'role must be empty: the path "ca" is not that of an auth method',
    ],
    [{ role: 'web' }, 'role must be empty'],
    [{ path: 'auth/token', role: 'web' }, 'role must be empty'],
    [{ path: 'auth/people', role: 'web' }, 'role must be empty'],
    [{ path: 'auth/approle/login', role: 'web' }, 'role must be empty'],
  ] as const)('%j is refused: %s', async ([body, text]) => {
    const { status, body: answer } = await put('one', body);
    expect(status).toBe(400);
    expect(answer.errors[0]).toContain(text);
    expect((await harness.asRoot('LIST', QUOTA)).status).toBe(404);
  });

  test('has a path of its own, and a name for one segment', async () => {
    await put('one', { path: 'ca' });
    expect((await put('two', { path: 'ca/' })).body.errors).toEqual([
      'the path has the quota "one" already',
    ]);
    await put('all', { path: 'auth/approle' });
    await put('web', { path: 'auth/approle', role: 'Web' });
    expect(await read('web')).toMatchObject({ path: 'auth/approle/', role: 'web' });
    expect((await put('twin', { path: 'auth/approle', role: 'WEB' })).body.errors).toEqual([
      'the path has the quota "web" already for the role "WEB"',
    ]);
    expect((await put('ci', { path: 'auth/approle', role: 'ci' })).status).toBe(204);
    expect((await put('a b', {})).body.errors[0]).toContain('the name of a quota has 1 to 128');
  });
});

describe('the quota that applies', () => {
  test('names the most of the path', async () => {
    await put('site', {});
    await put('space', { path: 'team' });
    await put('mount', { path: 'team/ca' });
    await put('some', { path: 'team/ca/issue/*' });
    await put('one', { path: 'team/ca/issue/web' });
    const answers = ['issue/web', 'issue/mail', 'roles', 'issue'].map((below) =>
      limiting(`ca/${below}`, 'team'),
    );
    expect(await Promise.all(answers)).toEqual(['one', 'some', 'mount', 'mount']);
    expect(await limiting('team/ca/issue/web')).toBe('one');
    expect(await limiting('sys/mounts', 'team')).toBe('space');
    expect(await limiting('ca/issue/web')).toBe('site');
  });

  test('of a namespace is inherited only if it is inheritable', async () => {
    await put('space', { path: 'team' });
    expect(await limiting('ca/x', 'team/inner')).toBeUndefined();
    await put('site', {});
    expect(await limiting('ca/x', 'team/inner')).toBe('site');
    await put('space', { path: 'team', inheritable: true });
    expect(await limiting('ca/x', 'team/inner')).toBe('space');
    await put('inner', { path: 'team/inner' });
    expect(await limiting('ca/x', 'team/inner')).toBe('inner');
  });

  test('of a built-in mount limits the administration', async () => {
    await put('sys', { path: 'sys/mounts' });
    await put('tokens', { path: 'auth/token' });
    expect(await limiting('sys/mounts')).toBe('sys');
    expect(await limiting('sys/policies/acl')).toBeUndefined();
    expect(await limiting('auth/token/lookup-self')).toBe('tokens');
  });

  test('limits requests without a token, too', async () => {
    await put('site', { rate: 0.5, interval: 60, block_interval: 5 });
    const { outcome, rateQuota } = await harness.resolve('GET', 'ca/x', { token: 'wrong' });
    expect(outcome?.$case).toBe('refused');
    expect(rateQuota).toEqual({
      name: 'site',
      rate: 0.5,
      intervalSeconds: 60,
      blockSeconds: 5,
      statesLimits: false,
      auditsRefusals: false,
      isFoundByBody: false,
    });
  });

  test('follows its mount into another namespace, and ends with it', async () => {
    await harness.asRoot('POST', 'sys/mounts/moving', { body: { type: 'sample' } });
    await put('one', { path: 'moving/issue/*' });
    const moved = await harness.asRoot('POST', 'sys/remount', {
      body: { from: 'moving', to: 'team/moved' },
    });
    expect(moved.status).toBe(200);
    expect((await read('one')).path).toBe('team/moved/issue/*');
    expect(await limiting('moved/issue/x', 'team')).toBe('one');
    await harness.asRoot('DELETE', 'sys/mounts/moved', { namespace: 'team' });
    expect((await harness.asRoot('LIST', QUOTA)).status).toBe(404);
  });

  test('ends with its namespace', async () => {
    await put('one', { path: 'team/inner' });
    await put('two', { path: 'team/inner/ca' });
    await harness.asRoot('DELETE', 'sys/namespaces/inner', { namespace: 'team' });
    expect((await harness.asRoot('LIST', QUOTA)).status).toBe(404);
  });
});

describe('the settings', () => {
  const SETTINGS = 'sys/quotas/config';
  const settings = async () => (await harness.asRoot('GET', SETTINGS)).body.data;

  test('exempt what an operator needs to repair a cluster, until they say otherwise', async () => {
    await put('site', {});
    expect(await settings()).toEqual({
      rate_limit_exempt_paths: [
        'sys/generate-root/attempt',
        'sys/generate-root/update',
        'sys/health',
        'sys/seal-status',
        'sys/unseal',
      ],
      enable_rate_limit_audit_logging: false,
      enable_rate_limit_response_headers: false,
    });
    expect(await limiting('sys/health')).toBeUndefined();
    await harness.asRoot('POST', SETTINGS, {
      body: { rate_limit_exempt_paths: ['ca/open/*'], enable_rate_limit_response_headers: true },
    });
    expect(await limiting('sys/health')).toBe('site');
    expect(await limiting('ca/open/x', 'team')).toBeUndefined();
    expect((await harness.resolve('GET', 'ca/x')).rateQuota).toMatchObject({
      statesLimits: true,
      auditsRefusals: false,
    });
    await harness.asRoot('POST', SETTINGS, { body: { enable_rate_limit_audit_logging: true } });
    expect(await settings()).toEqual({
      rate_limit_exempt_paths: ['ca/open/*'],
      enable_rate_limit_audit_logging: true,
      enable_rate_limit_response_headers: true,
    });
    await harness.asRoot('POST', SETTINGS, { body: { rate_limit_exempt_paths: [] } });
    expect((await settings()).rate_limit_exempt_paths).toEqual([]);
  });

  test.for(['config', 'rate-limit', 'rate-limit/one'])(
    '%s exists in the root namespace only',
    async (path) => {
      const method = path === 'rate-limit' ? 'LIST' : 'GET';
      const { status } = await harness.asRoot(method, `sys/quotas/${path}`, { namespace: 'team' });
      expect(status).toBe(404);
    },
  );
});
