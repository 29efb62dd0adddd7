/**
 * Signing in with certificates of mounts of this installation, which roles of `cert` name in `pki_mounts`, and of others
 * about which this installation answers by OCSP. Behaviours:
 *
 * | the certificate                                              | signs in |
 * | ------------------------------------------------------------ | -------- |
 * | is of an issuer of the mount, old or made since              | yes      |
 * | is revoked there, or its issuer is                           | no, from the next login and renewal on |
 * | is of an authority above, of which the mount has no key      | no       |
 * | is of a mount that was removed, or mounted again at the path | no       |
 * | is of another mount                                          | no       |
 */
import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { join } from 'node:path';
import {
  type KeelsonProcess,
  startKeelson,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';

interface Issued {
  readonly certificate: string;
  readonly issuing_ca: string;
  readonly serial_number: string;
}

let folder: TemporaryDirectory;
let keelson: KeelsonProcess;

beforeAll(async () => {
  folder = await temporaryDirectory();
  keelson = await startKeelson({
    dataFolder: join(folder.path, 'data'),
    env: {
      // The tests are a proxy that terminates TLS.
      KEELSON_CLIENT_CERTIFICATES_FROM: '127.0.0.1',
      KEELSON_OUTBOUND_RANGES: '127.0.0.1',
    },
  });
}, 60_000);
afterAll(async () => {
  await keelson.stop();
  await folder[Symbol.asyncDispose]();
});

const call = async (
  method: string,
  path: string,
  body?: object,
  headers: Readonly<Record<string, string>> = { 'x-service-token': keelson.rootToken },
) => {
  const response = await fetch(`${keelson.http}/v1/${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, json: text === '' ? {} : JSON.parse(text) };
};
const done = async (path: string, body: object = {}) => {
  const { status, json } = await call('POST', path, body);
  expect([path, status, json.errors]).toEqual([path, status < 300 ? status : 200, undefined]);
  return json.data;
};
const derOf = (pem: string): string => new X509Certificate(pem).raw.toString('base64');
/** The answer to a login with a certificate, and those that come with it. */
const logIn = (pem: string, chain: readonly string[] = [], path = 'auth/cert/login') =>
  call(
    'POST',
    path,
    {},
    {
      'client-cert': `:${derOf(pem)}:`,
      ...(chain.length > 0 && {
        'client-cert-chain': chain.map((one) => `:${derOf(one)}:`).join(', '),
      }),
    },
  );
const statusOf = async (pem: string, chain: readonly string[] = []): Promise<number> =>
  (await logIn(pem, chain)).status;

const PEOPLE = { allow_any_name: true, enforce_hostnames: false, key_type: 'ec', ttl: '1h' };
/** @param namespace such as "team/" */
const openAuthority = async (path: string, namespace = ''): Promise<void> => {
  const mount = `${namespace}${path}`;
  await done(`${namespace}sys/mounts/${path}`, { type: 'pki' });
  await done(`${mount}/root/generate/internal`, { common_name: path, key_type: 'ec' });
  await done(`${mount}/roles/person`, PEOPLE);
};
const issue = (mount: string, name = 'alice'): Promise<Issued> =>
  done(`${mount}/issue/person`, { common_name: name });

let serial = 0;
let mount: string;
beforeAll(() => done('sys/auth/cert', { type: 'cert' }));
beforeEach(async () => {
  serial += 1;
  mount = `people-${serial}`;
  await openAuthority(mount);
  await done('auth/cert/certs/people', { pki_mounts: mount, certificate: '', token_ttl: '1h' });
});

describe('a mount whose certificates sign in', () => {
  test('is trusted with issuers that it gets later, and no other mount is', async () => {
    const earlier = await issue(mount);
    expect(await statusOf(earlier.certificate)).toBe(200);
    await done(`${mount}/root/rotate/internal`, { common_name: 'new', key_type: 'ec' });
    await done(`${mount}/root/replace`, { default: 'next' });
    const later = await issue(mount);
    expect(later.issuing_ca).not.toBe(earlier.issuing_ca);
    expect(await statusOf(later.certificate)).toBe(200);
    await openAuthority(`other-${serial}`);
    expect(await statusOf((await issue(`other-${serial}`)).certificate)).toBe(400);
    await done('auth/cert/certs/people', { pki_mounts: `${mount},other-${serial}/` });
    expect(await statusOf((await issue(`other-${serial}`)).certificate)).toBe(200);
  });

  test('revokes from the next login and renewal on', async () => {
    const [alice, bob] = [await issue(mount), await issue(mount, 'bob')];
    const { json } = await logIn(alice.certificate);
    const renew = () =>
      call(
        'POST',
        'auth/token/renew-self',
        {},
        {
          'x-service-token': json.auth.client_token,
          'client-cert': `:${derOf(alice.certificate)}:`,
        },
      );
    expect((await renew()).status).toBe(200);
    await done(`${mount}/revoke`, { serial_number: alice.serial_number });
    expect([await statusOf(alice.certificate), (await renew()).status]).toEqual([400, 400]);
    expect(await statusOf(bob.certificate)).toBe(200);
  });

  test('ends the logins below an issuer that it revokes', async () => {
    const { certificate } = await issue(mount);
    const { json } = await call('LIST', `${mount}/issuers`);
    await done(`${mount}/root/rotate/internal`, { common_name: 'new', key_type: 'ec' });
    await done(`${mount}/root/replace`, { default: 'next' });
    await done(`${mount}/issuer/${json.data.keys[0]}/revoke`);
    expect(await statusOf(certificate)).toBe(400);
    expect(await statusOf((await issue(mount)).certificate)).toBe(200);
  });

  test('signs authorities below it, whose certificates clients bring until it revokes them', async () => {
    const below = `below-${serial}`;
    await done(`sys/mounts/${below}`, { type: 'pki' });
    const { csr } = await done(`${below}/intermediate/generate/internal`, {
      common_name: 'below',
      key_type: 'ec',
    });
    const signed = await done(`${mount}/root/sign-intermediate`, { csr, common_name: 'below' });
    await done(`${below}/intermediate/set-signed`, {
      certificate: `${signed.certificate}\n${signed.issuing_ca}`,
    });
    await done(`${below}/roles/person`, PEOPLE);
    const { certificate } = await issue(below);
    expect(await statusOf(certificate)).toBe(400);
    expect(await statusOf(certificate, [signed.certificate])).toBe(200);
    // The mount below has no key of the authority above, whose other certificates it does not answer for.
    await done('auth/cert/certs/people', { pki_mounts: below });
    expect(await statusOf(certificate)).toBe(200);
    expect(await statusOf((await issue(mount)).certificate)).toBe(400);
    await done('auth/cert/certs/people', { pki_mounts: mount });
    await done(`${mount}/revoke`, { serial_number: signed.serial_number });
    expect(await statusOf(certificate, [signed.certificate])).toBe(400);
  });

  test('is the one that the role was written with, although another is mounted in its place', async () => {
    const { certificate } = await issue(mount);
    expect(await statusOf(certificate)).toBe(200);
    expect((await call('DELETE', `sys/mounts/${mount}`)).status).toBe(204);
    expect(await statusOf(certificate)).toBe(400);
    await openAuthority(mount);
    const again = await issue(mount);
    expect(await statusOf(again.certificate)).toBe(400);
    await done('auth/cert/certs/people', { pki_mounts: mount });
    expect(await statusOf(again.certificate)).toBe(200);
  });

  test.for([
    ['of another engine', 'sys'],
    ['that does not exist', 'nowhere'],
    ['of a child namespace', 'team/inner'],
  ] as const)('is none %s', async ([, path]) => {
    await call('POST', 'sys/namespaces/team');
    await call('POST', 'team/sys/mounts/inner', { type: 'pki' });
    const { status, json } = await call('POST', 'auth/cert/certs/x', { pki_mounts: path });
    expect([status, json.errors]).toEqual([
      400,
      [`pki_mounts names ${path}/, which is no mount of type pki in this namespace`],
    ]);
    expect((await call('GET', 'auth/cert/certs/x')).status).toBe(404);
  });

  test('is that of the namespace of the role', async () => {
    await call('POST', 'sys/namespaces/team');
    await done('team/sys/auth/cert', { type: 'cert' });
    const refused = await call('POST', 'team/auth/cert/certs/people', { pki_mounts: mount });
    expect(refused.status).toBe(400);
    await openAuthority('own', 'team/');
    await done('team/auth/cert/certs/people', { pki_mounts: 'own' });
    const { certificate } = await issue('team/own');
    expect((await logIn(certificate, [], 'team/auth/cert/login')).status).toBe(200);
    expect(await statusOf(certificate)).toBe(400);
  });

  test('may be one of several at most, and a role needs one or a certificate', async () => {
    const many = Array.from({ length: 9 }, () => mount).join(',');
    for (const [body, text] of [
      [{ pki_mounts: many }, 'pki_mounts has at most 8 elements'],
      [{ pki_mounts: '' }, 'missing certificate or pki_mounts'],
    ] as const)
      expect((await call('POST', 'auth/cert/certs/x', body)).json.errors).toEqual([text]);
    expect((await call('GET', 'auth/cert/certs/people')).json.data.pki_mounts).toEqual([
      `${mount}/`,
    ]);
  });
});

describe('a role that says who may enroll by EST', () => {
  const key = () => ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
  const enrol = async (pem: string, subject: string, operation = 'simpleenroll') => {
    const file = join(folder.path, 'device.key');
    const request = execFileSync(
      'openssl',
      ['req', '-new', ...key(), '-keyout', file, '-outform', 'DER', '-subj', subject],
      { stdio: ['ignore', 'pipe', 'ignore'] },
    );
    const response = await fetch(`${keelson.http}/.well-known/est/devices-${serial}/${operation}`, {
      method: 'POST',
      headers: { 'client-cert': `:${derOf(pem)}:`, 'content-type': 'application/pkcs10' },
      body: request.toString('base64'),
    });
    return [response.status, response.status === 200 ? '' : (await response.text()).trim()];
  };
  const NOT_ACCEPTED = [
    403,
    'the client certificate is not accepted: it does not sign in with the auth method that says who may enroll',
  ];
  const OWN_NAMES = [400, 'the subject is not that of the certificate that is renewed'];
  let devices: string;
  let accessor: string;
  const configure = (cert: object) =>
    call('POST', `${devices}/config/est`, {
      enabled: true,
      label_to_path_policy: { [`devices-${serial}`]: 'role:person' },
      authenticators: { cert },
    });

  beforeEach(async () => {
    devices = `devices-${serial}`;
    await openAuthority(devices);
    accessor = (await call('GET', 'sys/auth/cert')).json.data.accessor;
  });

  test('lets certificates of another mount enroll any name until it does no more', async () => {
    await done('auth/cert/certs/people', {
      pki_mounts: `${mount},${devices}`,
      allowed_common_names: 'factory*,device*',
    });
    expect((await configure({ accessor, cert_role: 'people' })).status).toBe(200);
    expect((await call('GET', `${devices}/config/est`)).json.data.authenticators).toEqual({
      cert: { accessor, cert_role: 'people' },
    });
    const factory = await issue(mount, 'factory-1');
    expect(await enrol(factory.certificate, '/CN=device-1')).toEqual([200, '']);
    expect(await enrol((await issue(mount, 'alice')).certificate, '/CN=device-1')).toEqual(
      NOT_ACCEPTED,
    );
    // Whoever has the key of one device does not become another.
    const own = await issue(devices, 'device-1');
    expect(await enrol(own.certificate, '/CN=device-1')).toEqual([200, '']);
    expect(await enrol(own.certificate, '/CN=device-1', 'simplereenroll')).toEqual([200, '']);
    expect(await enrol(own.certificate, '/CN=device-2')).toEqual(OWN_NAMES);
    await done(`${mount}/revoke`, { serial_number: factory.serial_number });
    expect(await enrol(factory.certificate, '/CN=device-1')).toEqual(NOT_ACCEPTED);
    expect((await call('DELETE', 'auth/cert/certs/people')).status).toBe(204);
    expect(await enrol(own.certificate, '/CN=device-1')).toEqual(NOT_ACCEPTED);
  });

  test('may be any of the mount, and is in addition to issuers', async () => {
    await done('auth/cert/certs/people', { pki_mounts: `${mount},${devices}` });
    await configure({ accessor });
    const alice = await issue(mount);
    expect(await enrol(alice.certificate, '/CN=device-1')).toEqual([200, '']);
    const { json } = await call('LIST', `${devices}/issuers`);
    await configure({ accessor, issuers: json.data.keys });
    expect(await enrol(alice.certificate, '/CN=device-1')).toEqual([
      403,
      'the client certificate is not accepted: no accepted issuer has signed it',
    ]);
  });

  test('must exist', async () => {
    for (const [cert, text] of [
      [{ accessor: 'cert_none' }, 'no mount of type cert in this namespace has the accessor'],
      [{ accessor, cert_role: 'nobody' }, 'there is no role nobody'],
      [{ accessor, cert_role: '../x' }, 'the name in the path'],
    ] as const) {
      const { status, json } = await configure(cert);
      expect([status, json.errors]).toEqual([400, [expect.stringContaining(text)]]);
    }
    await call('POST', 'sys/namespaces/other');
    await done('other/sys/auth/cert', { type: 'cert' });
    const elsewhere = (await call('GET', 'other/sys/auth/cert')).json.data.accessor;
    expect((await configure({ accessor: elsewhere })).status).toBe(400);
  });
});

test('the own responder of OCSP is asked about a certificate that names it', async () => {
  const ocsp = `${keelson.http}/v1/${mount}/ocsp`;
  await done(`${mount}/config/urls`, { ocsp_servers: ocsp });
  const [alice, bob] = [await issue(mount), await issue(mount, 'bob')];
  expect(
    execFileSync('openssl', ['x509', '-noout', '-ocsp_uri'], {
      input: alice.certificate,
    }).toString(),
  ).toBe(`${ocsp}\n`);
  await done('auth/cert/certs/people', {
    certificate: alice.issuing_ca,
    pki_mounts: '',
    ocsp_enabled: true,
  });
  expect(await statusOf(alice.certificate)).toBe(200);
  await done(`${mount}/revoke`, { serial_number: alice.serial_number });
  expect([await statusOf(alice.certificate), await statusOf(bob.certificate)]).toEqual([400, 200]);
  await done('auth/cert/certs/people', { ocsp_enabled: false });
});
