/** Users that failed logins lock: the tuning of their mounts, and the administration of those that are locked. */
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({ dataFolder: folder.path });
}, 60_000);
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

const call = async (
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = {},
) => {
  const response = await fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers: { 'content-type': 'application/json', ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
};
const root = (method: string, path: string, body?: object, namespace?: string) =>
  call(method, path, body, {
    'x-vault-token': keelson.rootToken,
    ...(namespace !== undefined && { 'x-vault-namespace': namespace }),
  });

let serial = 0;
/** A mount of userpass with the users alice and bob. */
const people = async (config: object, namespace?: string) => {
  serial += 1;
  const path = `locking-${serial}`;
  const enabled = await root('POST', `sys/auth/${path}`, { type: 'userpass', config }, namespace);
  expect(enabled.status).toBe(204);
  for (const name of ['alice', 'bob'])
    await root('POST', `auth/${path}/users/${name}`, { password: 'right' }, namespace);
  const { body } = await root('GET', `sys/auth/${path}`, undefined, namespace);
  const headers = namespace === undefined ? undefined : { 'x-vault-namespace': namespace };
  return {
    path,
    accessor: body.data.accessor as string,
    config: body.data.config,
    logIn: async (password: string, name = 'alice') => {
      const { status, body: answer } = await call(
        'POST',
        `auth/${path}/login/${name}`,
        { password },
        headers,
      );
      return [status, ...(answer.errors ?? [])];
    },
  };
};
const LOCKED = [403, 'permission denied'];
const onceThenLocked = { user_lockout_config: { lockout_threshold: '1' } };

test('a mount says when its users are locked, from its beginning or from its tuning', async () => {
  const { path, logIn, config } = await people({
    user_lockout_config: {
      lockout_threshold: '2',
      lockout_duration: '10m',
      lockout_counter_reset_duration: '5m',
      lockout_disable: false,
    },
  });
  const written = {
    user_lockout_threshold: 2,
    user_lockout_duration: 600,
    user_lockout_counter_reset_duration: 300,
    user_lockout_disable: false,
  };
  expect(config.user_lockout_config).toEqual(written);
  expect((await root('GET', `sys/auth/${path}/tune`)).body.data).toMatchObject(written);
  expect(await logIn('wrong')).toEqual([400, 'invalid username or password']);
  await logIn('wrong');
  expect(await logIn('right')).toEqual(LOCKED);
  expect(await logIn('right', 'bob')).toEqual([200]);
  const off = { user_lockout_config: { lockout_disable: true } };
  expect((await root('POST', `sys/auth/${path}/tune`, off)).status).toBe(204);
  expect(await logIn('right')).toEqual([200]);
  expect((await root('GET', `sys/auth/${path}/tune`)).body.data).toMatchObject({
    ...written,
    user_lockout_disable: true,
  });
});

test.for([
  ['jwt', { lockout_threshold: '2' }, /"jwt" not allowed/],
  ['userpass', { lockout_threshold: '-1' }, /lockout_threshold must be between 0 and 1000000/],
  ['userpass', { lockout_duration: '400d' }, /lockout_duration has at most 366 days/],
  ['userpass', { lockout_threshold: 'many' }, /lockout_threshold/],
] as const)('mounts of %s are refused with %j', async ([type, settings, text]) => {
  const body = { type, config: { user_lockout_config: settings } };
  const { status, body: answer } = await root('POST', 'sys/auth/refused', body);
  expect([status, answer.errors[0]]).toEqual([400, expect.stringMatching(text)]);
});

test('locked users are listed with those of the namespaces below, and unlocked', async () => {
  expect((await root('POST', 'sys/namespaces/lockers')).status).toBe(200);
  const below = await people(onceThenLocked, 'lockers');
  const here = await people(onceThenLocked);
  const none = await root('GET', `sys/locked-users?mount_accessor=${here.accessor}`);
  expect(none.body.data).toMatchObject({ total: 0, by_namespace: [{ counts: 0 }] });
  await below.logIn('wrong');
  for (const name of ['alice', 'bob']) await here.logIn('wrong', name);
  const listed = async (namespace?: string) =>
    (await root('GET', 'sys/locked-users', undefined, namespace)).body.data;
  const ofChild = {
    namespace_id: expect.any(String),
    namespace_path: 'lockers/',
    counts: 1,
    mount_accessors: [{ mount_accessor: below.accessor, counts: 1, alias_identifiers: ['alice'] }],
  };
  expect(await listed('lockers')).toEqual({ total: 1, by_namespace: [ofChild] });
  expect(await listed()).toEqual({
    total: 3,
    by_namespace: [
      {
        namespace_id: 'root',
        namespace_path: '',
        counts: 2,
        mount_accessors: [
          { mount_accessor: here.accessor, counts: 2, alias_identifiers: ['alice', 'bob'] },
        ],
      },
      ofChild,
    ],
  });
  const unlock = (accessor: string, name: string) =>
    root('POST', `sys/locked-users/${accessor}/unlock/${name}`);
  expect((await unlock(here.accessor, 'alice')).status).toBe(204);
  expect((await unlock(here.accessor, 'nobody')).status).toBe(204);
  expect(await here.logIn('right')).toEqual([200]);
  expect(await here.logIn('right', 'bob')).toEqual(LOCKED);
  // A namespace unlocks the users of its own mounts.
  for (const accessor of [below.accessor, 'userpass_none']) {
    const { status, body } = await unlock(accessor, 'alice');
    expect([status, body.errors[0]]).toEqual([400, expect.stringContaining('mount_accessor')]);
  }
  expect(await below.logIn('right')).toEqual(LOCKED);
});
