/** Roles as clients keep them, and what each parameter makes of a certificate. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { MERGE_PATCH, type Mounts, openMounts } from '../../test/open-mounts.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
  await mounts.root();
});
afterEach(() => mounts.close());

/** Reference §3.1, word for word, but for the two durations, which the specification has as text. */
const DEFAULTS = {
  issuer_ref: 'default',
  ttl: '0s',
  max_ttl: '0s',
  allow_localhost: true,
  allowed_domains: [],
  allowed_domains_template: false,
  allow_bare_domains: false,
  allow_subdomains: false,
  allow_glob_domains: false,
  allow_wildcard_certificates: true,
  allow_any_name: false,
  enforce_hostnames: true,
  allow_ip_sans: true,
  allowed_ip_sans_cidr: [],
  allowed_uri_sans: [],
  allowed_uri_sans_template: false,
  allowed_other_sans: [],
  allowed_serial_numbers: [],
  allowed_user_ids: [],
  serial_number_source: 'json-csr',
  server_flag: true,
  client_flag: true,
  code_signing_flag: false,
  email_protection_flag: false,
  key_type: 'rsa',
  key_bits: 2048,
  signature_bits: 0,
  use_pss: false,
  key_usage: ['DigitalSignature', 'KeyAgreement', 'KeyEncipherment'],
  ext_key_usage: [],
  ext_key_usage_oids: [],
  use_csr_common_name: true,
  use_csr_sans: true,
  ou: [],
  organization: [],
  country: [],
  locality: [],
  province: [],
  street_address: [],
  postal_code: [],
  generate_lease: false,
  no_store: false,
  no_store_metadata: false,
  require_cn: true,
  cn_validations: ['email', 'hostname'],
  policy_identifiers: [],
  basic_constraints_valid_for_non_ca: false,
  not_before_duration: 30,
  not_after: '',
  not_before_bound: '',
  not_after_bound: '',
  allow_token_displayname: false,
};

describe('a role', () => {
  test.for([
    ['3600', '1h', 3600],
    ['90m', '90m', 5400],
    ['61s', '61s', 61],
    ['3d', '72h', 259_200],
    ['', '0s', 0],
  ] as const)(
    'has a lifetime of %s as text, and in seconds for vendor clients',
    async ([given, text, seconds]) => {
      const { pki, post } = mounts;
      expect((await post('roles/web', { ttl: given, max_ttl: given })).data).toMatchObject({
        ttl: text,
        max_ttl: text,
      });
      expect((await pki.call('GET', 'roles/web')).data).toMatchObject({ ttl: text, max_ttl: text });
      expect((await pki.call('GET', 'roles/web', undefined, { vendor: true })).data).toMatchObject({
        ttl: seconds,
        max_ttl: seconds,
      });
    },
  );

  test('is created with every default, replaced by POST and merged by PATCH', async () => {
    const { pki, post } = mounts;
    expect((await pki.call('LIST', 'roles')).status).toBe(404);
    expect((await post('roles/web')).data).toEqual(DEFAULTS);
    expect((await pki.call('GET', 'roles/web')).data).toEqual(DEFAULTS);
    const changes = { allowed_domains: 'a.example,b.example', ttl: '2h', max_ttl: '1d', ou: ['X'] };
    const changed = {
      ...DEFAULTS,
      allowed_domains: ['a.example', 'b.example'],
      ttl: '2h',
      max_ttl: '24h',
      ou: ['X'],
    };
    const patch = (body: object) => pki.call('PATCH', 'roles/web', body, MERGE_PATCH);
    expect((await patch(changes)).data).toEqual(changed);
    expect((await patch({ ttl: null, ou: [] })).data).toEqual({
      ...changed,
      ttl: '0s',
      ou: [],
    });
    expect((await post('roles/web', { key_type: 'ec' })).data).toEqual({
      ...DEFAULTS,
      key_type: 'ec',
      key_bits: 256,
    });
    await post('roles/api', { key_type: 'any' });
    expect((await pki.call('LIST', 'roles')).data).toEqual({ keys: ['api', 'web'] });
    expect((await pki.call('DELETE', 'roles/web')).status).toBe(204);
    expect((await pki.call('GET', 'roles/web')).status).toBe(404);
    expect((await patch({ ttl: 1 })).json.errors).toEqual(['Unable to fetch role entry to patch']);
    const plain = await pki.call('PATCH', 'roles/api', { ttl: 1 });
    expect(plain.status).toBe(415);
  });

  test.for(['a role', 'a@b', 'ü', 'a+b', '-a', 'a.', 'x'.repeat(257)])(
    'named %s is refused with the rule for names',
    async (name) => {
      const path = `roles/${encodeURIComponent(name)}`;
      const { status, json } = await mounts.pki.call('POST', path, { key_type: 'ec' });
      expect([status, json.errors]).toEqual([
        400,
        [expect.stringContaining('at most 256 letters, digits')],
      ]);
    },
  );

  test.for([
    [{ ttl: '3h', max_ttl: '2h' }, '"ttl" value must be less than "max_ttl" value'],
    [{ ext_key_usage_oids: '1.x' }, 'ext_key_usage_oids: "1.x" is not an object identifier'],
    [{ cn_validations: 'disabled,email' }, 'cn_validations value incorrect'],
    [{ cn_validations: 'iban' }, 'cn_validations value incorrect'],
    [{ policy_identifiers: 'x' }, 'is not an object identifier'],
    [{ policy_identifiers: [{ cps: 'https://cps.example' }] }, 'is not an object identifier'],
    [{ policy_identifiers: [['1.2.3']] }, 'policy_identifiers'],
    [{ allowed_ip_sans_cidr: '10.0.0.0/8,10' }, 'allowed_ip_sans_cidr: "10"'],
    [{ not_after: 'soon' }, 'not_after: "soon"'],
    [{ not_before_bound: 'never' }, 'not_before_bound: "never" is not one of permit, duration'],
    [{ not_after_bound: 'never' }, 'not_after_bound: "never" is not one of permit, ttl-limited'],
    [
      { allowed_domains: 'a.example,{{entity.name}}.b', allowed_domains_template: true },
      'allowed_domains: "{{entity.name}}" is not a parameter of an identity',
    ],
    [
      { allowed_domains: '{{identity.entity.name}.b', allowed_domains_template: true },
      'allowed_domains: "{{identity.entity.name}.b" has braces that are not of a template',
    ],
    [
      { allowed_uri_sans: 'spiffe://{{identity.}}', allowed_uri_sans_template: true },
      'allowed_uri_sans: "{{identity.}}" is not a parameter of an identity',
    ],
    [
      { allowed_uri_sans: '{{identity.entity.name}}', allowed_uri_sans_template: true },
      'allowed_uri_sans: "{{identity.entity.name}}" must begin with a scheme, such as "spiffe:"',
    ],
    [{ allowed_other_sans: '1.2.3' }, 'error parsing allowed_other_sans'],
    [{ signature_bits: 300 }, 'unsupported hash signature algorithm: 300'],
    [{ key_type: 'dsa' }, 'unknown key type dsa'],
    [{ key_type: 'rsa', key_bits: 1024 }, 'unsupported bit length for RSA key: 1024'],
    [{ serial_number_source: 'csr' }, 'unknown serial_number_source'],
    [{ ttl: 'soon' }, 'Field validation failed'],
  ] as const)('with %o is refused', async ([body, text]) => {
    expect(await mounts.refusal('roles/web', body)).toContain(text);
  });

  test('warns about settings that will have no effect', async () => {
    const { post } = mounts;
    const warningsOf = async (body: object) => (await post('roles/web', body)).json.warnings ?? [];
    expect(await warningsOf({ generate_lease: true })).toEqual([
      expect.stringContaining('disable generate_lease'),
    ]);
    expect(await warningsOf({ generate_lease: true, no_store: true })).toEqual([
      expect.stringContaining('mutually exclusive'),
    ]);
    expect(await warningsOf({ issuer_ref: 'later' })).toEqual([
      expect.stringContaining('no issuer is known as later'),
    ]);
    expect(await warningsOf({ max_ttl: '200000h' })).toEqual([
      expect.stringContaining("greater than the mount's maximum"),
    ]);
  });
});

const ANY = { allow_any_name: true, enforce_hostnames: false, key_type: 'ec' };

/** A parameter, a request, and what OpenSSL shows of the certificate: all of it, none of it. */
const SHOWN: readonly (readonly [object, object, readonly string[], readonly string[]])[] = [
  [
    {
      ou: 'Unit',
      organization: 'Acme,Other',
      country: 'NL',
      locality: 'Utrecht',
      province: 'U',
      street_address: 'Lane 1',
      postal_code: '3500',
    },
    {},
    [
      'C = NL',
      'O = Acme + O = Other',
      'OU = Unit',
      'L = Utrecht',
      'ST = U',
      'street = Lane 1',
      'postalCode = 3500',
    ],
    [],
  ],
  [
    {},
    {},
    [
      'Digital Signature, Key Agreement\n',
      'TLS Web Server Authentication, TLS Web Client Authentication',
      'X509v3 Subject Key Identifier',
      'X509v3 Authority Key Identifier',
    ],
    ['Basic Constraints', 'Certificate Policies'],
  ],
  [{ server_flag: false, client_flag: false }, {}, [], ['X509v3 Extended Key Usage']],
  [
    { server_flag: false, code_signing_flag: true, email_protection_flag: true },
    {},
    ['TLS Web Client Authentication, Code Signing, E-mail Protection'],
    ['TLS Web Server'],
  ],
  [
    {
      ext_key_usage: 'OCSPSigning,ExtKeyUsageTimeStamping',
      ext_key_usage_oids: '1.2.3.4',
    },
    {},
    ['Time Stamping', 'OCSP Signing', '1.2.3.4'],
    [],
  ],
  [{ key_usage: 'keyusagedatAencipherment' }, {}, ['Data Encipherment'], ['Digital Signature']],
  [{ key_usage: '' }, {}, [], ['X509v3 Key Usage']],
  [
    { basic_constraints_valid_for_non_ca: true },
    {},
    ['Basic Constraints: critical', 'CA:FALSE'],
    [],
  ],
  [
    {
      policy_identifiers: ['1.3.6.1.4.1.1', '{"oid":"1.3.6.1.4.1.2","cps":"https://cps.example"}'],
    },
    {},
    ['Policy: 1.3.6.1.4.1.1', 'Policy: 1.3.6.1.4.1.2', 'CPS: https://cps.example'],
    [],
  ],
  ...[
    [{ oid: '1.3.6.1.4.1.2', cps: 'https://cps.example' }, '1.3.6.1.4.1.1'],
    '[{"oid":"1.3.6.1.4.1.2","cps":"https://cps.example"},"1.3.6.1.4.1.1"]',
  ].map((policy_identifiers): (typeof SHOWN)[number] => [
    { policy_identifiers },
    {},
    ['Policy: 1.3.6.1.4.1.1', 'Policy: 1.3.6.1.4.1.2', 'CPS: https://cps.example'],
    [],
  ]),
  [{ not_after: '2031-02-03T04:05:06Z' }, {}, ['Not After : Feb  3 04:05:06 2031 GMT'], []],
  [{ allowed_serial_numbers: 'A-*' }, { serial_number: 'A-7' }, ['serialNumber = A-7'], []],
  [{ allowed_user_ids: '*' }, { user_ids: 'ann,bob' }, ['UID = ann, UID = bob'], []],
  [
    { require_cn: false },
    { common_name: '', alt_names: 'only.example.com' },
    ['Alternative Name: critical', 'DNS:only.example.com'],
    ['Subject: CN'],
  ],
  [{}, { exclude_cn_from_sans: true }, ['CN = leaf.example.com'], ['Alternative Name']],
  [{}, { common_name: 'me@example.com' }, ['email:me@example.com'], ['DNS:']],
  [{}, { common_name: '192.0.2.1' }, ['IP Address:192.0.2.1'], ['DNS:']],
  [{}, { common_name: 'Not A Name' }, ['CN = Not A Name'], ['Alternative Name']],
  [{}, { alt_names: 'bücher.example' }, ['DNS:xn--bcher-kva.example'], []],
];

test.for(SHOWN)(
  'a role with %o, asked for %o, makes a certificate with %o and without %o',
  async (row) => {
    const [role, request, shown, absent] = row;
    const { post, textOf } = mounts;
    await post('roles/web', { ...ANY, ...role });
    const { data } = await post('issue/web', { common_name: 'leaf.example.com', ...request });
    const text = textOf(data.certificate);
    for (const part of shown) expect(text).toContain(part);
    for (const part of absent) expect(text).not.toContain(part);
  },
);

const REFUSED: readonly (readonly [object, object, string])[] = [
  [{ allow_wildcard_certificates: false }, { common_name: '*.example.com' }, 'not allowed'],
  [{ enforce_hostnames: true }, { common_name: 'no host' }, 'common name no host not allowed'],
  // A conversion that drops them would make another name of it.
  ...['a\t.example.com', 'exa\nmple.com', 'example.com\r', 'a\u007f.example.com'].map(
    (common_name): (typeof REFUSED)[number] => [
      { enforce_hostnames: true },
      { common_name },
      `common name ${common_name} not allowed`,
    ],
  ),
  [{}, { alt_names: ['a\tb.example', 'c.example'] }, '"a\\tb.example" (not a host name)'],
  [{}, { alt_names: 'bücher.example,not a name' }, '"not a name" (not a host name)'],
  [{ cn_validations: 'email' }, {}, 'common name leaf.example.com not allowed by this role'],
  [{ allow_ip_sans: false }, { ip_sans: '192.0.2.1' }, 'IP Subject Alternative Names are not'],
  [
    { allowed_ip_sans_cidr: '10.0.0.0/8' },
    { ip_sans: '10.1.2.3,192.0.2.1' },
    'the IP address "192.0.2.1" is not allowed in this role',
  ],
  [
    { allowed_uri_sans: 'spiffe://*' },
    { uri_sans: 'spiffe://a,http://b' },
    'not valid for this role',
  ],
  [
    { allowed_other_sans: '1.2.3;UTF8:a*' },
    { other_sans: '1.2.3;UTF8:b' },
    'other SAN b not allowed',
  ],
  [{}, { other_sans: '1.2.3;IA5:b' }, 'only utf8 other SANs are supported'],
  [{ allowed_serial_numbers: 'A-*' }, { serial_number: 'B-7' }, 'serial_number B-7 not allowed'],
  [{ allowed_user_ids: 'ann' }, { user_ids: 'ann,eve' }, 'user_id eve is not allowed'],
];

test.for(REFUSED)('a role with %o refuses %o as a whole', async ([role, request, text]) => {
  const { pki, post, refusal } = mounts;
  await post('roles/web', { ...ANY, ...role });
  const asked = { common_name: 'leaf.example.com', ...request };
  expect(await refusal('issue/web', asked)).toContain(text);
  expect((await pki.call('LIST', 'certs')).data.keys).toHaveLength(1);
});

describe('signing under a role', () => {
  const requestFor = async (names: object): Promise<string> =>
    (await mounts.post('intermediate/generate/internal', { key_type: 'ec', ...names })).data.csr;

  test('uses names from the request, or from the caller if the role says so', async () => {
    const { post, textOf } = mounts;
    const csr = await requestFor({
      common_name: 'csr.example.com',
      alt_names: 'csr-alt.example.com',
      serial_number: '7',
    });
    const given = { csr, common_name: 'api.example.com', alt_names: 'api-alt.example.com' };
    const sign = async (role: object) => {
      await post('roles/web', { ...ANY, allowed_serial_numbers: '*', ...role });
      const answer = await post('sign/web', given);
      return { text: textOf(answer.data.certificate), warnings: answer.json.warnings };
    };
    const byCsr = await sign({});
    expect(byCsr.text).toMatch(/CN = csr\.example\.com, serialNumber = 7|serialNumber = 7/);
    expect(byCsr.text).toContain('DNS:csr-alt.example.com');
    expect(byCsr.text).not.toContain('api');
    expect(byCsr.warnings).toEqual([
      expect.stringContaining('"use_csr_common_name"'),
      expect.stringContaining('"use_csr_sans"'),
    ]);
    const byCaller = await sign({
      use_csr_common_name: false,
      use_csr_sans: false,
      serial_number_source: 'json',
    });
    expect(byCaller.text).toContain('CN = api.example.com');
    expect(byCaller.text).toContain('DNS:api-alt.example.com');
    expect(byCaller.text).not.toMatch(/csr-alt|serialNumber/);
    expect(byCaller.warnings).toBeNull();
  });

  test('checks the key of the request against the role', async () => {
    const { post, refusal } = mounts;
    const csr = await requestFor({ common_name: 'csr.example.com' });
    await post('roles/web', { ...ANY, key_type: 'rsa' });
    expect(await refusal('sign/web', { csr })).toBe('role requires keys of type rsa');
    await post('roles/web', { ...ANY, key_bits: 384 });
    expect(await refusal('sign/web', { csr })).toBe(
      "role requires a minimum of a 384-bit key, but CSR's key is 256 bits",
    );
    expect(await refusal('sign/web', {})).toBe('"csr" is empty');
    expect(await refusal('sign/nobody', { csr })).toBe('unknown role: nobody');
  });
});
