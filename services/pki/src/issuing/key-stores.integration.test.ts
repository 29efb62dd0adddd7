/**
 * PKCS #12 and PKCS #7 as they are handed out, read back by OpenSSL, by Java's keytool and by NSS, whose
 * database is that of Firefox and of Chromium on Linux.
 */
import { execFileSync } from 'node:child_process';
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync } from 'node:fs';
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
let intermediatePem: string;
/** Under an intermediate in the other mount, which knows the root, too. */
const post = (path: string, body: object) => mounts.post(path, body, other);
const refusal = (path: string, body: object) => mounts.refusal(path, body, other);

beforeAll(async () => {
  mounts = await openMounts();
  rootPem = (await mounts.root()).certificate;
  intermediatePem = (await mounts.intermediate()).signed.data.certificate;
  await post('issuers/import/cert', { pem_bundle: rootPem });
  for (const [name, key_type, key_bits] of KINDS)
    await post(`roles/${name}`, { ...leafRole, key_type, key_bits });
}, 60_000);
afterAll(() => mounts.close());

const KINDS = [
  ['rsa', 'rsa', 2048],
  ['p256', 'ec', 256],
  ['p521', 'ec', 521],
  ['ed25519', 'ed25519', 0],
] as const;
const PASSWORD = 'pass word "1"';
const STORE = { format: 'pkcs12', password: PASSWORD };
const NAME = { common_name: 'leaf.example.com' };

/** keytool ends before the code that Java would optimize has paid for that: a third less CPU. */
const SHORT_LIVED_JAVA = '-XX:TieredStopAtLevel=1 -XX:+UseSerialGC';
const run = (program: string, ...args: readonly string[]): string =>
  execFileSync(program, args, {
    encoding: 'utf8',
    stdio: 'pipe',
    env: { ...process.env, LC_ALL: 'C.UTF-8', JAVA_TOOL_OPTIONS: SHORT_LIVED_JAVA },
  });
const storeFile = (base64: string): string =>
  mounts.file('store.p12', Buffer.from(base64, 'base64'));

const openssl = (file: string, ...args: readonly string[]): string =>
  run('openssl', 'pkcs12', '-in', file, '-passin', `pass:${PASSWORD}`, '-nodes', ...args);
/** The algorithms of a store, which OpenSSL reports on standard error. */
const algorithmsOf = (file: string, password: string): string => {
  const args = ['-legacy', '-in', file, '-passin', `pass:${password}`, '-noout'];
  return run('sh', '-c', 'openssl pkcs12 -info "$@" 2>&1', 'sh', ...args);
};
const PEM = /-----BEGIN ([A-Z ]+)-----[^-]+-----END [A-Z ]+-----/g;
const blocksOf = (text: string, label: string): readonly string[] =>
  [...text.matchAll(PEM)].filter(([, name]) => name === label).map(([pem]) => pem);

const keytool = (file: string, password = PASSWORD): string =>
  run('keytool', '-list', '-v', '-keystore', file, '-storetype', 'PKCS12', '-storepass', password);

let targets = 0;
/**
 * Makes Java decrypt and rewrite every entry.
 * @returns the output of keytool
 */
const reimport = (file: string): string => {
  const target = file.replace('store.p12', `again-${++targets}.p12`);
  const from = ['-srckeystore', file, '-srcstorepass', PASSWORD, '-srcstoretype', 'PKCS12'];
  const to = ['-destkeystore', target, '-deststorepass', PASSWORD, '-deststoretype', 'PKCS12'];
  return run('keytool', '-importkeystore', ...from, ...to) + keytool(target);
};

let databases = 0;
const nssDatabase = (): string => {
  const folder = mounts.file(`nss-${++databases}`, '').concat('.d');
  mkdirSync(folder);
  run('certutil', '-N', '-d', `sql:${folder}`, '--empty-password');
  return `sql:${folder}`;
};

describe('a certificate issued as PKCS #12', () => {
  test.for(KINDS)('with a key of %s contains key and chain for OpenSSL', async ([name]) => {
    const { data } = await post(`issue/${name}`, { ...NAME, ...STORE, friendly_name: 'My Näme' });
    expect(data.private_key).toBeUndefined();
    expect(data.private_key_type).toBe(name.startsWith('p') ? 'ec' : name);
    const file = storeFile(data.certificate);
    const text = openssl(file);
    const certificates = blocksOf(text, 'CERTIFICATE').map((pem) => new X509Certificate(pem));
    const chain = [intermediatePem, rootPem].map((pem) => new X509Certificate(pem));
    expect(certificates.slice(1).map(({ raw }) => raw)).toEqual(chain.map(({ raw }) => raw));
    const [key = ''] = blocksOf(text, 'PRIVATE KEY');
    expect(certificates[0]?.subject).toBe('CN=leaf.example.com');
    expect(certificates[0]?.checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(data.ca_chain).toEqual([intermediatePem, rootPem]);
  });

  test.for(KINDS)('with a key of %s is accepted by Java', async ([name]) => {
    const { data } = await post(`issue/${name}`, { ...NAME, ...STORE, friendly_name: 'My Näme' });
    const shown = reimport(storeFile(data.certificate));
    expect(shown).toContain('Alias name: my näme');
    expect(shown).toContain('Entry type: PrivateKeyEntry');
    expect(shown).toContain('Certificate chain length: 3');
  });

  test.for(KINDS.filter(([name]) => name !== 'ed25519'))(
    'with a key of %s is imported by NSS',
    async ([name]) => {
      const { data } = await post(`issue/${name}`, { ...NAME, ...STORE });
      const database = nssDatabase();
      const file = storeFile(data.certificate);
      expect(run('pk12util', '-i', file, '-d', database, '-W', PASSWORD)).toContain('SUCCESSFUL');
      expect(run('certutil', '-K', '-d', database)).toContain('leaf.example.com');
      const listed = run('certutil', '-L', '-d', database);
      expect(listed).toMatch(/leaf\.example\.com\s+u,u,u/);
      expect(listed).toContain('Intermediate');
    },
  );

  test('with a key of Ed25519 is imported by NSS, which cannot use such keys yet', async () => {
    const { data } = await post('issue/ed25519', { ...NAME, ...STORE });
    const file = storeFile(data.certificate);
    const shown = run('pk12util', '-l', file, '-d', nssDatabase(), '-W', PASSWORD);
    expect(shown).toContain('Certificate(has private key)');
    expect(shown).toContain('leaf.example.com');
  });

  test('is encrypted and protected by current algorithms', async () => {
    const { data } = await post('issue/p256', { ...NAME, ...STORE });
    const info = algorithmsOf(storeFile(data.certificate), PASSWORD);
    const cipher = 'PBES2, PBKDF2, AES-256-CBC, Iteration 10000, PRF hmacWithSHA256';
    expect(info).toContain('MAC: sha256, Iteration 10000');
    expect(info).toContain(`PKCS7 Encrypted data: ${cipher}`);
    expect(info).toContain(`Shrouded Keybag: ${cipher}`);
    const [first, second] = await Promise.all(
      [1, 2].map(async () => (await post('issue/p256', { ...NAME, ...STORE })).data.certificate),
    );
    expect(first).not.toBe(second);
  });

  test('is named by its common name, or by its serial number', async () => {
    const { data } = await post('issue/p256', { ...NAME, ...STORE });
    expect(openssl(storeFile(data.certificate))).toContain('friendlyName: leaf.example.com');
    await post('roles/nameless', { ...leafRole, require_cn: false });
    const nameless = await post('issue/nameless', { alt_names: 'a.example.com', ...STORE });
    expect(openssl(storeFile(nameless.data.certificate))).toContain(
      `friendlyName: ${nameless.data.serial_number}`,
    );
  });

  test('leaves out roots on request', async () => {
    const body = { ...NAME, ...STORE, remove_roots_from_chain: true };
    const { data } = await post('issue/p256', body);
    expect(blocksOf(openssl(storeFile(data.certificate)), 'CERTIFICATE')).toHaveLength(2);
  });

  test('is refused without a password that all programs accept, before anything is issued', async () => {
    const before = (await mounts.pki.call('LIST', 'certs', undefined, { mount: other })).data.keys;
    for (const password of [undefined, '', 'short', 'pässword', 'x'.repeat(129), 'tab\tbed'])
      expect(await refusal('issue/p256', { ...NAME, ...STORE, password })).toBe(
        'the "password" of a PKCS #12 store must have 6 to 128 printable ASCII characters: Java opens no store under another',
      );
    for (const friendly_name of ['a\nb', 'x'.repeat(256)])
      expect(await refusal('issue/p256', { ...NAME, ...STORE, friendly_name })).toContain(
        '"friendly_name"',
      );
    for (const unused of [{ password: PASSWORD }, { friendly_name: 'name' }])
      expect(await refusal('issue/p256', { ...NAME, ...unused })).toContain(
        'for the formats "pkcs12" and "pkcs12_legacy" only',
      );
    const after = (await mounts.pki.call('LIST', 'certs', undefined, { mount: other })).data.keys;
    expect(after).toEqual(before);
  });
});

describe('a store for old readers', () => {
  const OLD = { ...STORE, format: 'pkcs12_legacy' };

  test('has Triple DES and SHA-1 only', async () => {
    const { data } = await post('issue/p256', { ...NAME, ...OLD });
    expect(data.private_key).toBeUndefined();
    const info = algorithmsOf(storeFile(data.certificate), PASSWORD);
    const cipher = 'pbeWithSHA1And3-KeyTripleDES-CBC, Iteration 10000';
    expect(info).toContain('MAC: sha1, Iteration 10000');
    expect(info).toContain(`PKCS7 Encrypted data: ${cipher}`);
    expect(info).toContain(`Shrouded Keybag: ${cipher}`);
    expect(info).not.toMatch(/PBES2|AES|sha256/i);
    const file = storeFile(data.certificate);
    expect(run('openssl', 'asn1parse', '-inform', 'DER', '-in', file)).toMatch(/OBJECT\s+:sha1\n/);
  });

  test('is opened by OpenSSL, Java and NSS, with its key', async () => {
    const { data } = await post('issue/rsa', { ...NAME, ...OLD });
    const file = storeFile(data.certificate);
    const text = openssl(file, '-legacy');
    expect(blocksOf(text, 'CERTIFICATE')).toHaveLength(3);
    const [leaf = ''] = blocksOf(text, 'CERTIFICATE');
    const [key = ''] = blocksOf(text, 'PRIVATE KEY');
    expect(new X509Certificate(leaf).checkPrivateKey(createPrivateKey(key))).toBe(true);
    expect(reimport(file)).toContain('Entry type: PrivateKeyEntry');
    const imported = run('pk12util', '-i', file, '-d', nssDatabase(), '-W', PASSWORD);
    expect(imported).toContain('SUCCESSFUL');
  });

  test('has salts of its own, and is not opened with another password', async () => {
    const made = async () => (await post('issue/p256', { ...NAME, ...OLD })).data.certificate;
    const file = storeFile(await made());
    expect(await made()).not.toBe(await made());
    expect(() => algorithmsOf(file, 'pass word "2"')).toThrow('Command failed');
  });

  test.for(['sign/p256', 'sign-verbatim', 'root/sign-intermediate', 'root/generate/exported'])(
    'is made by %s as well',
    async (path) => {
      const csr = newRequest(mounts, '/CN=leaf.example.com');
      const made = path.startsWith('root/generate')
        ? await mounts.post(path, { ...NAME, key_type: 'ec', ...OLD }, third)
        : await post(path, { csr, ...NAME, ...OLD });
      expect(algorithmsOf(storeFile(made.data.certificate), PASSWORD)).toContain('MAC: sha1');
    },
  );
});

test.for(['current', 'legacy'])(
  'Java opens no store under a password that is not ASCII, with %s algorithms',
  async (algorithms) => {
    // The reason for which such passwords are refused: it goes when Java reads them.
    const { data } = await post('issue/p256', NAME);
    const [key, leaf] = [data.private_key, data.certificate].map((pem) =>
      mounts.file(`${crypto.randomUUID()}.pem`, pem),
    );
    const old = ['-keypbe', 'PBE-SHA1-3DES', '-certpbe', 'PBE-SHA1-3DES', '-macalg', 'sha1'];
    const file = mounts.file('foreign.p12', '');
    const input = ['-export', '-inkey', key ?? '', '-in', leaf ?? '', '-out', file];
    const options = algorithms === 'legacy' ? old : [];
    run('openssl', 'pkcs12', ...input, ...options, '-passout', 'pass:pässword');
    expect(() => keytool(file, 'pässword')).toThrow('Command failed: keytool');
    run('openssl', 'pkcs12', ...input, ...options, '-passout', 'pass:password');
    expect(keytool(file, 'password')).toContain('PrivateKeyEntry');
  },
);

describe('a signed request as PKCS #12', () => {
  test.for(['sign/p256', 'sign-verbatim', 'root/sign-intermediate'])(
    'of %s has the certificates, which Java trusts',
    async (path) => {
      const csr = newRequest(mounts, '/CN=leaf.example.com');
      const { data } = await post(path, { csr, ...NAME, ...STORE });
      expect(data.private_key_type).toBeUndefined();
      const file = storeFile(data.certificate);
      const text = openssl(file);
      expect(blocksOf(text, 'PRIVATE KEY')).toEqual([]);
      expect(blocksOf(text, 'CERTIFICATE')).toHaveLength(3);
      expect(keytool(file)).toContain('Entry type: trustedCertEntry');
    },
  );
});

describe('a root as PKCS #12', () => {
  test.for([
    ['exported', 1],
    ['internal', 0],
  ] as const)('that is %s contains %i keys', async ([type, keys]) => {
    const body = { common_name: 'Packed', key_type: 'ec', ...STORE };
    const { data } = await mounts.post(`root/generate/${type}`, body, third);
    expect(data.private_key).toBeUndefined();
    const text = openssl(storeFile(data.certificate));
    expect(blocksOf(text, 'PRIVATE KEY')).toHaveLength(keys);
    expect(blocksOf(text, 'CERTIFICATE')).toHaveLength(1);
  });

  test('is not available for a request for an intermediate', async () => {
    for (const format of ['pkcs12', 'p7b'])
      expect(await refusal('intermediate/generate/exported', { common_name: 'I', format })).toBe(
        'the "format" path parameter must be "pem", "der", or "pem_bundle"',
      );
  });
});

describe('PKCS #7', () => {
  /** Certificates in a `.p7b` file, as OpenSSL and as Java see them. */
  const readBoth = (file: string, form: 'PEM' | 'DER') => {
    const printed = run('openssl', 'pkcs7', '-inform', form, '-in', file, '-print_certs');
    const owners = run('keytool', '-printcert', '-file', file).match(/Owner: .*/g) ?? [];
    return { pems: blocksOf(printed, 'CERTIFICATE'), owners };
  };

  test('contains an issued certificate with its chain, and the key is returned separately', async () => {
    const { data } = await post('issue/p256', { ...NAME, format: 'p7b' });
    expect(data.certificate).toMatch(/^-----BEGIN PKCS7-----/);
    expect(data.private_key).toContain('EC PRIVATE KEY');
    const { pems, owners } = readBoth(mounts.file('leaf.p7b', data.certificate), 'PEM');
    expect(pems).toEqual([expect.any(String), intermediatePem, rootPem]);
    expect(new X509Certificate(pems[0] ?? '').subject).toBe('CN=leaf.example.com');
    expect(owners).toEqual([
      'Owner: CN=leaf.example.com',
      'Owner: CN=Intermediate',
      'Owner: CN=Root',
    ]);
  });

  test.for([
    ['sign/p256', 3],
    ['sign-verbatim', 3],
    ['root/sign-intermediate', 3],
  ] as const)('contains what %s signs', async ([path, count]) => {
    const csr = newRequest(mounts, '/CN=leaf.example.com');
    const { data } = await post(path, { csr, ...NAME, format: 'p7b' });
    const file = mounts.file('signed.p7b', data.certificate);
    expect(readBoth(file, 'PEM').pems).toHaveLength(count);
  });

  test.for(['ca/p7b', 'issuer/default/p7b'])('is how %s shows a CA and its chain', async (path) => {
    const { status, headers, bytes } = await mounts.pki.call('GET', path, undefined, {
      mount: other,
    });
    expect([status, headers.get('content-type')]).toEqual([
      200,
      'application/x-pkcs7-certificates',
    ]);
    const { pems, owners } = readBoth(mounts.file('ca.p7b', bytes), 'DER');
    expect(pems).toEqual([intermediatePem, rootPem]);
    expect(owners).toEqual(['Owner: CN=Intermediate', 'Owner: CN=Root']);
  });

  test('is imported by NSS', async () => {
    const { data } = await post('issue/p256', { ...NAME, format: 'p7b' });
    const database = nssDatabase();
    const file = mounts.file('leaf.p7b', data.certificate);
    run('certutil', '-A', '-d', database, '-n', 'leaf', '-t', ',,', '-a', '-i', file);
    expect(run('certutil', '-L', '-d', database)).toMatch(/leaf\s+,,/);
  });

  test('is not available from a mount without an issuer', async () => {
    const empty = { ...third, uuid: '8f0b1c1e-0000-4000-8000-000000000009' };
    const { status } = await mounts.pki.call('GET', 'ca/p7b', undefined, { mount: empty });
    expect(status).toBe(204);
  });
});
