import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { aMount, type OpenPki, openPki } from './open-pki.ts';

let folder: TemporaryDirectory;
let pki: OpenPki;

beforeEach(async () => {
  folder = await temporaryDirectory();
  pki = await openPki(folder.path);
});
afterEach(async () => {
  await pki.close();
  await folder[Symbol.asyncDispose]();
});

const file = (name: string, content: string | Uint8Array): string => {
  const path = join(folder.path, name);
  writeFileSync(path, content);
  return path;
};

const openssl = (...args: readonly string[]): string =>
  execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });

const ROOT = { common_name: 'Keelson Root', ttl: '87600h', key_type: 'ec' };
const ROLE = {
  allowed_domains: 'example.com',
  allow_subdomains: true,
  key_type: 'ec',
  max_ttl: '72h',
};

const setUp = async (): Promise<void> => {
  expect((await pki.call('POST', 'root/generate/internal', ROOT)).status).toBe(200);
  expect((await pki.call('POST', 'roles/web', ROLE)).status).toBe(200);
};

const issue = async (body: Record<string, unknown> = {}, path = 'issue/web') => {
  const answer = await pki.call('POST', path, { common_name: 'a.example.com', ttl: '1h', ...body });
  expect(answer.json.errors).toBeUndefined();
  return answer;
};

describe('the life of a certificate', () => {
  test('is accepted by openssl until it is revoked, and refused with the CRL from then on', async () => {
    await setUp();
    const issued = await issue();
    const ca = file('ca.pem', (await pki.call('GET', 'ca/pem')).bytes);
    const leaf = file('leaf.pem', issued.data.certificate);
    const crlBefore = file('before.pem', (await pki.call('GET', 'crl/pem')).bytes);
    const check = ['verify', '-x509_strict', '-purpose', 'sslserver', '-crl_check', '-CAfile', ca];
    expect(openssl(...check, '-CRLfile', crlBefore, leaf)).toContain('OK');
    const key = file('leaf.key', issued.data.private_key);
    expect(openssl('pkey', '-in', key, '-pubout')).toBe(
      openssl('x509', '-in', leaf, '-noout', '-pubkey'),
    );

    const revoked = await pki.call('POST', 'revoke', { serial_number: issued.data.serial_number });
    expect(revoked.data).toMatchObject({ state: 'revoked' });
    const again = await pki.call('POST', 'revoke', { certificate: issued.data.certificate });
    expect(again.data.revocation_time).toBe(revoked.data.revocation_time);
    const crlAfter = file('after.pem', (await pki.call('GET', 'issuer/default/crl/pem')).bytes);
    expect(
      spawnSync('openssl', [...check, '-CRLfile', crlAfter, leaf], { encoding: 'utf8' }).stderr,
    ).toContain('certificate revoked');
    expect(openssl('crl', '-in', crlAfter, '-noout', '-text', '-CAfile', ca)).toContain(
      issued.data.serial_number.replaceAll(':', '').toUpperCase(),
    );
    const gnutls = spawnSync(
      'certtool',
      ['--verify-crl', '--load-ca-certificate', ca, '--infile', crlAfter],
      { encoding: 'utf8' },
    );
    expect(gnutls.stdout + gnutls.stderr).toContain('Verified');
    expect((await pki.call('LIST', 'certs/revoked')).data.keys).toEqual([
      issued.data.serial_number,
    ]);
    const read = await pki.call('GET', `cert/${issued.data.serial_number}`);
    expect(read.data).toMatchObject({
      certificate: issued.data.certificate,
      revocation_time: revoked.data.revocation_time,
    });
  });

  test('survives a restart', async () => {
    await setUp();
    const issued = await issue();
    await pki.call('POST', 'revoke', { serial_number: issued.data.serial_number });
    const crl = (await pki.call('GET', 'crl')).bytes;
    await pki.close();
    pki = await openPki(folder.path);
    expect((await pki.call('GET', 'crl')).bytes.equals(crl)).toBe(true);
    expect((await pki.call('LIST', 'certs')).data.keys).toHaveLength(2);
    expect((await issue()).status).toBe(200);
  });

  test('CRLs have numbers that only increase', async () => {
    await setUp();
    const numberOf = async (): Promise<bigint> => {
      const crl = file('crl.der', (await pki.call('GET', 'crl')).bytes);
      const [, hex = ''] =
        /crlNumber=(?:0x)?([0-9A-F]+)/.exec(
          openssl('crl', '-inform', 'DER', '-in', crl, '-noout', '-crlnumber'),
        ) ?? [];
      return BigInt(`0x${hex}`);
    };
    const first = await numberOf();
    expect((await pki.call('GET', 'crl/rotate')).data).toEqual({ success: true });
    const second = await numberOf();
    const serials = await Promise.all(
      Array.from({ length: 5 }, async () => (await issue()).data.serial_number),
    );
    const answers = await Promise.all(
      serials.map((serial_number) => pki.call('POST', 'revoke', { serial_number })),
    );
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    expect(second).toBeGreaterThan(first);
    expect(await numberOf()).toBeGreaterThan(second);
    const text = openssl(
      'crl',
      '-inform',
      'DER',
      '-in',
      file('crl.der', (await pki.call('GET', 'crl')).bytes),
      '-noout',
      '-text',
    );
    for (const serial of serials) expect(text).toContain(serial.replaceAll(':', '').toUpperCase());
  });

  test('many at once have distinct serial numbers and are all listed', async () => {
    await setUp();
    const answers = await Promise.all(Array.from({ length: 200 }, () => issue()));
    const serials = new Set(answers.map(({ data }) => data.serial_number));
    expect(serials.size).toBe(200);
    expect(new Set((await pki.call('LIST', 'certs')).data.keys).isSupersetOf(serials)).toBe(true);
  });
});

describe('issuing', () => {
  test.for([
    ['ec', 224],
    ['ec', 256],
    ['ec', 384],
    ['ec', 521],
    ['rsa', 2048],
    ['ed25519', 0],
  ] as const)(
    'makes a %s key of %i bits under a root of the same kind',
    async ([key_type, key_bits]) => {
      await pki.call('POST', 'root/generate/internal', { ...ROOT, key_type, key_bits });
      await pki.call('POST', 'roles/web', { ...ROLE, key_type, key_bits });
      const { data } = await issue();
      expect(data.private_key_type).toBe(key_type);
      const ca = file('ca.pem', (await pki.call('GET', 'ca/pem')).bytes);
      const leaf = file('leaf.pem', data.certificate);
      expect(openssl('verify', '-CAfile', ca, leaf)).toContain('OK');
      expect(openssl('pkey', '-in', file('leaf.key', data.private_key), '-pubout')).toBe(
        openssl('x509', '-in', leaf, '-noout', '-pubkey'),
      );
    },
  );

  test('answers in every format', async () => {
    await setUp();
    const der = await issue({ format: 'der', private_key_format: 'pkcs8' });
    const leaf = file('leaf.der', Buffer.from(der.data.certificate, 'base64'));
    expect(openssl('x509', '-inform', 'DER', '-in', leaf, '-noout', '-subject')).toContain(
      'a.example.com',
    );
    const key = file('key.der', Buffer.from(der.data.private_key, 'base64'));
    openssl('pkcs8', '-inform', 'DER', '-in', key, '-nocrypt');
    const bundle = await issue({ format: 'pem_bundle' });
    expect(bundle.data.certificate.match(/BEGIN [A-Z ]+/g)).toEqual([
      'BEGIN EC PRIVATE KEY',
      'BEGIN CERTIFICATE',
    ]);
    const withoutRoots = await issue({ remove_roots_from_chain: true });
    expect(withoutRoots.data.ca_chain).toEqual([]);
    expect((await issue()).data.ca_chain).toHaveLength(1);
  });

  test('writes every kind of alternative name', async () => {
    await setUp();
    await pki.call('POST', 'roles/all', {
      ...ROLE,
      allowed_uri_sans: 'spiffe://*',
      allowed_other_sans: '1.3.6.1.4.1.311.20.2.3;UTF8:*',
      allowed_user_ids: '*',
      allowed_serial_numbers: 'sn-*',
      organization: 'Keelson',
      policy_identifiers: '1.3.6.1.4.1.1',
    });
    const { data } = await issue(
      {
        alt_names: 'b.example.com,*.example.com,me@mail.example.com',
        ip_sans: '192.0.2.1,2001:db8::1',
        uri_sans: 'spiffe://domain/workload',
        other_sans: '1.3.6.1.4.1.311.20.2.3;UTF8:admin@domain',
        user_ids: 'u-1',
        serial_number: 'sn-7',
      },
      'issue/all',
    );
    const leaf = file('leaf.pem', data.certificate);
    const text = openssl('x509', '-in', leaf, '-noout', '-text', '-nameopt', 'RFC2253');
    for (const part of [
      'DNS:a.example.com',
      'DNS:*.example.com',
      'email:me@mail.example.com',
      'IP Address:192.0.2.1',
      'IP Address:2001:DB8:0:0:0:0:0:1',
      'URI:spiffe://domain/workload',
      'othername',
      'UID=u-1',
      'serialNumber=sn-7',
      'O=Keelson',
      'Policy: 1.3.6.1.4.1.1',
    ])
      expect(text).toContain(part);
    const gnutls = execFileSync('certtool', ['-i', '--infile', leaf], { encoding: 'utf8' });
    expect(gnutls).toContain('DNSname: b.example.com');
  });

  test.for([
    [{ common_name: 'evil.test' }, 'common name evil.test not allowed by this role'],
    [
      { alt_names: 'ok.example.com,evil.test' },
      'subject alternate name evil.test not allowed by this role',
    ],
    [{ alt_names: 'me@evil.test' }, 'email address me@evil.test not allowed by this role'],
    [{ ip_sans: 'x' }, 'the value "x" is not a valid IP address'],
    [
      { uri_sans: 'http://a' },
      'URI Subject Alternative Names are not allowed in this role, but were provided via the API: http://a',
    ],
    [{ other_sans: '1.2.3;UTF8:x' }, 'other SAN OID 1.2.3 not allowed by this role'],
    [{ serial_number: '1' }, 'serial_number 1 not allowed by this role'],
    [{ user_ids: 'u' }, 'user_id u is not allowed by this role'],
    [
      { format: 'jks' },
      'the "format" path parameter must be "pem", "der", "pem_bundle", "p7b", "pkcs12", or "pkcs12_legacy"',
    ],
    [
      { common_name: '' },
      'the common_name field is required, or must be provided in a CSR with "use_csr_common_name" set to true, unless "require_cn" is set to false',
    ],
    [
      { not_after: '2040-01-01T00:00:00Z' },
      'Either ttl or not_after should be provided. Both should not be provided in the same request.',
    ],
  ] as const)('refuses %o', async ([body, text]) => {
    await setUp();
    const answer = await pki.call('POST', 'issue/web', {
      common_name: 'a.example.com',
      ttl: '1h',
      ...body,
    });
    expect(answer.status).toBe(400);
    expect(answer.json.errors).toEqual([text]);
    expect((await pki.call('LIST', 'certs')).data.keys).toHaveLength(1);
  });

  test('a lifetime over the maximum is refused, or reduced for vendor clients', async () => {
    await setUp();
    const body = { common_name: 'a.example.com', ttl: '100h' };
    const refused = await pki.call('POST', 'issue/web', body);
    expect(refused.status).toBe(400);
    expect(refused.json.errors[0]).toMatch(/360000s.*259200s/);
    const cut = await pki.call('POST', 'issue/web', body, { vendor: true });
    expect(cut.json.warnings).toEqual([
      'TTL "360000s" is longer than permitted maxTTL "259200s", so maxTTL is being used',
    ]);
    expect(cut.data.expiration).toBe(pki.clock.nowMs() / 1000 + 259_200);
    expect((await issue()).data.expiration).toBe(String(pki.clock.nowMs() / 1000 + 3600));
  });

  test('an absolute end may be the last moment of the calendar if role and issuer permit it', async () => {
    await setUp();
    await pki.call('POST', 'roles/web', { ...ROLE, not_after_bound: 'permit' });
    const body = { common_name: 'a.example.com', not_after: '9999-12-31T23:59:59Z' };
    const refused = await pki.call('POST', 'issue/web', body);
    expect(refused.json.errors[0]).toContain('beyond the expiration of the CA certificate');
    const patch = { leaf_not_after_behavior: 'permit' };
    await pki.call('PATCH', 'issuer/default', patch, {
      contentType: 'application/merge-patch+json',
    });
    const { data } = await pki.call('POST', 'issue/web', body);
    expect(
      openssl('x509', '-in', file('leaf.pem', data.certificate), '-noout', '-enddate'),
    ).toContain('Dec 31 23:59:59 9999 GMT');
  });

  test('registers a lease whose end revokes the certificate', async () => {
    await setUp();
    await pki.call('POST', 'roles/leased', { ...ROLE, generate_lease: true });
    const issued = await issue({}, 'issue/leased');
    expect(issued.json).toMatchObject({ lease_id: 'pki/issue/leased/1', lease_duration: 3600 });
    const [lease] = pki.registered;
    const ended = {
      mount: pki.mount,
      leaseId: issued.json.lease_id,
      engineData: lease?.engineData ?? Buffer.alloc(0),
    };
    await pki.service.engine.revokeLease(ended);
    await pki.service.engine.revokeLease(ended);
    expect((await pki.call('LIST', 'certs/revoked')).data.keys).toEqual([
      issued.data.serial_number,
    ]);
  });

  test('is not made with a lease where a quota allows no further one', async () => {
    await setUp();
    await pki.call('POST', 'roles/leased', { ...ROLE, generate_lease: true });
    pki.full.add('issue/leased').add('issue/web');
    const stored = async () => (await pki.call('LIST', 'certs')).data.keys.length;
    const before = await stored();
    const refused = await pki.call('POST', 'issue/leased', { common_name: 'a.example.com' });
    expect([refused.status, refused.json.errors]).toEqual([
      429,
      ['request path "issue/leased": lease count quota exceeded'],
    ]);
    expect(await stored()).toBe(before);
    expect(pki.registered).toEqual([]);
    // Its role makes no lease.
    await issue({}, 'issue/web');
    expect(await stored()).toBe(before + 1);
  });

  test('is not stored if the role says so, and can still be revoked', async () => {
    await setUp();
    await pki.call('POST', 'roles/unstored', { ...ROLE, no_store: true });
    const issued = await issue({}, 'issuer/default/issue/unstored');
    expect((await pki.call('GET', `cert/${issued.data.serial_number}`)).status).toBe(404);
    const bySerial = await pki.call('POST', 'revoke', { serial_number: issued.data.serial_number });
    expect(bySerial.json.errors).toEqual([
      `certificate with serial ${issued.data.serial_number} not found.`,
    ]);
    const byCertificate = await pki.call('POST', 'revoke', {
      certificate: issued.data.certificate,
    });
    expect(byCertificate.data.state).toBe('revoked');
  });

  test('stores metadata with the certificate', async () => {
    await setUp();
    const issued = await issue({ metadata: 'bm90ZQ==' });
    const read = await pki.call('GET', `cert-metadata/${issued.data.serial_number}`);
    expect(read.data).toMatchObject({ cert_metadata: 'bm90ZQ==', role: 'web' });
  });
});

describe('signing requests', () => {
  const csr = (subject: string, ...extensions: readonly string[]): string => {
    const key = join(folder.path, 'csr.key');
    openssl('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key);
    return openssl(
      'req',
      '-new',
      '-key',
      key,
      '-subj',
      subject,
      ...extensions.flatMap((one) => ['-addext', one]),
    );
  };

  test('uses names from the request and checks them against the role', async () => {
    await setUp();
    const good = csr('/CN=c.example.com', 'subjectAltName=DNS:d.example.com,IP:192.0.2.9');
    const signed = await pki.call('POST', 'sign/web', { csr: good, ttl: '1h' });
    expect(signed.data.private_key).toBeUndefined();
    const text = openssl(
      'x509',
      '-in',
      file('leaf.pem', signed.data.certificate),
      '-noout',
      '-text',
    );
    expect(text).toContain('DNS:d.example.com, DNS:c.example.com, IP Address:192.0.2.9');
    const bad = await pki.call('POST', 'sign/web', {
      csr: csr('/CN=c.example.com', 'subjectAltName=DNS:evil.test'),
    });
    expect(bad.json.errors).toEqual(['subject alternate name evil.test not allowed by this role']);
  });

  test('verbatim uses the contents of the request but never creates a CA', async () => {
    await setUp();
    const plain = csr('/O=Any/CN=anything', 'extendedKeyUsage=codeSigning');
    const signed = await pki.call('POST', 'sign-verbatim', { csr: plain, ttl: '1h' });
    const leaf = file('leaf.pem', signed.data.certificate);
    const text = openssl('x509', '-in', leaf, '-noout', '-text');
    expect(text).toContain('O = Any, CN = anything');
    expect(text).toContain('Code Signing');
    const ca = file('ca.pem', (await pki.call('GET', 'ca/pem')).bytes);
    expect(openssl('verify', '-CAfile', ca, leaf)).toContain('OK');
    const asCa = csr('/CN=sub', 'basicConstraints=critical,CA:TRUE');
    const refused = await pki.call('POST', 'sign-verbatim/web', { csr: asCa });
    expect(refused.status).toBe(400);
    expect(refused.json.errors[0]).toContain('CA:TRUE');
  });
});

describe('mounts', () => {
  const otherMount = aMount({ uuid: '8f0b1c1e-0000-4000-8000-000000000002', path: 'other/' });

  test('are authorities of their own', async () => {
    await setUp();
    expect((await pki.call('GET', 'ca/pem', undefined, { mount: otherMount })).status).toBe(204);
    const answer = await pki.call(
      'POST',
      'issue/web',
      { common_name: 'a.example.com' },
      { mount: otherMount },
    );
    expect(answer.json.errors).toEqual(['unknown role: web']);
  });

  test('leave nothing behind when they are unmounted', async () => {
    await setUp();
    await issue();
    const state = {
      initialized: true,
      sealed: false,
      serviceKey: Buffer.alloc(32, 7),
      keyringTerm: 0,
      replicationRoles: [],
      clusterId: 'c',
      clusterName: 'c',
      unreadableMountUuids: [],
      formerServiceKeys: [],
      mounts: [pki.mount],
    };
    await pki.join(state);
    pki.announce({ ...state, mounts: [] });
    await expect.poll(async () => (await pki.store.list('local/mounts/')).length).toBe(0);
    expect(await pki.store.list('shared/mounts/')).toEqual([]);
  });

  test('answer nothing while sealed', async () => {
    await setUp();
    pki.barrier.seal();
    const refusal = { code: 'sys.sealed', httpStatus: 503, message: 'Keelson is sealed' };
    const issuing = pki.call('POST', 'issue/web', { common_name: 'a.example.com' });
    await expect(issuing).rejects.toMatchObject(refusal);
    const enrolling = pki.service.enrolment.locate({ label: '', operation: 'cacerts' });
    await expect(enrolling).rejects.toMatchObject(refusal);
  });
});
