/**
 * Certificates, requests, lists and OCSP answers of every kind of key, each read and verified by OpenSSL
 * and by GnuTLS. RSA keys that take long to make are imported from testdata.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { leafRole, type Mounts, openMounts, other } from './open-mounts.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
});
afterEach(() => mounts.close());

interface Kind {
  readonly name: string;
  readonly key_type: string;
  readonly key_bits: number;
  readonly use_pss?: boolean;
  readonly imported?: boolean;
  /** How OpenSSL and GnuTLS name the signatures. */
  readonly signature: readonly [RegExp, RegExp];
}

const ECDSA = (bits: number): Kind['signature'] => [
  new RegExp(`ecdsa-with-SHA${bits}`),
  new RegExp(`ECDSA-SHA${bits}`),
];
const RSA: Kind['signature'] = [/sha256WithRSAEncryption/, /RSA-SHA256/];
const PSS: Kind['signature'] = [/rsassaPss/, /RSA-PSS-SHA256/];

const KINDS: readonly Kind[] = [
  { name: 'P-224', key_type: 'ec', key_bits: 224, signature: ECDSA(256) },
  { name: 'P-256', key_type: 'ec', key_bits: 256, signature: ECDSA(256) },
  { name: 'P-384', key_type: 'ec', key_bits: 384, signature: ECDSA(384) },
  { name: 'P-521', key_type: 'ec', key_bits: 521, signature: ECDSA(512) },
  { name: 'Ed25519', key_type: 'ed25519', key_bits: 0, signature: [/ED25519/, /EdDSA-Ed25519/] },
  { name: 'RSA 2048', key_type: 'rsa', key_bits: 2048, signature: RSA },
  { name: 'RSA 2048, PSS', key_type: 'rsa', key_bits: 2048, use_pss: true, signature: PSS },
  { name: 'RSA 3072', key_type: 'rsa', key_bits: 3072, imported: true, signature: RSA },
  {
    name: 'RSA 4096, PSS',
    key_type: 'rsa',
    key_bits: 4096,
    imported: true,
    use_pss: true,
    signature: PSS,
  },
  { name: 'RSA 8192', key_type: 'rsa', key_bits: 8192, imported: true, signature: RSA },
];

const gnutls = (command: 'certtool' | 'ocsptool', ...args: readonly string[]): string => {
  const { status, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  expect([status, stderr]).toEqual([0, expect.not.stringMatching(/error|invalid/i)]);
  return stdout;
};

const testKey = (bits: number): string =>
  readFileSync(join(import.meta.dirname, 'testdata', `rsa-${bits}.pem`), 'utf8');

/** A root of this kind in the first mount, and its certificate as a file. */
const makeRoot = async ({ key_type, key_bits, use_pss = false, imported }: Kind) => {
  const { file, post } = mounts;
  const common = { common_name: 'Root', ttl: '87600h', use_pss };
  if (imported) await post('keys/import', { pem_bundle: testKey(key_bits), key_name: 'golden' });
  const { data } = imported
    ? await post('root/generate/existing', { ...common, key_ref: 'golden' })
    : await post('root/generate/internal', { ...common, key_type, key_bits });
  return file('ca.pem', data.certificate);
};

test.for(KINDS)('$name: both accept what its issuer signs', async (kind) => {
  const { pki, file, openssl, post } = mounts;
  const [byOpenssl, byGnutls] = kind.signature;
  const { key_type, key_bits, use_pss = false } = kind;
  await post('config/urls', { ocsp_servers: 'http://ocsp.example.com' });
  const ca = await makeRoot(kind);

  // A request of the same kind of key, signed as an intermediate.
  if (kind.imported)
    await post('keys/import', { pem_bundle: testKey(key_bits), key_name: 'k' }, other);
  const { csr } = kind.imported
    ? (
        await post(
          'intermediate/generate/existing',
          { common_name: 'Sub', key_ref: 'k', use_pss },
          other,
        )
      ).data
    : (
        await post(
          'intermediate/generate/internal',
          { common_name: 'Sub', key_type, key_bits, use_pss },
          other,
        )
      ).data;
  const request = file('sub.csr', `${csr}\n`);
  expect(
    execFileSync('openssl', ['req', '-verify', '-noout', '-text', '-in', request], {
      encoding: 'utf8',
      stdio: 'pipe',
    }),
  ).toMatch(byOpenssl);
  const requestInfo = gnutls('certtool', '--crq-info', '--infile', request);
  expect(requestInfo).toContain('Self signature: verified');
  const sub = (
    await post('root/sign-intermediate', { csr, common_name: 'Sub', ttl: '43800h', use_pss })
  ).data;
  const chain = file('chain.pem', `${sub.certificate}\n${readFileSync(ca, 'utf8')}\n`);
  expect(gnutls('certtool', '--verify', '--load-ca-certificate', ca, '--infile', chain)).toContain(
    'Verified',
  );

  // A leaf whose key is chosen by the caller, for a server.
  await post('roles/leaf', { ...leafRole, key_type: 'any', use_pss });
  const issued = await post('issue/leaf', {
    common_name: 'leaf.example.com',
    alt_names: 'other.example.com',
    ip_sans: '192.0.2.1',
    ttl: '1h',
    key_type: 'ec',
  });
  const leaf = file('leaf.pem', `${issued.data.certificate}\n`);
  expect(openssl('x509', '-noout', '-text', '-in', leaf)).toMatch(byOpenssl);
  const verify = ['verify', '-x509_strict', '-purpose', 'sslserver', '-CAfile', ca];
  expect(openssl(...verify, '-verify_hostname', 'other.example.com', leaf)).toContain('OK');
  expect(gnutls('certtool', '-i', '--infile', leaf)).toMatch(byGnutls);
  const certtoolVerify = [
    '--verify',
    '--load-ca-certificate',
    ca,
    '--verify-purpose',
    '1.3.6.1.5.5.7.3.1',
    '--verify-hostname',
    'other.example.com',
    '--infile',
    leaf,
  ];
  expect(gnutls('certtool', ...certtoolVerify)).toContain('Verified');

  // The list that revokes it.
  await post('revoke', { serial_number: issued.data.serial_number });
  const list = file('list.pem', (await pki.call('GET', 'crl/pem')).bytes);
  expect(openssl('crl', '-noout', '-text', '-in', list)).toMatch(byOpenssl);
  const both = file('both.pem', `${readFileSync(ca, 'utf8')}\n${readFileSync(list, 'utf8')}\n`);
  const refused = spawnSync('openssl', ['verify', '-crl_check', '-CAfile', both, leaf], {
    encoding: 'utf8',
  });
  expect(refused.stderr).toContain('certificate revoked');
  expect(
    gnutls('certtool', '--verify-crl', '--load-ca-certificate', ca, '--infile', list),
  ).toContain('Verified');
  const crlInfo = gnutls('certtool', '--crl-info', '--infile', list);
  expect(crlInfo).toMatch(byGnutls);
  expect(crlInfo).toContain(issued.data.serial_number.replaceAll(':', ''));

  // The answer that says so.
  const asked = join(ca, '..', 'asked.der');
  openssl('ocsp', '-issuer', ca, '-cert', leaf, '-no_nonce', '-reqout', asked);
  const { bytes } = await pki.call('POST', 'ocsp', readFileSync(asked), {
    contentType: 'application/ocsp-request',
  });
  const answer = file('answer.der', bytes);
  const said = openssl('ocsp', '-respin', answer, '-issuer', ca, '-cert', leaf, '-CAfile', ca);
  expect(said).toContain('revoked');
  const verified = gnutls(
    'ocsptool',
    '--verify-response',
    '--load-signer',
    ca,
    '--load-response',
    answer,
  );
  expect(verified).toContain('Verifying OCSP Response: Success');
  expect(gnutls('ocsptool', '--response-info', '--load-response', answer)).toMatch(
    /Certificate Status: revoked/,
  );
});
