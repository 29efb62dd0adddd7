import { createHmac } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const FILE = { type: 'file', options: { file_path: '/var/log/keelson/audit.log' } };
const enable = (path: string, body: object) => harness.asRoot('PUT', `sys/audit/${path}`, { body });

test('devices are listed without their salts, which only gateways receive', async () => {
  expect((await enable('file', { ...FILE, description: 'first' })).status).toBe(204);
  expect(
    (await enable('socket', { type: 'socket', options: { address: '127.0.0.1:9' }, local: true }))
      .status,
  ).toBe(204);
  const { body } = await harness.asRoot('GET', 'sys/audit');
  expect(body.data).toEqual({
    'file/': {
      path: 'file/',
      type: 'file',
      description: 'first',
      options: FILE.options,
      local: false,
    },
    'socket/': {
      path: 'socket/',
      type: 'socket',
      description: '',
      options: { address: '127.0.0.1:9' },
      local: true,
    },
  });
  const { devices } = await harness.sys.access.auditDevices({});
  expect(devices.map(({ path, salt }) => [path, salt.byteLength])).toEqual([
    ['file/', 32],
    ['socket/', 32],
  ]);
});

test('the file of a device may be given by its older name, too', async () => {
  const options = { path: '/var/log/keelson/audit.log' };
  expect((await enable('file', { type: 'file', options })).status).toBe(204);
  // Returned as given, because clients compare it with their configuration.
  expect((await harness.asRoot('GET', 'sys/audit')).body.data['file/'].options).toEqual(options);
  const { devices } = await harness.sys.access.auditDevices({});
  expect(devices[0]?.options['file_path']).toBe(options.path);
});

test('the generation changes with every change', async () => {
  const seen = [(await harness.sys.access.auditDevices({})).generation];
  await enable('a', FILE);
  seen.push((await harness.sys.access.auditDevices({})).generation);
  await enable('b', FILE);
  seen.push((await harness.sys.access.auditDevices({})).generation);
  expect((await harness.asRoot('DELETE', 'sys/audit/a')).status).toBe(204);
  seen.push((await harness.sys.access.auditDevices({})).generation);
  expect(new Set(seen).size).toBe(4);
  expect((await harness.asRoot('DELETE', 'sys/audit/a')).status).toBe(204);
  expect((await harness.sys.access.auditDevices({})).generation).toBe(seen.at(-1));
});

test.for([
  ['sys/mounts/pki', 'pki/root'],
  ['sys/mounts/sys', 'sys/policies/acl/web'],
  ['sys/mounts/cubbyhole', 'cubbyhole/mine'],
  ['sys/auth/token', 'auth/token/create'],
] as const)('keys tuned on %s are logged in clear for %s', async ([mount, path]) => {
  await harness.asRoot('POST', 'sys/mounts/pki', { body: { type: 'sample' } });
  const body = { audit_non_hmac_request_keys: 'name', audit_non_hmac_response_keys: ['serial'] };
  expect((await harness.asRoot('POST', `${mount}/tune`, { body })).status).toBe(204);
  const { audit } = await harness.resolve('POST', path);
  expect([audit?.nonHmacRequestKeys, audit?.nonHmacResponseKeys]).toEqual([['name'], ['serial']]);
});

test('a hash is the one that the device writes for the text', async () => {
  await enable('file', FILE);
  const { body } = await harness.asRoot('POST', 'sys/audit-hash/file', {
    body: { input: 'secret' },
  });
  const [device] = (await harness.sys.access.auditDevices({})).devices;
  const expected = createHmac('sha256', device?.salt ?? '')
    .update('secret')
    .digest('hex');
  expect(body.data).toEqual({ hash: `hmac-sha256:${expected}` });
  expect(
    (await harness.asRoot('POST', 'sys/audit-hash/none', { body: { input: 'x' } })).status,
  ).toBe(400);
  expect((await harness.asRoot('POST', 'sys/audit-hash/file')).status).toBe(400);
});

const file = (options: object) => ({ type: 'file', options: { ...FILE.options, ...options } });
test.for([
  ['taken', FILE, 'path already in use'],
  ['taken/inner', FILE, 'path already in use'],
  ['new', {}, 'backend type must be specified as a string'],
  ['new', { type: 'syslog' }, 'unknown backend type: "syslog"'],
  ['new', { type: 'file' }, 'file_path is required'],
  [
    'new',
    { type: 'file', options: { ...FILE.options, path: '/other' } },
    'path is the older name of file_path; only one of them may be given',
  ],
  ['new', { type: 'socket' }, 'address is required'],
  [
    'new',
    { type: 'socket', options: { address: 'x', socket_type: 'udp' } },
    'socket_type must be tcp or unix',
  ],
  [
    'new',
    file({ file_path: 'relative.log' }),
    'file_path must be an absolute path without "." and ".." segments',
  ],
  [
    'new',
    file({ file_path: '/var/log/../../etc/x' }),
    'file_path must be an absolute path without "." and ".." segments',
  ],
  ['new', file({ file_path: '/etc/cron.d/x' }), 'file_path must not be in a system directory'],
  ['new', file({ file_path: '/usr/local/bin/x' }), 'file_path must not be in a system directory'],
  ['new', file({ mode: '0755' }), 'mode must not make the file executable'],
  ['new', file({ mode: '4600' }), 'mode must not make the file executable'],
  ['new', file({ mode: 'rw' }), 'mode must be an octal number'],
  [
    'new',
    file({ prefix: '#!/bin/sh\n' }),
    'prefix has at most 64 printable characters and no "#!"',
  ],
  ['new', file({ log_raw: 'perhaps' }), 'log_raw must be true or false'],
  ['new', file({ format: 'xml' }), 'format must be json'],
  ['new', file({ format: 'jsonx' }), 'format must be json'],
  [
    'new',
    file({ exclude: '[]' }),
    'option "exclude" is not supported: every device records every entry',
  ],
  ['new', file({ exec: 'x' }), 'unknown option "exec" of a file audit device'],
  ['a b', FILE, 'an audit path consists of letters, digits and the characters _ - . /'],
] as const)('refuses %s with %j', async ([path, body, text]) => {
  await enable('taken', FILE);
  expect(await enable(path, body)).toEqual({ status: 400, body: { errors: [text] } });
});
