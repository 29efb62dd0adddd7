/** The method cert: certificates as the gateway hands them on, made by openssl. */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';

const OID = '1.3.6.1.4.1.99999.1';
const NUMBER_OID = '1.3.6.1.4.1.99999.2';

let folder: TemporaryDirectory;
let auth: OpenAuth;

const openssl = (...args: readonly string[]): void => {
  execFileSync('openssl', args, { cwd: folder.path, stdio: 'ignore' });
};
const pemOf = (name: string): string => readFileSync(join(folder.path, `${name}.pem`), 'utf8');
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];

/** Signs a certificate; by itself without a signer. */
const make = (
  name: string,
  {
    subject = '/O=Example/OU=ops/CN=alice',
    signer,
    extensions = [],
    days = '30',
  }: {
    readonly subject?: string;
    readonly signer?: string;
    readonly extensions?: readonly string[];
    readonly days?: string;
  } = {},
): void => {
  const files = ['-keyout', `${name}.key`, '-out', `${name}.pem`, '-days', days];
  const added = extensions.flatMap((extension) => ['-addext', extension]);
  const ca = signer === undefined ? [] : ['-CA', `${signer}.pem`, '-CAkey', `${signer}.key`];
  openssl('req', '-x509', ...KEY, ...files, '-subj', subject, ...added, ...ca);
};

const LEAF = ['basicConstraints=critical,CA:FALSE', 'extendedKeyUsage=clientAuth'];
const NAMES =
  'subjectAltName=DNS:alice.example.com,email:alice@example.com,URI:spiffe://example/alice';
const OWN = [`${OID}=ASN1:UTF8String:team-web`, `${NUMBER_OID}=ASN1:INTEGER:5`];

beforeAll(async () => {
  folder = await temporaryDirectory();
  auth = await openAuth();
  const ca = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];
  make('ca', { subject: '/CN=CA', extensions: ca });
  make('imposter', { subject: '/CN=CA', extensions: ca });
  make('signs-nothing', { subject: '/CN=CA', extensions: [ca[0] ?? '', 'keyUsage=cRLSign'] });
  make('alice', { signer: 'ca', extensions: [...LEAF, NAMES, ...OWN] });
  make('bob', { subject: '/CN=bob', signer: 'ca', extensions: LEAF });
  make('of-imposter', { signer: 'imposter', extensions: [...LEAF, NAMES] });
  make('of-signs-nothing', { signer: 'signs-nothing', extensions: LEAF });
  make('server', { signer: 'ca', extensions: [LEAF[0] ?? '', 'extendedKeyUsage=serverAuth'] });
  make('authority', { subject: '/CN=sub', signer: 'ca', extensions: ca });
  writeFileSync(join(folder.path, 'index.txt'), '');
  writeFileSync(join(folder.path, 'crlnumber'), '01');
  const settings =
    'database=index.txt\ncrlnumber=crlnumber\ndefault_md=sha256\ndefault_crl_days=9\n';
  writeFileSync(join(folder.path, 'ca.conf'), `[ca]\ndefault_ca=own\n[own]\n${settings}`);
  const authority = ['ca', '-config', 'ca.conf', '-keyfile', 'ca.key', '-cert', 'ca.pem'];
  openssl(...authority, '-revoke', 'alice.pem');
  openssl(...authority, '-gencrl', '-out', 'revoked.pem');
  make('pinned', { subject: '/CN=pinned', extensions: LEAF });
  make('twin', { subject: '/CN=pinned', extensions: LEAF });
  // The clock of the service is that of the certificates, of which none begins later.
  auth.clock.advance(Date.now() - auth.clock.nowMs());
}, 60_000);
afterAll(async () => {
  await auth.close();
  await folder[Symbol.asyncDispose]();
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
const present = (name: string) => {
  const base64 = pemOf(name).replaceAll(/-----[^-]+-----|\s/g, '');
  return { 'client-cert': `:${base64}:` };
};
/** The status of a login, of which sys learns if it succeeds. */
const logIn = async (name: string, body: object = {}) => {
  auth.logins.length = 0;
  const { status, json } = await call('POST', 'login', body, present(name));
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
  const renew = async () => {
    const loginData = auth.logins[0]?.loginData ?? Buffer.alloc(0);
    const { limits } = await auth.service.methods.renewLogin({ mount, loginData });
    return limits?.ttlSeconds;
  };

  test('is refused without the certificate, unless the mount asks for none', async () => {
    await trust('ca', { token_ttl: '1h' });
    await logIn('alice');
    await expect(renew()).rejects.toThrow('its login would be refused now');
    await call('POST', 'config', { disable_binding: true });
    expect(await renew()).toBe(3600);
    expect((await call('GET', 'config')).data).toEqual({
      disable_binding: true,
      enable_identity_alias_metadata: false,
    });
    await call('DELETE', 'certs/ops');
    await expect(renew()).rejects.toThrow('its login would be refused now');
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
    [{ certificate: undefined }, 'missing certificate'],
    [{ certificate: 'none' }, 'certificate must be certificates in PEM'],
    [{ required_extensions: 'x:y' }, 'required_extensions must be'],
    [{ allowed_metadata_extensions: '1.2.x' }, 'allowed_metadata_extensions must be'],
    [{ ocsp_enabled: true }, 'ocsp_enabled is not supported'],
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
