/** Alternative names of requests: which become part of a certificate, and what becomes of the others. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Mounts, newRequest, openMounts } from '../../test/open-mounts.ts';

let mounts: Mounts;
beforeAll(async () => {
  mounts = await openMounts();
  await mounts.root();
  const role = { allowed_domains: 'example.com', allow_subdomains: true, key_type: 'ec' };
  await mounts.post('roles/web', role);
  await mounts.post('roles/relaxed', { ...role, enforce_hostnames: false });
  await mounts.post('roles/any', { allow_any_name: true, key_type: 'ec' });
  await mounts.post('roles/body', { ...role, use_csr_sans: false });
});
afterAll(() => mounts.close());

const NAME = 'a.example.com';
/** Alternative names as OpenSSL shows them. */
const namesOf = (pem: string): string | undefined =>
  /Alternative Name:.*\n\s*(.*)/.exec(mounts.textOf(pem))?.[1];
/** A certificate or a request as OpenSSL shows it. */
const shownOf = (pem: string): string =>
  pem.includes('REQUEST')
    ? mounts.openssl('req', '-noout', '-text', '-in', mounts.file('shown.csr', pem))
    : mounts.textOf(pem);
const certificateCount = async (): Promise<number> =>
  (await mounts.pki.call('LIST', 'certs')).data.keys.length;

/** The same names, requested from `issue` in the body and from `sign` in the CSR. */
const bothWays = (role: string, name: string) => [
  { path: `issue/${role}`, body: { common_name: NAME, alt_names: [name] } },
  {
    path: `sign/${role}`,
    body: { csr: newRequest(mounts, `/CN=${NAME}`, [`subjectAltName=DNS:${NAME},DNS:${name}`]) },
  },
];

const NO_HOST_NAMES = [
  'foo_bar.example.com',
  'b.example.com:8443',
  'http://b.example.com',
  'b.example.com/evil',
  'a..b.example.com',
  '-x.example.com',
  '.example.com',
  'ex ample.com',
  `${'l'.repeat(64)}.example.com`,
];

describe('a name that is not a valid host name', () => {
  test.for(NO_HOST_NAMES)(
    'such as %s refuses the request with an error that names it',
    async (name) => {
      const before = await certificateCount();
      for (const { path, body } of bothWays('web', name)) {
        const refusal = await mounts.refusal(path, body);
        expect([path, refusal]).toEqual([
          path,
          `subject alternative names that cannot be in the certificate: "${name}" (not a host name)`,
        ]);
      }
      expect(await certificateCount()).toBe(before);
    },
  );

  test.for(NO_HOST_NAMES)(
    'such as %s is left out with a warning for vendor clients',
    async (name) => {
      for (const { path, body } of bothWays('web', name)) {
        const { status, data, json } = await mounts.pki.call('POST', path, body, { vendor: true });
        expect([path, status]).toEqual([path, 200]);
        expect(namesOf(data.certificate)).toBe(`DNS:${NAME}`);
        expect(json.warnings).toEqual([
          `subject alternative names left out of the certificate: "${name}" (not a host name)`,
        ]);
      }
    },
  );

  test('is written without the dot of the DNS root', async () => {
    for (const { path, body } of bothWays('web', 'b.example.com.')) {
      const { data } = await mounts.post(path, body);
      expect([path, namesOf(data.certificate)?.split(', ').toSorted()]).toEqual([
        path,
        [`DNS:${NAME}`, 'DNS:b.example.com'],
      ]);
    }
    const { data } = await mounts.post('issue/web', { common_name: 'c.example.com.' });
    expect(namesOf(data.certificate)).toBe('DNS:c.example.com');
    expect(shownOf(data.certificate)).toMatch(/CN = c\.example\.com\n/);
    const csr = newRequest(mounts, `/CN=${NAME}`, ['subjectAltName=DNS:b.example.com.']);
    for (const path of ['sign-verbatim', 'root/sign-intermediate'])
      expect(await mounts.refusal(path, { csr, use_csr_values: true })).toContain(
        'a DNS name ends with a dot',
      );
  });

  test('is reported with nine others at most', async () => {
    const alt_names = Array.from({ length: 12 }, (_, i) => `no host ${i}`);
    const refusal = await mounts.refusal('issue/web', { common_name: NAME, alt_names });
    expect(refusal).toContain('"no host 9" (not a host name) and 2 more');
    expect(refusal).not.toContain('no host 10');
  });

  test('may contain underscores if the role enforces no host names', async () => {
    for (const { path, body } of bothWays('relaxed', '_sip._tcp.example.com')) {
      const { data } = await mounts.post(path, body);
      expect([path, namesOf(data.certificate)]).toEqual([
        path,
        expect.stringContaining('DNS:_sip._tcp.example.com'),
      ]);
    }
    const named = await mounts.post('issue/relaxed', { common_name: 'foo_bar.example.com' });
    expect(namesOf(named.data.certificate)).toBe('DNS:foo_bar.example.com');
    for (const { path, body } of bothWays('relaxed', 'a..b.example.com'))
      expect(await mounts.refusal(path, body)).toContain('"a..b.example.com"');
  });

  test.for(['root/generate/internal', 'intermediate/generate/internal', 'root/sign-intermediate'])(
    'refuses %s, or is left out of it with a warning',
    async (path) => {
      const body = {
        common_name: 'An Authority',
        alt_names: 'ca.example.com,a..b',
        key_type: 'ec',
        csr: newRequest(mounts, '/CN=An Authority'),
      };
      expect(await mounts.refusal(path, body)).toContain('"a..b" (not a host name)');
      const { json, data } = await mounts.pki.call('POST', path, body, { vendor: true });
      expect(json.warnings).toContainEqual(expect.stringContaining('"a..b" (not a host name)'));
      const made = data.certificate ?? data.csr;
      expect(shownOf(made)).toContain('DNS:ca.example.com');
      expect(shownOf(made)).not.toContain('a..b');
    },
  );
});

describe('a name of the body that those of the CSR replace', () => {
  const csr = () => newRequest(mounts, `/CN=${NAME}`, [`subjectAltName=DNS:${NAME}`]);

  test.for([
    [{ alt_names: 'b.example.com' }, 'use_csr_sans'],
    [{ ip_sans: '10.0.0.1' }, 'use_csr_sans'],
    [{ uri_sans: 'https://a.example.com/x' }, 'use_csr_sans'],
    [{ exclude_cn_from_sans: true }, 'use_csr_sans'],
    [{ common_name: 'b.example.com' }, 'use_csr_common_name'],
  ] as const)('is answered with a warning: %o', async ([body, setting]) => {
    await mounts.post('roles/uris', {
      allowed_domains: 'example.com',
      allow_subdomains: true,
      key_type: 'ec',
      allowed_uri_sans: 'https://*',
    });
    const [name = ''] = Object.keys(body);
    for (const path of ['sign/uris', 'issuer/default/sign/uris']) {
      const { data, json } = await mounts.post(path, { csr: csr(), ...body });
      expect(namesOf(data.certificate)).toBe(`DNS:${NAME}`);
      expect(json.warnings).toEqual([
        `the ${name} field was provided but the role is set with "${setting}" set to true`,
      ]);
    }
  });

  test.for([
    { alt_names: 'www.example.org' },
    { alt_names: 'no host' },
    { ip_sans: '10.0.0.1' },
    { ip_sans: 'ten' },
    { uri_sans: 'http://evil/' },
    { common_name: 'www.example.org' },
  ] as const)(
    'is refused if the role does not allow it, except for vendor clients: %o',
    async (body) => {
      await mounts.post('roles/bare', {
        allowed_domains: 'example.com',
        allow_subdomains: true,
        key_type: 'ec',
        allow_ip_sans: false,
      });
      const before = await certificateCount();
      expect(await mounts.refusal('sign/bare', { csr: csr(), ...body })).toContain(
        Object.values(body)[0],
      );
      expect(await certificateCount()).toBe(before);
      const sent = { csr: csr(), ...body };
      const { data, json } = await mounts.pki.call('POST', 'sign/bare', sent, { vendor: true });
      expect(namesOf(data.certificate)).toBe(`DNS:${NAME}`);
      expect(json.warnings).toEqual([expect.stringContaining(Object.keys(body)[0] ?? '')]);
    },
  );
});

/** Names that the role `strict` does not allow: as a field of `issue`, in a CSR, in an error, and in a warning. */
const NOT_ALLOWED = [
  {
    field: { alt_names: 'b.example.com,www.example.org,www.example.net' },
    csr: 'DNS:b.example.com,DNS:www.example.org,DNS:www.example.net',
    refusal: () =>
      'subject alternate name www.example.org not allowed by this role; subject alternate name www.example.net not allowed by this role',
    named: ['www.example.org', 'www.example.net'],
    left: `DNS:b.example.com, DNS:${NAME}`,
  },
  {
    field: { alt_names: 'me@example.org' },
    csr: 'email:me@example.org',
    refusal: () => 'email address me@example.org not allowed by this role',
    named: ['me@example.org'],
    left: `DNS:${NAME}`,
  },
  {
    field: { ip_sans: '10.0.0.1,192.0.2.1' },
    csr: 'IP:10.0.0.1,IP:192.0.2.1',
    refusal: () => 'the IP address "192.0.2.1" is not allowed in this role',
    named: ['192.0.2.1'],
    left: `DNS:${NAME}, IP Address:10.0.0.1`,
  },
  {
    field: { uri_sans: 'spiffe://a,https://b' },
    csr: 'URI:spiffe://a,URI:https://b',
    refusal: (source: string) =>
      `URI Subject Alternative Names were provided via ${source} which are not valid for this role: https://b`,
    named: ['https://b'],
    left: `DNS:${NAME}, URI:spiffe://a`,
  },
  {
    field: { other_sans: '1.2.3;UTF8:a,1.2.3;UTF8:b,1.2.4;UTF8:a' },
    csr: 'otherName:1.2.3;UTF8:a,otherName:1.2.3;UTF8:b,otherName:1.2.4;UTF8:a',
    refusal: () =>
      'other SAN b not allowed for OID 1.2.3 by this role; other SAN OID 1.2.4 not allowed by this role',
    named: ['1.2.3;UTF8:b', '1.2.4;UTF8:a'],
    left: `othername: 1.2.3::a, DNS:${NAME}`,
  },
];

describe('names that the role does not allow', () => {
  const requestsOf = ({ field, csr }: (typeof NOT_ALLOWED)[number]) => [
    ['the API', 'issue/strict', { common_name: NAME, ...field }] as const,
    [
      'CSR',
      'sign/strict',
      { csr: newRequest(mounts, `/CN=${NAME}`, [`subjectAltName=${csr}`]) },
    ] as const,
  ];
  beforeAll(() =>
    mounts.post('roles/strict', {
      allowed_domains: 'example.com',
      allow_subdomains: true,
      key_type: 'ec',
      allowed_ip_sans_cidr: '10.0.0.0/8',
      allowed_uri_sans: 'spiffe://*',
      allowed_other_sans: '1.2.3;UTF8:a',
    }),
  );

  test.for(NOT_ALLOWED)(
    'such as $named are all in the error, and nothing is issued',
    async (row) => {
      const before = await certificateCount();
      for (const [source, path, body] of requestsOf(row))
        expect([path, await mounts.refusal(path, body)]).toEqual([path, row.refusal(source)]);
      expect(await certificateCount()).toBe(before);
    },
  );

  test.for(NOT_ALLOWED)(
    'such as $named are left out with a warning for vendor clients',
    async (row) => {
      const list = row.named.map((name) => `"${name}" (not allowed by this role)`).join(', ');
      for (const [, path, body] of requestsOf(row)) {
        const { status, data, json } = await mounts.pki.call('POST', path, body, { vendor: true });
        expect([path, status, json.errors]).toEqual([path, 200, undefined]);
        expect(namesOf(data.certificate)).toBe(row.left);
        expect(json.warnings).toEqual([
          `subject alternative names left out of the certificate: ${list}`,
        ]);
      }
    },
  );

  test('are all left out where the role allows no names of their kind', async () => {
    await mounts.post('roles/dns-only', {
      allow_any_name: true,
      key_type: 'ec',
      allow_ip_sans: false,
    });
    const body = { common_name: NAME, ip_sans: '10.0.0.1,10.0.0.2', uri_sans: 'https://b' };
    expect(await mounts.refusal('issue/dns-only', body)).toBe(
      'IP Subject Alternative Names are not allowed in this role, but was provided via the API: 10.0.0.1, 10.0.0.2; URI Subject Alternative Names are not allowed in this role, but were provided via the API: https://b',
    );
    const { data, json } = await mounts.pki.call('POST', 'issue/dns-only', body, { vendor: true });
    expect(namesOf(data.certificate)).toBe(`DNS:${NAME}`);
    expect(json.warnings[0].match(/not allowed by this role/g)).toHaveLength(3);
  });

  test('refuse the request in both dialects as a common name, or if no name is left', async () => {
    await mounts.post('roles/unnamed', {
      allowed_domains: 'example.com',
      key_type: 'ec',
      require_cn: false,
    });
    for (const [body, text] of [
      [{ common_name: 'www.example.org' }, 'common name www.example.org not allowed by this role'],
      [{ alt_names: 'www.example.org' }, ''],
    ] as const) {
      const { status, json } = await mounts.pki.call('POST', 'issue/unnamed', body, {
        vendor: true,
      });
      expect([body, status, json.errors]).toEqual([body, 400, [expect.stringContaining(text)]]);
    }
  });
});

describe('a CSR with a form of name that no role allows', () => {
  /** GeneralNames: dNSName, registeredID 1.2.3.4, directoryName CN=Al. */
  const names = [
    `820d${Buffer.from(NAME).toString('hex')}`,
    '88032a0304',
    'a40f300d310b300906035504030c02416c',
  ];
  const content = names.join('');
  const csr = (): string =>
    newRequest(mounts, `/CN=${NAME}`, [
      `subjectAltName=DER:30${(content.length / 2).toString(16)}${content}`,
    ]);
  const described = 'the registeredID 1.2.3.4 (no role allows it), a directoryName';

  test('is refused, or signed without it and with a warning', async () => {
    expect(await mounts.refusal('sign/web', { csr: csr() })).toContain(described);
    const { data, json } = await mounts.pki.call(
      'POST',
      'sign/web',
      { csr: csr() },
      { vendor: true },
    );
    expect(namesOf(data.certificate)).toBe(`DNS:${NAME}`);
    expect(json.warnings).toEqual([expect.stringContaining(described)]);
  });

  test('is signed if the role uses no names from it, and verbatim with all of them', async () => {
    const { data, json } = await mounts.post('sign/body', { csr: csr() });
    expect([namesOf(data.certificate), json.warnings]).toEqual([`DNS:${NAME}`, null]);
    const verbatim = await mounts.post('sign-verbatim', { csr: csr() });
    expect(namesOf(verbatim.data.certificate)).toContain('Registered ID:1.2.3.4');
  });
});

describe('repeated names', () => {
  test('are in the certificate once, hosts in any case, addresses in any notation', async () => {
    const { data } = await mounts.post('issue/any', {
      common_name: 'A.b.example',
      alt_names: 'a.B.example,c.example,C.example,me@example.com,me@Example.com,Me@example.com',
      ip_sans: '10.0.0.1,::1,10.0.0.1,0:0:0:0:0:0:0:1',
    });
    expect(namesOf(data.certificate)).toBe(
      'DNS:a.B.example, DNS:c.example, email:me@example.com, email:Me@example.com, IP Address:10.0.0.1, IP Address:0:0:0:0:0:0:0:1',
    );
  });

  test('in a CSR are in the certificate once, too', async () => {
    const names = 'DNS:a.example,DNS:A.example,IP:10.0.0.1,IP:10.0.0.1';
    const csr = newRequest(mounts, '/CN=A.EXAMPLE', [`subjectAltName=${names}`]);
    const { data } = await mounts.post('sign/any', { csr });
    expect(namesOf(data.certificate)).toBe('DNS:a.example, IP Address:10.0.0.1');
  });
});

describe('a common name that is an IP address', () => {
  test.for([
    [false, 'IP Address:10.1.2.3'],
    [true, 'DNS:10.1.2.3'],
  ] as const)('is repeated for vendor clients (%s) as %s', async ([vendor, shown]) => {
    const body = { common_name: '10.1.2.3' };
    const { data } = await mounts.pki.call('POST', 'issue/any', body, { vendor });
    expect(namesOf(data.certificate)).toBe(shown);
    const csr = newRequest(mounts, '/CN=10.1.2.3');
    const signed = await mounts.pki.call('POST', 'sign/any', { csr }, { vendor });
    expect(namesOf(signed.data.certificate)).toBe(shown);
  });

  test('must be allowed by the role’s rules for addresses', async () => {
    await mounts.post('roles/no-ip', { allow_any_name: true, allow_ip_sans: false });
    expect(await mounts.refusal('issue/no-ip', { common_name: '10.1.2.3' })).toContain(
      'IP Subject Alternative Names are not allowed in this role',
    );
  });
});
