/** The method cert: certificates as the gateway hands them on, made by openssl. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { clientCertificateHeaders } from '@keelson/edge';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';
import {
  type Authorities,
  CA,
  type CertificateOptions,
  LEAF,
  openAuthorities,
} from '../../test/openssl-authority.ts';

const OID = '1.3.6.1.4.1.99999.1';
const NUMBER_OID = '1.3.6.1.4.1.99999.2';

let authorities: Authorities;
let auth: OpenAuth;

const openssl = (...args: readonly string[]): void => authorities.openssl(...args);
const pemOf = (name: string): string => authorities.pemOf(name);
const derOf = (name: string): Buffer => authorities.derOf(name);
const make = (name: string, options: CertificateOptions = {}): void =>
  authorities.make(name, options);

const NAMES =
  'subjectAltName=DNS:alice.example.com,email:alice@example.com,URI:spiffe://example/alice';
const OWN = [`${OID}=ASN1:UTF8String:team-web`, `${NUMBER_OID}=ASN1:INTEGER:5`];

/** Authorities below others, with the extensions that limit what they may sign. */
const AUTHORITIES: readonly (readonly [string, string, readonly string[]])[] = [
  ['short', 'ca', ['basicConstraints=critical,CA:TRUE,pathlen:0', 'keyUsage=keyCertSign']],
  ['below-short', 'short', CA],
  ['example-com', 'ca', [...CA, 'nameConstraints=critical,permitted;DNS:example.com']],
  ['example-org', 'ca', [...CA, 'nameConstraints=critical,permitted;DNS:example.org']],
  ['below-org', 'example-org', CA],
  ['without-alice', 'ca', [...CA, 'nameConstraints=critical,excluded;email:alice@example.com']],
  ['of-servers', 'ca', [...CA, 'extendedKeyUsage=serverAuth']],
  ['of-clients', 'ca', [...CA, 'extendedKeyUsage=clientAuth']],
  ['of-lists', 'ca', ['basicConstraints=critical,CA:TRUE', 'keyUsage=cRLSign']],
  ['strange', 'ca', [...CA, '1.2.3.4=critical,ASN1:NULL']],
];

beforeAll(async () => {
  authorities = await openAuthorities();
  auth = await openAuth();
  make('ca', { subject: '/CN=CA', extensions: CA });
  make('imposter', { subject: '/CN=CA', extensions: CA });
  make('signs-nothing', { subject: '/CN=CA', extensions: [CA[0] ?? '', 'keyUsage=cRLSign'] });
  make('alice', { signer: 'ca', extensions: [...LEAF, NAMES, ...OWN] });
  make('bob', { subject: '/CN=bob', signer: 'ca', extensions: LEAF });
  make('of-imposter', { signer: 'imposter', extensions: [...LEAF, NAMES] });
  make('of-signs-nothing', { signer: 'signs-nothing', extensions: LEAF });
  make('server', { signer: 'ca', extensions: [LEAF[0] ?? '', 'extendedKeyUsage=serverAuth'] });
  make('authority', { subject: '/CN=sub', signer: 'ca', extensions: CA });
  for (const [name, signer, extensions] of AUTHORITIES) {
    make(name, { subject: `/O=Example/CN=${name}`, signer, extensions });
    make(`of-${name}`, { signer: name, extensions: [...LEAF, NAMES] });
  }
  make('of-authority', { signer: 'authority', extensions: [...LEAF, NAMES] });
  make('of-bob', { signer: 'bob', extensions: LEAF });
  writeFileSync(join(authorities.path, 'index.txt'), '');
  writeFileSync(join(authorities.path, 'crlnumber'), '01');
  const settings =
    'database=index.txt\ncrlnumber=crlnumber\ndefault_md=sha256\ndefault_crl_days=9\n';
  writeFileSync(join(authorities.path, 'ca.conf'), `[ca]\ndefault_ca=own\n[own]\n${settings}`);
  const authority = ['ca', '-config', 'ca.conf', '-keyfile', 'ca.key', '-cert', 'ca.pem'];
  openssl(...authority, '-revoke', 'alice.pem');
  openssl(...authority, '-gencrl', '-out', 'revoked.pem');
  openssl(...authority, '-revoke', 'authority.pem');
  openssl(...authority, '-gencrl', '-out', 'authority-revoked.pem');
  make('pinned', { subject: '/CN=pinned', extensions: LEAF });
  make('twin', { subject: '/CN=pinned', extensions: LEAF });
  // The clock of the service is that of the certificates, of which none begins later.
  auth.clock.advance(Date.now() - auth.clock.nowMs());
}, 60_000);
afterAll(async () => {
  await auth.close();
  await authorities.close();
});

let serial = 0;
let mount: ReturnType<typeof mountOf>;
beforeEach(() => {
  serial += 1;
  mount = mountOf('cert', `8f0b1c1e-0000-4000-8000-${String(serial).padStart(12, '0')}`);
});
const call = (method: string, path: string, body?: unknown, headers = {}) =>
  auth.call('cert', method, path, body, { mount, headers });
const trust = async (name: string, settings: object = {}, role = 'ops') => {
  const { status } = await call('POST', `certs/${role}`, { certificate: pemOf(name), ...settings });
  expect(status).toBe(204);
};
/** The headers with which the gateway hands on the certificate of a client, and those that it sent with it. */
const present = (name: string, chain: readonly string[] = []) =>
  clientCertificateHeaders([name, ...chain].map(derOf));
/** The status of a login, of which sys learns if it succeeds. */
const logIn = async (name: string, body: object = {}, chain: readonly string[] = []) => {
  auth.logins.length = 0;
  const { status, json } = await call('POST', 'login', body, present(name, chain));
  expect(auth.logins).toHaveLength(status === 200 ? 1 : 0);
  return [status, ...(json.errors ?? [])];
};
const IN = [200];
const REFUSED = [400, 'failed to match all constraints for this login certificate'];

describe('a login', () => {
  test('with a certificate of an authority has what the role says', async () => {
    await trust('ca', { token_policies: 'ops', display_name: 'operators' });
    expect(await logIn('alice')).toEqual(IN);
    expect(auth.logins).toMatchObject([
      {
        displayName: 'operators',
        aliasName: 'alice',
        metadata: {
          cert_name: 'ops',
          common_name: 'alice',
          serial_number: expect.stringMatching(/^\d+$/),
        },
        aliasMetadata: {},
        limits: { policies: ['ops'] },
      },
    ]);
  });

  test.for([
    ['no authority of the role has signed', 'of-imposter'],
    ['an authority without the usage has signed', 'of-signs-nothing'],
    ['a server has', 'server'],
    ['an authority has', 'authority'],
    ['the authority itself is', 'ca'],
    ['signed itself', 'twin'],
  ] as const)('with a certificate that %s is refused', async ([, name]) => {
    await trust('ca');
    await trust('signs-nothing', {}, 'other');
    expect(await logIn(name)).toEqual(REFUSED);
  });

  test('with the certificate of the role itself is that certificate alone', async () => {
    await trust('pinned');
    expect(await logIn('pinned')).toEqual(IN);
    expect(await logIn('twin')).toEqual(REFUSED);
  });

  test.for([
    ['of-authority', ['authority']],
    ['of-authority', ['imposter', 'authority', 'ca']],
    ['of-short', ['short']],
    ['of-example-com', ['example-com']],
    ['of-of-clients', ['of-clients']],
  ] as const)(
    'with %s is that of an authority below, whose certificate it brings: %j',
    async ([name, chain]) => {
      await trust('ca');
      expect(await logIn(name, {}, chain)).toEqual(IN);
      expect(await logIn(name)).toEqual(REFUSED);
      await trust('imposter');
      expect(await logIn(name, {}, chain)).toEqual(REFUSED);
    },
  );

  test.for([
    ['whose authority is not that of the chain', 'of-authority', ['short']],
    ['below more authorities than allowed', 'of-below-short', ['below-short', 'short']],
    ['with names that its authority may not name', 'of-example-org', ['example-org']],
    ['with names that one above may not name', 'of-below-org', ['below-org', 'example-org']],
    ['with a name that its authority excludes', 'of-without-alice', ['without-alice']],
    ['of an authority of servers', 'of-of-servers', ['of-servers']],
    ['of an authority that signs lists alone', 'of-of-lists', ['of-lists']],
    ['of an authority with a critical extension that nobody knows', 'of-strange', ['strange']],
    ['that another client has signed', 'of-bob', ['bob']],
    ['that brings the authority of an imposter', 'of-imposter', ['imposter', 'ca']],
  ] as const)('with a certificate %s is refused', async ([, name, chain]) => {
    await trust('ca');
    expect(await logIn(name, {}, chain)).toEqual(REFUSED);
  });

  test('is refused when an authority above its certificate is revoked', async () => {
    await trust('ca');
    await call('POST', 'crls/ours', { crl: pemOf('authority-revoked') });
    expect(await logIn('of-authority', {}, ['authority'])).toEqual(REFUSED);
    expect(await logIn('of-short', {}, ['short'])).toEqual(IN);
  });

  test('needs a certificate that is one', async () => {
    await trust('ca');
    for (const headers of [{}, { 'client-cert': 'none' }, { 'client-cert': ':AAAA:' }])
      expect((await call('POST', 'login', {}, headers)).status).toBe(400);
  });

  test('is refused outside of the validity of the certificate', async () => {
    await trust('ca');
    const far = await openAuth();
    try {
      const body = { certificate: pemOf('ca') };
      await far.call('cert', 'POST', 'certs/ops', body, { mount });
      const at = { mount, headers: present('alice') };
      const statuses: number[] = [];
      for (const days of [-1, 1, 31]) {
        far.clock.advance(Date.now() + days * 24 * 3_600_000 - far.clock.nowMs());
        statuses.push((await far.call('cert', 'POST', 'login', {}, at)).status);
      }
      expect(statuses).toEqual([400, 200, 400]);
    } finally {
      await far.close();
    }
  });

  test('takes the named role, or the first one that fits', async () => {
    await trust('ca', { allowed_common_names: 'bob' }, 'a');
    await trust('ca', { token_policies: 'b' }, 'b');
    await trust('ca', { token_policies: 'c' }, 'c');
    expect(await logIn('alice')).toEqual(IN);
    expect(auth.logins).toMatchObject([{ limits: { policies: ['b'] } }]);
    expect(await logIn('alice', { name: 'C' })).toEqual(IN);
    expect(auth.logins).toMatchObject([{ limits: { policies: ['c'] } }]);
    for (const name of ['a', 'absent']) expect(await logIn('alice', { name })).toEqual(REFUSED);
  });

  test.for([
    ['allowed_names', ['alice', 'x,*.example.com', 'alice@*'], ['ali', 'example.com']],
    ['allowed_common_names', ['alice', 'al*'], ['alice.example.com', 'bob']],
    ['allowed_dns_sans', ['*.example.com'], ['alice', 'alice@example.com']],
    ['allowed_email_sans', ['*@example.com'], ['*.example.com.*', 'alice']],
    ['allowed_uri_sans', ['spiffe://example/*'], ['spiffe://other/*']],
    ['allowed_organizational_units', ['ops'], ['Example', 'dev']],
    ['allowed_organizations', ['Exam*'], ['ops']],
    [
      'required_extensions',
      [`${OID}:team-*`, `hex:${NUMBER_OID}:020105`, `${OID}:team-web,hex:${NUMBER_OID}:0201*`],
      [`${OID}:team`, `${NUMBER_OID}:5`, '1.2.3:*', `${OID}:team-web,1.2.3:*`],
    ],
  ] as const)('is bound to %s', async ([name, right, wrong]) => {
    for (const value of right) {
      await trust('ca', { [name]: value });
      expect([value, await logIn('alice')]).toEqual([value, IN]);
    }
    for (const value of wrong) {
      await trust('ca', { [name]: value });
      expect([value, await logIn('alice')]).toEqual([value, REFUSED]);
    }
  });

  test('has the values of extensions in its metadata, and of its alias where that is set', async () => {
    await trust('ca', { allowed_metadata_extensions: `${OID},${NUMBER_OID},1.2.3` });
    await call('POST', 'config', { enable_identity_alias_metadata: true });
    await logIn('alice');
    const metadata = {
      cert_name: 'ops',
      common_name: 'alice',
      serial_number: expect.stringMatching(/^\d+$/),
      '1-3-6-1-4-1-99999-1': 'team-web',
    };
    expect(auth.logins).toMatchObject([{ metadata, aliasMetadata: metadata }]);
  });

  test('with a revoked certificate is refused until the list is gone', async () => {
    await trust('ca');
    await call('POST', 'crls/ours', { crl: pemOf('revoked') });
    expect(await logIn('alice')).toEqual(REFUSED);
    expect(await logIn('bob')).toEqual(IN);
    const { data } = await call('GET', 'crls/ours');
    expect(Object.keys(data.serials)).toHaveLength(1);
    await call('DELETE', 'crls/ours');
    expect(await logIn('alice')).toEqual(IN);
  });
});

describe('a renewal', () => {
  /** The lifetime that the token of the last login may have now, or the error. */
  const renew = (names: readonly string[] = [], isVerified = false) => {
    const loginData = auth.logins[0]?.loginData ?? Buffer.alloc(0);
    return auth.renew(mount, loginData, { clientCertificates: names.map(derOf), isVerified }).then(
      (limits) => limits?.ttlSeconds,
      ({ message }: Error) => message,
    );
  };
  const NOT_RENEWED = 'the token cannot be renewed: its login would be refused now';

  test('needs the certificate of the login, unless the mount asks for none', async () => {
    await trust('ca', { token_ttl: '1h' });
    await logIn('alice');
    expect(await renew(['alice'])).toBe(3600);
    for (const others of [[], ['bob'], ['bob', 'alice'], ['of-imposter']])
      expect([others, await renew(others)]).toEqual([others, NOT_RENEWED]);
    await call('POST', 'config', { disable_binding: true });
    expect(await renew()).toBe(3600);
    expect((await call('GET', 'config')).data).toEqual({
      disable_binding: true,
      enable_identity_alias_metadata: false,
    });
    await call('DELETE', 'certs/ops');
    expect(await renew(['alice'])).toBe(NOT_RENEWED);
  });

  test('is refused with a certificate that signs in no more', async () => {
    await trust('ca', { token_ttl: '1h' });
    await logIn('alice');
    await call('POST', 'crls/ours', { crl: pemOf('revoked') });
    expect(await renew(['alice'])).toBe(NOT_RENEWED);
    await call('DELETE', 'crls/ours');
    await trust('imposter');
    expect(await renew(['alice'])).toBe(NOT_RENEWED);
    await trust('ca', { allowed_common_names: 'bob' });
    expect(await renew(['alice'])).toBe(NOT_RENEWED);
  });

  test('needs the intermediate certificates as the login does', async () => {
    await trust('ca', { token_ttl: '1h' });
    await logIn('of-authority', {}, ['authority']);
    expect(await renew(['of-authority', 'authority'])).toBe(3600);
    expect(await renew(['of-authority'])).toBe(NOT_RENEWED);
  });

  test('asks for no certificate while the login itself waits for its second factor', async () => {
    await trust('ca', { token_ttl: '1h' });
    await logIn('alice');
    expect(await renew([], true)).toBe(3600);
    await call('DELETE', 'certs/ops');
    expect(await renew([], true)).toBe(NOT_RENEWED);
  });
});

describe('a role', () => {
  test('is listed, read as it was written, changed part by part, and deleted', async () => {
    await trust('ca', { allowed_dns_sans: 'a,b', policies: 'dev', ttl: '1h' }, 'Web');
    await call('POST', 'certs/web', { allowed_dns_sans: 'c' });
    expect((await call('GET', 'certs/WEB')).data).toMatchObject({
      certificate: pemOf('ca'),
      allowed_dns_sans: ['c'],
      allowed_names: [],
      token_policies: ['dev'],
      policies: ['dev'],
      token_ttl: 3600,
    });
    expect((await call('LIST', 'certs')).data).toEqual({ keys: ['web'] });
    expect((await call('DELETE', 'certs/web')).status).toBe(204);
    expect((await call('GET', 'certs/web')).status).toBe(404);
  });

  test.for([
    [{ certificate: undefined }, 'missing certificate or pki_mounts'],
    [{ pki_mounts: 'nowhere' }, 'pki_mounts names nowhere/, which is no mount of type pki'],
    [{ certificate: 'none' }, 'certificate must be certificates in PEM'],
    [{ required_extensions: 'x:y' }, 'required_extensions must be'],
    [{ allowed_metadata_extensions: '1.2.x' }, 'allowed_metadata_extensions must be'],
    [{ ocsp_ca_certificates: 'none' }, 'ocsp_ca_certificates must be certificates in PEM'],
    [{ ocsp_servers_override: 'ftp://a' }, 'ocsp_servers_override must be an http or https URL'],
    [{ ocsp_servers_override: 'http://u:p@a' }, 'ocsp_servers_override must be an http or https'],
    [{ ocsp_servers_override: 'http://a,'.repeat(9) }, 'ocsp_servers_override has at most 8'],
    [{ ocsp_max_retries: 11 }, 'ocsp_max_retries must be an integer from 0 to 10'],
    [{ ocsp_max_retries: -1 }, 'ocsp_max_retries must be an integer from 0 to 10'],
    [{ ocsp_this_update_max_age: '-1h' }, 'ocsp_this_update_max_age'],
    [{ ocsp_fail_open: 'maybe' }, 'ocsp_fail_open'],
    [{ token_policies: 'root' }, 'token_policies cannot contain "root"'],
  ] as const)('is refused with %j', async ([settings, text]) => {
    const body = { certificate: pemOf('ca'), ...settings };
    const { status, json } = await call('POST', 'certs/web', body);
    expect([status, json.errors]).toEqual([400, [expect.stringContaining(text)]]);
    expect((await call('GET', 'certs/web')).status).toBe(404);
  });

  test.for(['none', '', 'ca'])('has no revocation list of %s', async (given) => {
    const crl = given === 'ca' ? pemOf('ca') : given;
    const { status, json } = await call('POST', 'crls/x', { crl });
    expect([status, json.errors]).toEqual([400, [expect.stringContaining('crl')]]);
    expect((await call('LIST', 'crls')).status).toBe(404);
  });
});
