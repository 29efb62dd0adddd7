/** The specification's parameters of issuing and signing, and the effect of each on a certificate. */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  leafRole,
  type Mounts,
  newRequest,
  openMounts,
  other,
  third,
} from '../../test/open-mounts.ts';

let mounts: Mounts;
let rootPem: string;
/** A request with a P-256 key and a name only. */
let csr: string;
beforeAll(async () => {
  mounts = await openMounts();
  rootPem = (await mounts.root()).certificate;
  csr = requestWith();
  await mounts.post('root/generate/internal', {
    common_name: 'Second',
    ttl: '87600h',
    key_type: 'rsa',
    issuer_name: 'second',
  });
  await mounts.post('roles/leaf', leafRole);
}, 60_000);
afterAll(() => mounts.close());

const NAME = { common_name: 'leaf.example.com' };

const requestWith = (...extensions: readonly string[]): string =>
  newRequest(mounts, '/O=From CSR/CN=csr.example.com', extensions);

const seconds = (pem: string): { readonly from: number; readonly to: number } => {
  const { validFrom, validTo } = new X509Certificate(pem);
  const nowMs = mounts.pki.clock.nowMs();
  return {
    from: (Date.parse(validFrom) - nowMs) / 1000,
    to: (Date.parse(validTo) - nowMs) / 1000,
  };
};

describe('the response', () => {
  test('of issuing has the envelope of the specification', async () => {
    const { json } = await mounts.post('issue/leaf', NAME);
    expect(json).toMatchObject({
      lease_id: '',
      renewable: false,
      lease_duration: 0,
      warnings: null,
      auth: null,
    });
    expect(Object.keys(json.data).toSorted()).toEqual([
      'ca_chain',
      'certificate',
      'expiration',
      'issuing_ca',
      'private_key',
      'private_key_type',
      'serial_number',
    ]);
    expect(json.data.serial_number).toMatch(/^[0-9a-f]{2}(:[0-9a-f]{2})+$/);
  });

  test.for(['sign/leaf', 'sign-verbatim', 'sign-verbatim/leaf', 'root/sign-intermediate'])(
    'of %s contains no private key',
    async (path) => {
      const { json } = await mounts.post(path, { csr, ...NAME });
      expect(json).toMatchObject({ lease_id: '', renewable: false, lease_duration: 0, auth: null });
      expect(Object.keys(json.data).toSorted()).toEqual([
        'ca_chain',
        'certificate',
        'expiration',
        'issuing_ca',
        'serial_number',
      ]);
    },
  );

  test('to a list of roles contains only their names', async () => {
    const { data } = await mounts.pki.call('LIST', 'roles');
    expect(data).toEqual({ keys: ['leaf'] });
  });
});

describe('the private key', () => {
  const kindOf = (text: string): string => {
    if (text.startsWith('-----')) return /BEGIN ([A-Z ]+)/.exec(text)?.[1] ?? '';
    const der = Buffer.from(text, 'base64');
    // First comes the version, an integer of one octet: 1 in SEC 1, 0 in PKCS#8.
    return der[der.indexOf(Buffer.of(2, 1)) + 2] === 1 ? 'SEC 1' : 'PKCS#8';
  };

  test.for([
    ['pem', 'der', 'EC PRIVATE KEY', 'CERTIFICATE'],
    ['pem', 'pem', 'EC PRIVATE KEY', 'CERTIFICATE'],
    ['pem', 'pkcs8', 'PRIVATE KEY', 'CERTIFICATE'],
    ['der', 'der', 'SEC 1', ''],
    ['der', 'pkcs8', 'PKCS#8', ''],
    ['pem_bundle', 'der', 'EC PRIVATE KEY', 'EC PRIVATE KEY'],
    // The private key before the certificate is not encrypted.
    ['pem_bundle', 'pkcs8', 'PRIVATE KEY', 'EC PRIVATE KEY'],
  ] as const)('under %s and %s is %s', async ([format, private_key_format, kind, first]) => {
    const { data } = await mounts.post('issue/leaf', { ...NAME, format, private_key_format });
    expect(kindOf(data.private_key)).toBe(kind);
    expect(/^-----BEGIN ([A-Z ]+)/.exec(data.certificate)?.[1] ?? '').toBe(first);
  });
});

describe('the issuer', () => {
  const issuerOf = (pem: string): string => new X509Certificate(pem).issuer;

  test.for([
    ['', 'CN=Root', 'CN=Second'],
    ['issuer/second/', 'CN=Second', 'CN=Second'],
    ['issuer/default/', 'CN=Root', 'CN=Root'],
  ] as const)('of %s is %s, and %s under a role of the second', async ([before, plain, named]) => {
    const { post } = mounts;
    await post('roles/of-second', { ...leafRole, issuer_ref: 'second' });
    for (const kind of ['issue', 'sign', 'sign-verbatim'])
      for (const [role, expected] of [
        ['leaf', plain],
        ['of-second', named],
      ] as const) {
        const { data } = await post(`${before}${kind}/${role}`, { csr, ...NAME });
        expect([kind, issuerOf(data.certificate)]).toEqual([kind, expected]);
      }
    const verbatim = await post(`${before}sign-verbatim`, { csr });
    expect(issuerOf(verbatim.data.certificate)).toBe(plain);
  });

  // The path is what policies allow; elsewhere the role decides, or the default.
  test.for([
    'issue/leaf',
    'sign/leaf',
    'sign-verbatim',
    'sign-verbatim/leaf',
    'root/sign-intermediate',
    'root/sign-self-issued',
  ])('is not chosen by the body of %s, and a warning says so', async (path) => {
    const body = { csr, ...NAME, certificate: rootPem };
    const { data, json } = await mounts.post(path, { ...body, issuer_ref: 'second' });
    expect(issuerOf(data.certificate)).toBe('CN=Root');
    const ignored = /ignored these unrecognized parameters: \[.*\bissuer_ref\b/;
    expect(json.warnings).toContainEqual(expect.stringMatching(ignored));
    const below = await mounts.post(`issuer/second/${path.replace('root/', '')}`, body);
    expect(issuerOf(below.data.certificate)).toBe('CN=Second');
  });

  test('of RSA signs with the requested scheme, others with that of their key', async () => {
    const { post, textOf } = mounts;
    const asked = { csr, signature_bits: 512, use_pss: true };
    const { data } = await post('issuer/second/sign-verbatim', asked);
    expect(textOf(data.certificate)).toMatch(/rsassaPss[\s\S]*sha512/);
    for (const path of ['sign-verbatim', 'root/sign-intermediate']) {
      const signed = await post(path, { ...asked, ...NAME });
      expect(textOf(signed.data.certificate)).toContain('ecdsa-with-SHA256');
    }
  });
});

describe('a chain through an intermediate', () => {
  beforeAll(async () => {
    await mounts.intermediate();
    await mounts.post('issuers/import/cert', { pem_bundle: rootPem }, other);
    await mounts.post('roles/leaf', leafRole, other);
  });

  test.for(['issue/leaf', 'sign/leaf', 'sign-verbatim'])(
    'contains no root if %s removes it',
    async (path) => {
      const chainOf = async (body: object) =>
        (await mounts.post(path, { csr, ...NAME, ...body }, other)).data;
      const whole = await chainOf({});
      expect(whole.ca_chain).toEqual([whole.issuing_ca, rootPem]);
      const { issuing_ca, ca_chain } = await chainOf({ remove_roots_from_chain: true });
      expect(ca_chain).toEqual([issuing_ca]);
      const body = { csr, ...NAME, remove_roots_from_chain: true };
      expect((await mounts.post(path, body)).data.ca_chain).toEqual([]);
    },
  );
});

describe('a bundle', () => {
  const PATHS = ['issue/leaf', 'sign/leaf', 'sign-verbatim'];
  const bundleOf = async (path: string, mount = mounts.pki.mount, vendor = false) => {
    const body = { csr, ...NAME, format: 'pem_bundle' };
    const { data } = await mounts.pki.call('POST', path, body, { mount, vendor });
    const parts: readonly string[] = data.certificate.split(/(?<=-----END [A-Z ]+-----)\n/);
    const [key, leaf, ...chain] = parts[0]?.includes('PRIVATE KEY') ? parts : ['', ...parts];
    return { hasKey: key !== '', leaf: leaf ?? '', chain };
  };

  test.for(PATHS)(
    'of %s ends with the certificate if a root of this cluster signed it',
    async (path) => {
      const { hasKey, leaf, chain } = await bundleOf(path);
      expect(hasKey).toBe(path === 'issue/leaf');
      expect(mounts.verifies(rootPem, [], leaf)).toBe(true);
      expect(chain).toEqual([]);
      // The vendor's clients get the root too.
      expect((await bundleOf(path, undefined, true)).chain).toEqual([rootPem]);
    },
  );

  test('of an intermediate ends with the intermediate', async () => {
    const { data } = await mounts.post('root/sign-intermediate', {
      csr,
      ...NAME,
      format: 'pem_bundle',
    });
    expect(data.certificate.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
  });

  test.for(PATHS)('of %s contains the issuing CA if there is no other', async (path) => {
    const [intermediate, root] = (await bundleOf(path, other)).chain;
    expect(new X509Certificate(intermediate ?? '').subject).toBe('CN=Intermediate');
    // Brought by an import.
    expect(root).toBe(rootPem);
  });

  test('contains a root that was created elsewhere', async () => {
    const { post, openssl, file } = mounts;
    const key = file('theirs.key', openssl('genpkey', '-algorithm', 'ed25519'));
    const subject = ['-subj', '/CN=Theirs', '-days', '999'];
    const theirs = openssl('req', '-x509', '-new', '-key', key, ...subject);
    const pem_bundle = `${openssl('pkey', '-in', key)}\n${theirs}`;
    await post('issuers/import/bundle', { pem_bundle }, third);
    await post('roles/leaf', leafRole, third);
    for (const path of PATHS) {
      const { chain } = await bundleOf(path, third);
      expect(chain.map((one) => one.trim())).toEqual([theirs.trim()]);
    }
  });
});

describe('names', () => {
  const textWith = async (body: object, role: object = {}): Promise<string> => {
    await mounts.post('roles/named', {
      ...leafRole,
      allowed_other_sans: '*',
      allowed_uri_sans: '*',
      ...role,
    });
    const { data } = await mounts.post('issue/named', { ...NAME, ...body });
    return mounts.textOf(data.certificate);
  };

  test('other names may be a list with commas, or JSON', async () => {
    const values = ['1.2.3.4;UTF8:one', '1.2.3.5;UTF8:two'];
    for (const other_sans of [values.join(','), values]) {
      const text = await textWith({ other_sans });
      expect(text.match(/othername/g)).toHaveLength(2);
    }
    const withCommas = await textWith({ other_sans: ['1.2.3.4;UTF8:one,two'] });
    expect(withCommas).toMatch(/othername: 1\.2\.3\.4:+\s*(?:UTF8STRING:)?one,two/);
  });

  test('an email address as common name may be left out of the alternative names', async () => {
    const mail = { common_name: 'me@example.com' };
    expect(await textWith(mail)).toContain('email:me@example.com');
    expect(await textWith({ ...mail, exclude_cn_from_sans: true })).not.toContain('email:');
  });

  test('a request with one name that is not allowed is refused as a whole', async () => {
    const role = {
      key_type: 'ec',
      allowed_domains: 'example.com',
      allow_subdomains: true,
      use_csr_common_name: false,
      use_csr_sans: false,
    };
    await mounts.post('roles/strict', role);
    for (const wrong of [
      { alt_names: 'a.example.com,a.example.org' },
      { alt_names: 'me@example.org' },
      { uri_sans: 'https://a.example.com' },
      { other_sans: '1.2.3.4;UTF8:x' },
      { user_ids: 'u' },
    ])
      for (const path of ['issue/strict', 'issuer/second/issue/strict', 'sign/strict'])
        expect(await mounts.refusal(path, { csr, ...NAME, ...wrong })).toMatch(
          /not allowed|not al/,
        );
  });
});

describe('signing verbatim', () => {
  const signed = async (body: object, path = 'sign-verbatim') => {
    const answer = await mounts.post(path, { csr, ...body });
    return { ...answer, text: mounts.textOf(answer.data.certificate) };
  };

  test('sets usages only if the request has them', async () => {
    expect((await signed({})).text).toContain('Digital Signature, Key Agreement\n');
    expect((await signed({})).text).not.toContain('Extended Key Usage');
    const given = {
      key_usage: ['DATAENCIPHERMENT', 'contentcommitment'],
      ext_key_usage: 'serverauth,ClientAuth',
      ext_key_usage_oids: ['1.2.3.4', '1.2.3.5'],
    };
    const { text } = await signed(given);
    expect(text).toMatch(/Key Usage: critical\s+Non Repudiation, Data Encipherment\n/);
    expect(text).toMatch(
      /TLS Web Server Authentication, TLS Web Client Authentication, 1\.2\.3\.4, 1\.2\.3\.5/,
    );
    expect((await signed({ key_usage: [] })).text).not.toContain('Key Usage');
    const own = requestWith('keyUsage=critical,keyAgreement', 'extendedKeyUsage=timeStamping');
    const kept = (await signed({ ...given, csr: own })).text;
    expect(kept).toMatch(/Key Usage: critical\s+Key Agreement\n/);
    expect(kept).toMatch(/Extended Key Usage:\s+Time Stamping\n/);
  });

  test('uses names from the request only, and user ids unchecked', async () => {
    const { text } = await signed({ ...NAME, alt_names: 'a.example.com', user_ids: 'ann,bob' });
    expect(text).toContain('O = From CSR, CN = csr.example.com, UID = ann, UID = bob');
    expect(text).not.toContain('leaf.example.com');
    expect(text).not.toContain('a.example.com');
  });

  test('uses the lifetime of its role, and nothing else of it', async () => {
    const { post, refusal, pki } = mounts;
    await post('roles/short', {
      allowed_domains: 'nowhere.test',
      key_type: 'rsa',
      ttl: '1h',
      max_ttl: '2h',
      not_before_duration: '5m',
    });
    for (const path of ['sign-verbatim/short', 'issuer/default/sign-verbatim/short']) {
      expect(seconds((await signed({}, path)).data.certificate).to).toBe(3600);
      expect(seconds((await signed({ ttl: '2h' }, path)).data.certificate)).toEqual({
        from: expect.any(Number),
        to: 7200,
      });
      expect(await refusal(path, { csr, ttl: '3h' })).toContain('10800s');
      const date = new Date(pki.clock.nowMs() + 14_400_000).toISOString().replace('.000', '');
      expect(await refusal(path, { csr, not_after: date })).toContain('maximum ttl 2h');
    }
    expect(await refusal('sign-verbatim/nobody', { csr })).toBe('unknown role: nobody');
    pki.clock.advance(600_000);
    const { from } = seconds((await signed({}, 'sign-verbatim/short')).data.certificate);
    expect(from).toBe(-300);
    // Without a role the mount's maximum holds.
    expect(await refusal('sign-verbatim', { csr, ttl: '1000000h' })).toMatch(/3600000000s/);
  });

  test('is not stored, or put under a lease, as its role says', async () => {
    const { post, pki } = mounts;
    await post('roles/unkept', { ...leafRole, no_store: true });
    const { data } = await signed({}, 'sign-verbatim/unkept');
    expect((await pki.call('GET', `cert/${data.serial_number}`)).status).toBe(404);
    await post('roles/leased', { ...leafRole, generate_lease: true });
    const { json } = await signed({ ttl: '30m' }, 'sign-verbatim/leased');
    expect(json.lease_id).not.toBe('');
    expect(json.lease_duration).toBe(1800);
  });

  test('answers in every format', async () => {
    const der = await mounts.post('sign-verbatim', { csr, format: 'der' });
    expect(new X509Certificate(Buffer.from(der.data.certificate, 'base64')).subject).toContain(
      'csr.example.com',
    );
    const { data } = await mounts.post('sign-verbatim', { csr, format: 'pem_bundle' });
    expect(data.certificate.match(/BEGIN [A-Z ]+/g)).toEqual(['BEGIN CERTIFICATE']);
  });
});

describe('signing an intermediate', () => {
  const signed = async (body: object = {}) => {
    const { data } = await mounts.post('root/sign-intermediate', { csr, ...NAME, ...body });
    return { pem: data.certificate, text: mounts.textOf(data.certificate) };
  };

  test.for([
    [(value: string) => value, 'text'],
    [(value: string) => [value], 'an array'],
  ] as const)('takes the subject from $1', async ([as]) => {
    const { text } = await signed({
      ou: as('Unit'),
      organization: as('Acme'),
      country: as('NL'),
      locality: as('Utrecht'),
      province: as('U'),
      street_address: as('Lane 1'),
      postal_code: as('3500'),
      serial_number: 'S-1',
      alt_names: 'ca.example.com,ca@example.com',
      ip_sans: '192.0.2.1',
      uri_sans: 'https://ca.example.com',
      other_sans: as('1.2.3.4;UTF8:x'),
      exclude_cn_from_sans: true,
      permitted_dns_domains: as('.example.com'),
    });
    for (const part of [
      'C = NL',
      'O = Acme',
      'OU = Unit',
      'L = Utrecht',
      'ST = U',
      'street = Lane 1',
      'postalCode = 3500',
      'CN = leaf.example.com',
      'serialNumber = S-1',
      'DNS:ca.example.com',
      'email:ca@example.com',
      'IP Address:192.0.2.1',
      'URI:https://ca.example.com',
      'othername',
      'DNS:.example.com',
    ])
      expect(text).toContain(part);
    // The subject and the extensions of the request are ignored.
    expect(text).not.toContain('From CSR');
    expect(text).not.toContain('DNS:leaf.example.com');
  });

  test('separates values of the subject by commas', async () => {
    const { text } = await signed({ ou: 'One,Two', permitted_dns_domains: 'a.example,b.example' });
    expect(text).toContain('OU = One + OU = Two');
    expect(text).toMatch(/Permitted:\s+DNS:a\.example\s+DNS:b\.example/);
  });

  test('has the requested path length, including zero', async () => {
    expect((await signed()).text).toMatch(/CA:TRUE\n/);
    expect((await signed({ max_path_length: -1 })).text).toMatch(/CA:TRUE\n/);
    expect((await signed({ max_path_length: 0 })).text).toContain('CA:TRUE, pathlen:0');
    expect((await signed({ max_path_length: 3 })).text).toContain('CA:TRUE, pathlen:3');
  });

  test('starts before now, and ends as if it did not', async () => {
    mounts.pki.clock.advance(86_400_000);
    expect(seconds((await signed({ ttl: '1h' })).pem)).toEqual({ from: -30, to: 3600 });
    const early = { ttl: '1h', not_before_duration: '10m' };
    expect(seconds((await signed(early)).pem)).toEqual({ from: -600, to: 3600 });
  });

  test('is refused without a request, or with an invalid key identifier', async () => {
    expect(await mounts.refusal('root/sign-intermediate', NAME)).toBe('"csr" is empty');
    for (const skid of ['xyz', 'abc', '00'.repeat(65)])
      expect(await mounts.refusal('root/sign-intermediate', { csr, ...NAME, skid })).toBe(
        'the skid parameter is not a hexadecimal key identifier',
      );
  });

  test('uses the issuer in the path', async () => {
    const { data } = await mounts.post('issuer/second/sign-intermediate', { csr, ...NAME });
    expect(new X509Certificate(data.certificate).issuer).toBe('CN=Second');
  });
});

test('signing a self-issued certificate changes only its issuer', async () => {
  const { post, root } = mounts;
  const theirs = await root('Theirs', other, {
    key_type: 'ed25519',
    max_path_length: 2,
    permitted_dns_domains: 'example.com',
  });
  await post('config/urls', { issuing_certificates: 'http://ca.example.com/' });
  const { data } = await post('issuer/second/sign-self-issued', {
    certificate: theirs.certificate,
  });
  await post('config/urls', { issuing_certificates: '' });
  const [before, after] = [theirs.certificate, data.certificate].map((pem: string) => {
    const [head = '', extensions = ''] = mounts.textOf(pem).split('X509v3 extensions:');
    return { one: new X509Certificate(pem), head, extensions };
  });
  if (before === undefined || after === undefined) throw new Error('two certificates');
  expect(after.one.issuer).toBe('CN=Second');
  for (const same of ['subject', 'serialNumber', 'validFrom', 'validTo'] as const)
    expect(after.one[same]).toBe(before.one[same]);
  expect(after.one.publicKey.equals(before.one.publicKey)).toBe(true);
  for (const kept of [
    'pathlen:2',
    'Certificate Sign, CRL Sign',
    'DNS:example.com',
    /Subject Key Identifier: \n\s+(.+)\n/.exec(before.extensions)?.[1] ?? 'none',
  ])
    expect(after.extensions).toContain(kept);
  expect(after.extensions).toContain('URI:http://ca.example.com/');
});

test('a mount without a default issuer issues only when the issuer is named', async () => {
  const { pki, post, refusal, root } = mounts;
  await root('First', third);
  await root('Lone', third, { issuer_name: 'lone' });
  await pki.call('DELETE', 'issuer/default', undefined, { mount: third });
  await post('roles/leaf', leafRole, third);
  for (const path of ['issue/leaf', 'sign/leaf', 'sign-verbatim', 'root/sign-intermediate'])
    expect(await refusal(path, { csr, ...NAME }, third)).toMatch(/default issuer/);
  for (const path of ['issue/leaf', 'sign/leaf', 'sign-verbatim', 'sign-intermediate']) {
    const { data } = await post(`issuer/lone/${path}`, { csr, ...NAME }, third);
    expect(new X509Certificate(data.certificate).issuer).toBe('CN=Lone');
  }
});
