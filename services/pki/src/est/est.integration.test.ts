/** EST below a mount, read by openssl; through the gateway it is in services/standalone/test. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { leafRole, type Mounts, openMounts, other, third } from '../../test/open-mounts.ts';

let mounts: Mounts;
let root: { readonly certificate: string; readonly issuer_id: string };

beforeAll(async () => {
  mounts = await openMounts();
  root = await mounts.root('EST Root');
  await mounts.post('roles/device', { ...leafRole, ttl: '1h' });
  await mounts.post('roles/any', { ...leafRole, key_type: 'any' });
  await mounts.post('roles/rsa', { ...leafRole, key_type: 'rsa', key_bits: 3072 });
  await mounts.post('roles/ed', { ...leafRole, key_type: 'ed25519' });
  await mounts.post('roles/server', { ...leafRole, client_flag: false });
});
afterAll(() => mounts.close());

const config = (body: object, mount = mounts.pki.mount) =>
  mounts.pki.call('POST', 'config/est', body, { mount });

const newKey = (): string => {
  const file = mounts.file(`${Math.floor(performance.now() * 1000)}.key`, '');
  mounts.openssl(
    'genpkey',
    '-algorithm',
    'EC',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-out',
    file,
  );
  return file;
};

/** PKCS #10 in base64 lines. */
const csr = (subject: string, key: string, ...more: readonly string[]): string =>
  mounts
    .openssl('req', '-new', '-key', key, '-subj', subject, ...more)
    .replaceAll(/-----.*-----\n/g, '');

const clientCert = (pem: string) => ({
  'client-cert': `:${pem.replaceAll(/-----.*-----|\s/g, '')}:`,
});

const enroll = (
  path: string,
  body: string,
  headers: Readonly<Record<string, string>> = {},
  mount = mounts.pki.mount,
) =>
  mounts.pki.call('POST', path, Buffer.from(body), {
    contentType: 'application/pkcs10',
    headers,
    mount,
  });

/** The certificates of a certs-only message, by openssl. */
const certificatesIn = (bytes: Buffer): readonly string[] => {
  const der = mounts.file('answer.p7', Buffer.from(bytes.toString(), 'base64'));
  const text = mounts.openssl('pkcs7', '-inform', 'DER', '-in', der, '-print_certs');
  return text.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----\n?/g) ?? [];
};

const enrolled = async (subject: string, path = 'est/simpleenroll') => {
  const key = newKey();
  const answer = await enroll(path, csr(subject, key));
  expect([answer.status, answer.status === 200 ? '' : answer.bytes.toString()]).toEqual([200, '']);
  const [pem = ''] = certificatesIn(answer.bytes);
  return { key, pem, answer };
};

describe('the configuration of EST', () => {
  test('shows defaults, merges changes, and shows when it was changed', async () => {
    const read = await mounts.pki.call('GET', 'config/est');
    expect(read.data).toEqual({
      enabled: false,
      default_mount: false,
      default_path_policy: '',
      label_to_path_policy: {},
      authenticators: {},
      enable_sentinel_parsing: false,
      audit_fields: ['common_name', 'alt_names', 'ip_sans', 'uri_sans'],
      last_updated: '',
    });
    await config({ enabled: true, default_path_policy: 'role:device' });
    const { data } = await config({
      default_mount: true,
      label_to_path_policy: { servers: 'role:server', verbatim: 'sign-verbatim' },
      authenticators: { cert: { accessor: '', cert_role: '' }, userpass: {} },
      audit_fields: ['common_name', 'key_type'],
    });
    expect(data).toEqual({
      enabled: true,
      default_mount: true,
      default_path_policy: 'role:device',
      label_to_path_policy: { servers: 'role:server', verbatim: 'sign-verbatim' },
      authenticators: {
        cert: { accessor: '', cert_role: '' },
        userpass: { accessor: '' },
      },
      enable_sentinel_parsing: false,
      audit_fields: ['common_name', 'key_type'],
      last_updated: new Date(mounts.pki.clock.nowMs()).toISOString(),
    });
  });

  test.for([
    ['a path policy of another kind', { default_path_policy: 'external-policy' }, /path policy/],
    ['a role that is not there', { default_path_policy: 'role:nobody' }, /unknown role: nobody/],
    ['a default mount that decides nothing', { default_path_policy: '' }, /must be set/],
    ['a label with a slash', { label_to_path_policy: { 'a/b': 'sign-verbatim' } }, /be a label/],
    ['a label named as an operation', { label_to_path_policy: { fullcmc: 'x' } }, /be a label/],
    ['a label for nothing', { label_to_path_policy: { a: '' } }, /no path policy/],
    ['an authenticator of another kind', { authenticators: { ldap: {} } }, /no authenticator/],
    ['an authenticator that is text', { authenticators: { cert: 'x' } }, /must be an object/],
    ['a member of none', { authenticators: { userpass: { path: 'x' } } }, /has no path/],
    [
      'an accessor of no mount',
      { authenticators: { cert: { accessor: 'a' } } },
      /no mount of type cert in this namespace has the accessor a$/,
    ],
    [
      'an accessor that is no text',
      { authenticators: { cert: { accessor: ['a'] } } },
      /cert.accessor must be a text/,
    ],
    [
      'a role of cert without its mount',
      { authenticators: { cert: { cert_role: 'r' } } },
      /cert_role needs the accessor/,
    ],
    [
      'an accessor of userpass',
      { authenticators: { userpass: { accessor: 'a' } } },
      /userpass.acc/,
    ],
    ['an issuer that is not there', { authenticators: { cert: { issuers: 'x' } } }, /no issuer x$/],
    ['what has no effect here', { enable_sentinel_parsing: true }, /no Sentinel policies/],
    ['an unknown audit field', { audit_fields: 'password' }, /no audit field/],
  ] as const)('refuses %s', async ([, body, text]) => {
    const { status, json } = await config(body);
    expect(status).toBe(400);
    expect(json.errors[0]).toMatch(text);
  });

  test('allows one default mount and each label once, over all mounts', async () => {
    const taken = await config({ label_to_path_policy: { servers: 'sign-verbatim' } }, other);
    expect(taken.json.errors[0]).toMatch(/belongs to another mount/);
    const second = await config(
      { default_mount: true, default_path_policy: 'sign-verbatim' },
      other,
    );
    expect(second.json.errors[0]).toMatch(/another mount is the default/);
  });
});

describe('information before enrolment', () => {
  test('cacerts returns the chain of the issuer', async () => {
    const answer = await mounts.pki.call('GET', 'est/cacerts');
    expect([
      answer.status,
      answer.headers.get('content-type'),
      answer.headers.get('content-transfer-encoding'),
    ]).toEqual([200, 'application/pkcs7-mime', 'base64']);
    // A form that GNU base64 and openssl base64 both read.
    expect(answer.bytes.toString()).toMatch(
      /^(?:[A-Za-z0-9+/]{64}\n)+[A-Za-z0-9+/]{1,64}={0,2}\n$/,
    );
    expect(certificatesIn(answer.bytes).map((pem) => pem.trim())).toEqual([root.certificate]);
  });

  test.for([
    ['device', 'prime256v1'],
    ['rsa', 'rsaEncryption'],
    ['ed', 'ED25519'],
  ])('csrattrs of the role %s requires keys of its kind', async ([role, text]) => {
    const answer = await mounts.pki.call('GET', `roles/${role}/est/csrattrs`);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      200,
      'application/csrattrs',
    ]);
    const der = mounts.file('attributes.der', Buffer.from(answer.bytes.toString(), 'base64'));
    expect(mounts.openssl('asn1parse', '-inform', 'DER', '-in', der)).toContain(text);
  });

  test('csrattrs requires nothing if any key is accepted', async () => {
    for (const path of ['roles/any/est/csrattrs', 'sign-verbatim/est/csrattrs'])
      expect((await mounts.pki.call('GET', path)).status).toBe(204);
  });

  test.for(['est', 'roles/device/est', 'sign-verbatim/est'])(
    '%s does not exist where EST is not enabled',
    async (path) => {
      const answer = await mounts.pki.call('GET', `${path}/cacerts`, undefined, { mount: third });
      expect([answer.status, answer.bytes.toString()]).toEqual([404, 'EST is not enabled here\n']);
    },
  );
});

describe('enrolment', () => {
  test.for(['est', 'roles/device/est', 'sign-verbatim/est'])(
    'by %s creates one certificate that openssl verifies',
    async (path) => {
      const { pem, answer } = await enrolled('/CN=device-1.example.com', `${path}/simpleenroll`);
      expect(answer.headers.get('content-type')).toBe(
        'application/pkcs7-mime; smime-type=certs-only',
      );
      expect(certificatesIn(answer.bytes)).toHaveLength(1);
      expect(mounts.verifies(root.certificate, [], pem)).toBe(true);
      expect(mounts.textOf(pem)).toContain('CN = device-1.example.com');
    },
  );

  test('accepts base64 with any whitespace, or without a type', async () => {
    const body = csr('/CN=spaces.example.com', newKey()).replaceAll(/.{7}/g, '$& \r\n\t');
    expect((await enroll('est/simpleenroll', body)).status).toBe(200);
    const untyped = await mounts.pki.call('POST', 'est/simpleenroll', Buffer.from(body), {
      contentType: '',
    });
    expect(untyped.status).toBe(200);
  });

  test('records requests in the audit log', async () => {
    const { answer } = await enrolled('/CN=recorded.example.com');
    const recorded = answer.headers.get('x-audited-request') ?? '';
    expect(JSON.parse(Buffer.from(recorded, 'base64').toString())).toEqual({
      common_name: 'recorded.example.com',
      key_type: 'ec',
    });
  });

  test.for([
    ['what is not base64', 400, '{}'],
    ['what is no request', 400, Buffer.from('hello').toString('base64')],
    ['nothing', 400, ''],
    ['too much', 413, 'A'.repeat(300_000)],
  ] as const)('refuses %s in plain text', async ([, status, body]) => {
    const answer = await enroll('est/simpleenroll', body);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([
      status,
      'text/plain; charset=utf-8',
    ]);
  });

  test('refuses a request for must-staple, which no role issues', async () => {
    const request = csr('/CN=a.example.com', newKey(), '-addext', 'tlsfeature=status_request');
    const answer = await enroll('est/simpleenroll', request);
    expect(answer.status).toBe(400);
    expect(answer.bytes.toString()).toContain('must-staple');
  });

  test('refuses what the role refuses, and bodies of another type', async () => {
    const key = mounts.file('rsa.key', '');
    mounts.openssl('genpkey', '-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048', '-out', key);
    const refused = await enroll('est/simpleenroll', csr('/CN=a.example.com', key));
    expect([refused.status, refused.bytes.toString()]).toEqual([
      400,
      'role requires keys of type ec\n',
    ]);
    const typed = await mounts.pki.call('POST', 'est/simpleenroll', Buffer.from(''), {
      contentType: 'application/json',
    });
    expect(typed.status).toBe(415);
  });
});

describe('the certificate of a TLS client', () => {
  const PATH = 'est/by-certificate/simpleenroll';
  const attempt = async (
    headers: Readonly<Record<string, string>>,
    path = PATH,
    subject = '/CN=next.example.com',
    ...more: readonly string[]
  ) => {
    const answer = await enroll(path, csr(subject, newKey(), ...more), headers);
    return [answer.status, answer.status === 200 ? 'ok' : answer.bytes.toString().trim()];
  };

  const LABELS = ['', 'servers/', 'verbatim/'] as const;
  const OTHER_SUBJECT = 'the subject is not that of the certificate that is renewed';
  const OTHER_NAMES = 'the alternative names are not those of the certificate that is renewed';

  test.for(LABELS)(
    'of the mount enrols the names it has and no others: label "%s"',
    async (label) => {
      const subject = '/CN=client.example.com';
      const { pem } = await enrolled(subject);
      const { data: issued } = await mounts.post('issue/device', {
        common_name: 'client.example.com',
      });
      for (const shown of [pem, issued.certificate])
        for (const operation of ['simpleenroll', 'simplereenroll']) {
          const by = (...request: readonly [string, ...string[]]) =>
            attempt(clientCert(shown), `est/by-certificate/${label}${operation}`, ...request);
          expect(await by(subject, '-addext', 'subjectAltName=DNS:client.example.com')).toEqual([
            200,
            'ok',
          ]);
          expect(await by('/CN=admin')).toEqual([400, OTHER_SUBJECT]);
          const more = 'subjectAltName=DNS:client.example.com,DNS:admin.example.com';
          expect(await by(subject, '-addext', more)).toEqual([400, OTHER_NAMES]);
        }
    },
  );

  test('chooses a label that there is', async () => {
    const { pem } = await enrolled('/CN=client.example.com');
    expect(await attempt(clientCert(pem), 'est/by-certificate/nothing/simpleenroll')).toEqual([
      404,
      'no mount serves EST under the label "nothing"',
    ]);
  });

  test('is required if there is no token', async () => {
    expect(await attempt({})).toEqual([401, 'enrolment needs a certificate of the TLS client']);
    expect(await attempt({ 'client-cert': 'x' })).toEqual([
      401,
      'enrolment needs a certificate of the TLS client',
    ]);
  });

  test('must be issued by the mount, for clients, not for a CA, and not be revoked', async () => {
    const foreign = await mounts.root('Foreign', other);
    const { data: alien } = await mounts.leafOf({ common_name: 'alien.example.com' });
    const refusal = (reason: string) => [403, `the client certificate is not accepted: ${reason}`];
    expect(await attempt(clientCert(alien.certificate))).toEqual(
      refusal('no accepted issuer has signed it'),
    );
    expect(await attempt(clientCert(foreign.certificate))).toEqual(
      refusal('no accepted issuer has signed it'),
    );
    expect(await attempt(clientCert(root.certificate))).toEqual(refusal('it is a CA certificate'));
    const server = await enrolled('/CN=server.example.com', 'roles/server/est/simpleenroll');
    expect(await attempt(clientCert(server.pem))).toEqual(
      refusal('its extended key usage is not that of clients'),
    );
    const { pem } = await enrolled('/CN=revoked.example.com');
    await mounts.post('revoke', { certificate: pem });
    expect(await attempt(clientCert(pem))).toEqual(refusal('it is revoked'));
  });

  test('of another authority enrols for the first time if `issuers` names that one', async () => {
    const { data: issuers } = await mounts.pki.call('LIST', 'issuers', undefined, { mount: other });
    const { data: foreign } = await mounts.pki.call('GET', `issuer/${issuers.keys[0]}`, undefined, {
      mount: other,
    });
    const imported = await mounts.post('issuers/import/cert', { pem_bundle: foreign.certificate });
    const [issuer] = imported.data.imported_issuers;
    const { data: device } = await mounts.leafOf({ common_name: 'factory.example.com' });
    const status = async (pem = device.certificate) => (await attempt(clientCert(pem)))[0];
    expect(await status()).toBe(403);
    await config({ authenticators: { cert: { issuers: [issuer] } } });
    expect(await status()).toBe(200);
    const own = await enrolled('/CN=own.example.com');
    expect(await status(own.pem)).toBe(403);
    await config({ authenticators: { cert: { issuers: [issuer, root.issuer_id] } } });
    expect([await status(), await status(own.pem)]).toEqual([200, 400]);
    await config({ authenticators: { cert: {}, userpass: {} } });
  });

  test('has no effect if certificates do not authenticate', async () => {
    const { pem } = await enrolled('/CN=next.example.com');
    await config({ authenticators: {} });
    expect((await attempt(clientCert(pem)))[0]).toBe(401);
    await config({ authenticators: { cert: {}, userpass: {} } });
  });
});

describe('renewal', () => {
  const renew = async (
    subject: string,
    pem: string | undefined,
    path = 'est/simplereenroll',
    ...more: readonly string[]
  ) => {
    const headers = pem === undefined ? {} : clientCert(pem);
    const answer = await enroll(path, csr(subject, newKey(), ...more), headers);
    return [answer.status, answer.status === 200 ? 'ok' : answer.bytes.toString().trim()];
  };

  test('is for the names of the presented certificate', async () => {
    const { pem } = await enrolled('/CN=renewed.example.com');
    expect(await renew('/CN=renewed.example.com', pem)).toEqual([200, 'ok']);
    const both = 'subjectAltName=DNS:renewed.example.com';
    const path = 'est/by-certificate/simplereenroll';
    expect(await renew('/CN=renewed.example.com', pem, path, '-addext', both)).toEqual([200, 'ok']);
    expect(await renew('/CN=other.example.com', pem)).toEqual([
      400,
      'the subject is not that of the certificate that is renewed',
    ]);
    const more = 'subjectAltName=DNS:renewed.example.com,DNS:admin.example.com';
    expect(await renew('/CN=renewed.example.com', pem, path, '-addext', more)).toEqual([
      400,
      'the alternative names are not those of the certificate that is renewed',
    ]);
  });

  test('requires that certificate even with a token, and a valid one', async () => {
    expect(await renew('/CN=renewed.example.com', undefined)).toEqual([
      403,
      'the client certificate is not accepted: the certificate being renewed was not presented by TLS',
    ]);
    const { pem } = await enrolled('/CN=gone.example.com');
    mounts.pki.clock.advance(2 * 3_600_000);
    expect(await renew('/CN=gone.example.com', pem)).toEqual([
      403,
      'the client certificate is not accepted: it is not valid at this time',
    ]);
  });
});
