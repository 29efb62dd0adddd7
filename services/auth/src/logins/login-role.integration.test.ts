/**
 * The role that a login names, by which quotas count before anything is verified.
 *
 * | method       | named by                                                                 |
 * | ------------ | ------------------------------------------------------------------------ |
 * | `approle`    | the role id                                                              |
 * | `cert`       | `name`, or else the first role that fits; no responder is asked          |
 * | `jwt`,`oidc` | `role`, or else the default role; also when a login in a browser begins  |
 * | `kubernetes` | `role`                                                                   |
 * | others       | nothing                                                                  |
 */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';
import { type Authorities, CA, LEAF, openAuthorities } from '../../test/openssl-authority.ts';

let authorities: Authorities;
let auth: OpenAuth;
beforeAll(async () => {
  authorities = await openAuthorities();
  auth = await openAuth();
  authorities.make('ca', { subject: '/CN=CA', extensions: CA });
  authorities.make('alice', { subject: '/CN=alice', signer: 'ca', extensions: LEAF });
  authorities.make('stranger', { subject: '/CN=stranger', extensions: LEAF });
  auth.clock.advance(Date.now() - auth.clock.nowMs());
  const write = async (type: string, path: string, body: object) =>
    expect((await auth.call(type, 'POST', path, body)).status).toBeLessThan(300);
  await write('approle', 'role/Web', { role_id: 'the-web' });
  await write('cert', 'certs/staff', { certificate: authorities.pemOf('ca') });
  await write('cert', 'certs/admins', {
    certificate: authorities.pemOf('ca'),
    allowed_common_names: 'root',
  });
  await write('kubernetes', 'role/pod', {
    bound_service_account_names: 'web',
    bound_service_account_namespaces: 'shop',
  });
  await write('jwt', 'config', {
    jwt_validation_pubkeys: new X509Certificate(authorities.pemOf('ca')).publicKey.export({
      type: 'spki',
      format: 'pem',
    }),
    default_role: 'usual',
  });
  for (const role of ['usual', 'job'])
    await write('jwt', `role/${role}`, {
      role_type: 'jwt',
      user_claim: 'sub',
      bound_audiences: 'here',
    });
  await write('userpass', 'users/web', { password: 'right' });
}, 60_000);
afterAll(async () => {
  await auth.close();
  await authorities.close();
});

const roleOf = async (
  type: string,
  path: string,
  parameters: object,
  certificates: string[] = [],
) =>
  (
    await auth.service.methods.findLoginRole({
      mount: mountOf(type),
      path,
      parametersJson: Buffer.from(JSON.stringify(parameters)),
      clientCertificates: certificates.map((name) => authorities.derOf(name)),
    })
  ).role;

test.for([
  ['approle', 'login', { role_id: 'the-web' }, [], 'web'],
  ['approle', 'login', { role_id: 'unknown' }, [], ''],
  ['approle', 'login', { role_id: { of: 'the-web' } }, [], ''],
  ['approle', 'login', {}, [], ''],
  ['approle', 'role/web', { role_id: 'the-web' }, [], ''],
  ['cert', 'login', { name: 'staff' }, ['alice'], 'staff'],
  ['cert', 'login', {}, ['alice'], 'staff'],
  ['cert', 'login', { name: 'admins' }, ['alice'], ''],
  ['cert', 'login', {}, ['stranger'], ''],
  ['cert', 'login', { name: 'staff' }, [], ''],
  ['jwt', 'login', { role: 'Job' }, [], 'Job'],
  ['jwt', 'login', {}, [], 'usual'],
  ['jwt', 'login', { role: 'unknown' }, [], ''],
  ['jwt', 'login', { role: '../job' }, [], ''],
  ['jwt', 'oidc/auth_url', { role: 'job' }, [], 'job'],
  ['jwt', 'oidc/poll', { role: 'job' }, [], ''],
  ['kubernetes', 'login', { role: 'pod' }, [], 'pod'],
  ['kubernetes', 'login', { role: 'unknown' }, [], ''],
  ['userpass', 'login/web', { role: 'web' }, [], ''],
] as const)('%s %s %j with %j: %j', async ([type, path, parameters, certificates, role]) => {
  expect(await roleOf(type, path, parameters, [...certificates])).toBe(role);
});

test('the role of a login is recorded with its token', async () => {
  const secret = await auth.call('approle', 'POST', 'role/web/secret-id');
  await auth.call('approle', 'POST', 'login', {
    role_id: 'the-web',
    secret_id: secret.data.secret_id,
  });
  await auth.call('userpass', 'POST', 'login/web', { password: 'right' });
  expect(auth.logins.map(({ role }) => role)).toEqual(['web', '']);
});
