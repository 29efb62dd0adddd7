/** Authorities signed by other authorities. */
import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  leafRole,
  MERGE_PATCH,
  type Mounts,
  newRequest,
  openMounts,
  other,
  third,
} from '../../test/open-mounts.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
});
afterEach(() => mounts.close());

describe('an intermediate', () => {
  test('signed by another mount issues what openssl and certtool verify up to the root', async () => {
    const { pki, file, textOf, verifies, post, root, intermediate, leafOf } = mounts;
    const { certificate } = await root();
    const { signed, imported } = await intermediate();
    expect(signed.data.ca_chain).toEqual([signed.data.certificate, certificate]);
    expect(imported.imported_issuers).toHaveLength(1);
    expect(Object.values(imported.mapping)[0]).toMatch(/^[0-9a-f-]{36}$/);
    const again = await post(
      'intermediate/set-signed',
      { certificate: signed.data.certificate },
      other,
    );
    expect(again.data).toMatchObject({
      imported_issuers: null,
      existing_issuers: imported.imported_issuers,
    });
    const leaf = (await leafOf()).data;
    expect(verifies(certificate, [signed.data.certificate], leaf.certificate)).toBe(true);
    const chain = file(
      'chain.pem',
      [leaf.certificate, signed.data.certificate, certificate].join('\n'),
    );
    const certtool = spawnSync('certtool', ['--verify-chain', '--infile', chain], {
      encoding: 'utf8',
    });
    expect(certtool.stdout).toContain('Verified. The certificate is trusted.');
    const text = textOf(signed.data.certificate);
    expect(text).toContain('CA:TRUE');
    expect(text).toContain('Certificate Sign, CRL Sign');
    expect((await pki.call('GET', `cert/${signed.data.serial_number}`)).status).toBe(200);
  });

  test.for(['exported', 'internal'])('has a request of type %s', async (type) => {
    const { pki, file, openssl, post } = mounts;
    const answer = await post(`issuers/generate/intermediate/${type}`, {
      common_name: 'I',
      key_type: 'ec',
      format: 'pem_bundle',
      add_basic_constraints: true,
      key_usage: 'CertSign',
      organization: 'Keelson',
    });
    const isExported = type === 'exported';
    expect(answer.data.private_key !== undefined).toBe(isExported);
    expect(answer.data.csr.startsWith('-----BEGIN EC PRIVATE KEY')).toBe(isExported);
    const shown = openssl(
      'req',
      '-noout',
      '-text',
      '-verify',
      '-in',
      file('a.csr', answer.data.csr),
    );
    for (const part of ['O = Keelson, CN = I', 'CA:TRUE', 'Certificate Sign']) {
      expect(shown).toContain(part);
    }
    expect((await pki.call('LIST', 'issuers')).status).toBe(404);
    const pkcs8 = { common_name: 'I', key_type: 'ec', private_key_format: 'pkcs8' };
    const { private_key: key } = (await post(`intermediate/generate/${type}`, pkcs8)).data;
    expect(key?.startsWith('-----BEGIN PRIVATE KEY')).toBe(isExported ? true : undefined);
    const crossed = await post('intermediate/cross-sign', {
      common_name: 'I',
      key_ref: answer.data.key_id,
    });
    expect(crossed.data.key_id).toBe(answer.data.key_id);
  });

  test('is bounded by the path length of its signer', async () => {
    const { pki, textOf, post, refusal, root, intermediate } = mounts;
    await root('Root', pki.mount, { max_path_length: 1 });
    const { signed } = await intermediate();
    expect(textOf(signed.data.certificate)).toContain('CA:TRUE, pathlen:0');
    const { csr } = (await post('intermediate/generate/internal', { common_name: 'Sub' }, third))
      .data;
    expect(await refusal('root/sign-intermediate', { csr, common_name: 'Sub' }, other)).toBe(
      'signing certificate has a max path length of zero, and cannot issue further CA certificates',
    );
    expect(
      await refusal('root/sign-intermediate', { csr, common_name: 'Sub', max_path_length: 1 }),
    ).toContain('max_path_length 1 is not below');
  });

  test('expires with its issuer unless the issuer permits or insists', async () => {
    const { pki, post, refusal, root, intermediate } = mounts;
    const { expiration } = await root('Root', pki.mount, { ttl: '1000h' });
    const notAfterMs = pki.clock.nowMs() + 2000 * 3_600_000;
    const body = { not_after: new Date(notAfterMs).toISOString(), ttl: undefined };
    const cut = (await intermediate(body)).signed;
    expect(cut.data.expiration).toBe(String(expiration));
    expect(cut.json.warnings).toContain(
      "the signed intermediary CA certificate's notAfter was truncated to the issuer's notAfter",
    );
    const request = { csr: (await intermediate(body)).csr, common_name: 'I', ...body };
    const enforced = { ...request, enforce_leaf_not_after_behavior: true };
    expect(await refusal('root/sign-intermediate', enforced)).toContain('beyond the expiration');
    await pki.call(
      'PATCH',
      'issuer/default',
      { leaf_not_after_behavior: 'always_enforce_err' },
      MERGE_PATCH,
    );
    expect(await refusal('root/sign-intermediate', request)).toContain('beyond the expiration');
    await pki.call('PATCH', 'issuer/default', { leaf_not_after_behavior: 'permit' }, MERGE_PATCH);
    const longer = (await post('issuer/default/sign-intermediate', request)).data;
    expect(longer.expiration).toBe(String(notAfterMs / 1000));
  });

  test('uses the contents of its request if told to', async () => {
    const { file, openssl, textOf, post, root } = mounts;
    await root();
    const key = file('k.pem', openssl('genpkey', '-algorithm', 'ed25519'));
    const csr = openssl(
      'req',
      '-new',
      '-key',
      key,
      '-subj',
      '/O=From CSR/CN=Csr CA',
      '-addext',
      'basicConstraints=critical,CA:TRUE,pathlen:7',
      '-addext',
      'keyUsage=digitalSignature',
      '-addext',
      'subjectAltName=DNS:ca.example.com',
      '-addext',
      'nameConstraints=critical,permitted;DNS:example.com',
    );
    const taken = await post('root/sign-intermediate', {
      csr,
      common_name: 'Ignored',
      use_csr_values: true,
      skid: 'AA:BB-CC DD',
      ttl: '1h',
    });
    const text = textOf(taken.data.certificate);
    for (const part of [
      'O = From CSR, CN = Csr CA',
      'DNS:ca.example.com',
      'DNS:example.com',
      'AA:BB:CC:DD',
      'Digital Signature, Certificate Sign, CRL Sign',
    ])
      expect(text).toContain(part);
    expect(text).not.toContain('pathlen');
    expect(taken.json.warnings).toContain(
      'specified CSR contained a Basic Constraints extension that was ignored during issuance',
    );
    expect(taken.json.warnings).toContain(
      'parameters ignored, because use_csr_values takes their values from the CSR: common_name',
    );
    const own = await post('root/sign-intermediate', {
      csr,
      organization: 'Own',
      permitted_dns_domains: 'example.org,.example.net',
      permitted_ip_ranges: '192.0.2.0/24',
      excluded_email_addresses: 'example.com',
      ttl: '1h',
    });
    const ownText = textOf(own.data.certificate);
    expect(ownText).toContain('O = Own, CN = Csr CA');
    expect(ownText).toContain('X509v3 Name Constraints: critical');
    expect(ownText).toContain('IP:192.0.2.0/255.255.255.0');
    expect(ownText).not.toContain('ca.example.com');
  });

  test.for([
    ['permitted_dns_domains', 'dns.example', /Permitted:\s+DNS:dns\.example\n/],
    ['excluded_dns_domains', 'dns.example', /Excluded:\s+DNS:dns\.example\n/],
    ['permitted_ip_ranges', '10.0.0.0/8', /Permitted:\s+IP:10\.0\.0\.0\/255\.0\.0\.0\n/],
    ['excluded_ip_ranges', '10.0.0.0/8', /Excluded:\s+IP:10\.0\.0\.0\/255\.0\.0\.0\n/],
    ['permitted_email_addresses', 'mail.example', /Permitted:\s+email:mail\.example\n/],
    ['excluded_email_addresses', 'mail.example', /Excluded:\s+email:mail\.example\n/],
    ['permitted_uri_domains', 'uri.example', /Permitted:\s+URI:uri\.example\n/],
    ['excluded_uri_domains', 'uri.example', /Excluded:\s+URI:uri\.example\n/],
    ['ext_key_usage', 'TimeStamping', /Extended Key Usage: \n\s+Time Stamping\n/],
    ['ext_key_usage_oids', '1.2.3.4', /Extended Key Usage: \n\s+1\.2\.3\.4\n/],
    ['policy_identifiers', '1.2.3.5', /Certificate Policies: \n\s+Policy: 1\.2\.3\.5\n/],
    ['max_path_length', 0, /pathlen:0/],
    ['ttl', '1h', /\n/],
  ] as const)(
    'keeps to %s of the request, whatever its own request contains',
    async ([name, value, text]) => {
      const { post, textOf, root } = mounts;
      await root();
      const csr = newRequest(mounts, '/CN=Csr CA', [
        'basicConstraints=critical,CA:TRUE,pathlen:7',
        'nameConstraints=critical,permitted;DNS:of-the-csr.example',
        'extendedKeyUsage=codeSigning',
        'certificatePolicies=1.2.3.9',
      ]);
      for (const path of ['root/sign-intermediate', 'issuer/default/sign-intermediate']) {
        const body = { csr, use_csr_values: true, [name]: value };
        const { data, json } = await post(path, body);
        const shown = textOf(data.certificate);
        expect(shown).toMatch(text);
        const isConstraint = /^(?:permitted|excluded)_/.test(name);
        expect(shown.includes('of-the-csr.example')).toBe(!isConstraint);
        expect(json.warnings.filter((warning: string) => warning.includes(name))).toEqual([]);
        expect(shown.includes('Code Signing')).toBe(!name.startsWith('ext_key_usage'));
        expect(shown.includes('1.2.3.9')).toBe(name !== 'policy_identifiers');
        expect(json.warnings.some((warning: string) => warning.includes('replaced by'))).toBe(
          isConstraint || /^(?:ext_key_usage|policy_)/.test(name),
        );
        const { validFromDate, validToDate } = new X509Certificate(data.certificate);
        const hours = (validToDate.getTime() - validFromDate.getTime()) / 3_600_000;
        expect(hours < 2).toBe(name === 'ttl');
      }
    },
  );

  test('has the limits that its own request was generated with', async () => {
    const { post, textOf, root } = mounts;
    await root();
    const { csr } = (
      await post(
        'intermediate/generate/internal',
        {
          common_name: 'Limited',
          key_type: 'ec',
          max_path_length: 0,
          permitted_dns_domains: 'in.example',
          ext_key_usage: 'ServerAuth',
          policy_identifiers: '1.2.3.5',
        },
        other,
      )
    ).data;
    // The signer sets the path length; the CSR only asks for one.
    const { data } = await post('root/sign-intermediate', { csr, use_csr_values: true });
    const shown = textOf(data.certificate);
    for (const text of ['DNS:in.example', 'TLS Web Server Authentication', 'Policy: 1.2.3.5'])
      expect(shown).toContain(text);
  });

  test.for(['ext_key_usage', 'ext_key_usage_oids', 'policy_identifiers'])(
    'is refused with an unknown value of %s, which would leave it unlimited',
    async (name) => {
      const { refusal, root } = mounts;
      await root();
      const csr = newRequest(mounts, '/CN=Csr CA');
      const named = name === 'policy_identifiers' ? 'policy identifier' : name;
      for (const path of [
        'root/sign-intermediate',
        'root/generate/internal',
        'intermediate/generate/internal',
      ]) {
        const body = { common_name: 'CA', [name]: 'ServerAuht' };
        const request = path === 'root/sign-intermediate' ? { ...body, csr } : body;
        expect(await refusal(path, request)).toContain(`${named}`);
      }
    },
  );

  test.for(['ttl', 'not_after', 'not_before_duration'])(
    'is not requested with a %s, which only its signer can set',
    async (name) => {
      const { pki, refusal } = mounts;
      const value = name === 'not_after' ? '2040-01-01T00:00:00Z' : '1h';
      for (const path of ['intermediate/generate/internal', 'intermediate/cross-sign']) {
        const body = { common_name: 'I', key_type: 'ec', [name]: value };
        expect(await refusal(path, body)).toBe(
          `${name} has no effect on a request: whoever signs it decides the lifetime`,
        );
      }
      const body = { common_name: 'I', key_type: 'ec', [name]: value };
      // The vendor's command line sends the parameters of the certificate along with those of the request.
      const answer = await pki.call('POST', 'intermediate/generate/internal', body, {
        vendor: true,
      });
      expect([answer.status, answer.json.warnings]).toEqual([
        200,
        [expect.stringContaining(`${name} has no effect`)],
      ]);
    },
  );

  test('may have the critical extensions about policies that its request has', async () => {
    const { post, textOf, root } = mounts;
    await root();
    const csr = newRequest(mounts, '/CN=Csr CA', [
      'policyConstraints=critical,requireExplicitPolicy:0',
      'inhibitAnyPolicy=critical,0',
    ]);
    const { data } = await post('root/sign-intermediate', { csr, use_csr_values: true });
    expect(textOf(data.certificate)).toMatch(/Policy Constraints: critical/);
    expect(textOf(data.certificate)).toMatch(/Inhibit Any Policy: critical/);
  });

  test('under name constraints issues nothing that relying parties would refuse', async () => {
    const { pki, verifies, post, refusal, root, intermediate, leafOf } = mounts;
    const { certificate } = await root('Root', pki.mount, { permitted_dns_domains: 'example.com' });
    const { signed } = await intermediate({
      excluded_dns_domains: 'secret.example.com',
      exclude_cn_from_sans: true,
    });
    await post('issuers/import/cert', { pem_bundle: certificate }, other);
    const good = (await leafOf({ common_name: 'a.example.com' })).data;
    expect(verifies(certificate, [signed.data.certificate], good.certificate)).toBe(true);
    const outside = { common_name: 'a.example.org', ttl: '1h' };
    expect(await refusal('issue/leaf', outside, other)).toContain(
      'verification of parsed bundle failed: "a.example.org" is not permitted',
    );
    const excluded = { common_name: 'x.secret.example.com', ttl: '1h' };
    expect(await refusal('issue/leaf', excluded, other)).toContain('is excluded');
    expect((await pki.call('LIST', 'certs', undefined, { mount: other })).data.keys).toHaveLength(
      1,
    );
    const freed = { disable_name_constraint_checks: true };
    await pki.call('PATCH', 'issuer/default', freed, { ...MERGE_PATCH, mount: other });
    const bad = (await leafOf(outside)).data;
    expect(verifies(certificate, [signed.data.certificate], bad.certificate)).toBe(false);
  });

  test('with an unknown critical extension issues only without the check for it', async () => {
    const { pki, post, refusal, file, openssl } = mounts;
    const [key, unknown] = [file('unknown.key', ''), '1.2.3.4=critical,ASN1:UTF8String:text'];
    const ec = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', key];
    const root = openssl('req', '-x509', ...ec, '-subj', '/CN=Unknown', '-addext', unknown);
    await post('issuers/import/bundle', { pem_bundle: root + readFileSync(key, 'utf8') });
    await post('roles/leaf', leafRole);
    const leaf = { common_name: 'leaf.example.com', ttl: '1h' };
    expect(await refusal('issue/leaf', leaf)).toContain('unhandled critical extension 1.2.3.4');
    const freed = { disable_critical_extension_checks: true };
    await pki.call('PATCH', 'issuer/default', freed, MERGE_PATCH);
    await post('issue/leaf', leaf);
  });

  test('of an RSA issuer is signed as asked for', async () => {
    const { pki, file, openssl, textOf, post, root, intermediate } = mounts;
    await root('Root', pki.mount, { key_type: 'rsa' });
    const pss = (await intermediate({ use_pss: true, signature_bits: 384 })).signed;
    expect(textOf(pss.data.certificate)).toMatch(/rsassaPss[\s\S]*sha384/);
    const request = { csr: (await intermediate()).csr, signature_bits: 512, format: 'der' };
    const plain = await post('root/sign-intermediate', request);
    const der = file('i.der', Buffer.from(plain.data.certificate, 'base64'));
    expect(openssl('x509', '-inform', 'DER', '-noout', '-text', '-in', der)).toContain(
      'sha512With',
    );
  });
});

describe('self-issued certificates', () => {
  test.for(['root', 'issuer/default'])('are signed again under %s', async (path) => {
    const { textOf, verifies, post, refusal, root, intermediate, leafOf } = mounts;
    await post('config/urls', { crl_distribution_points: 'http://crl.example.com/' });
    const { certificate } = await root();
    const theirs = await root('Theirs', other, { key_type: 'ed25519' });
    const signed = (await post(`${path}/sign-self-issued`, { certificate: theirs.certificate }))
      .data;
    expect(Object.keys(signed).toSorted()).toEqual(['certificate', 'issuing_ca']);
    expect(signed.issuing_ca).toBe(certificate);
    const leaf = (await leafOf()).data;
    await post('roles/leaf', { ...leafRole, key_type: 'ed25519' }, other);
    expect(verifies(certificate, [signed.certificate], leaf.certificate)).toBe(true);
    const text = textOf(signed.certificate);
    expect(text).toContain('URI:http://crl.example.com/');
    expect(text).toContain('Subject: CN = Theirs');
    const strict = {
      certificate: theirs.certificate,
      require_matching_certificate_algorithms: true,
    };
    expect(await refusal(`${path}/sign-self-issued`, strict)).toContain('does not match');
    expect(await refusal(`${path}/sign-self-issued`, { certificate: leaf.certificate })).toBe(
      'given certificate is not a CA certificate',
    );
    expect(await refusal(`${path}/sign-self-issued`, { certificate: 'nothing' })).toBe(
      'certificate could not be PEM-decoded',
    );
    const two = `${theirs.certificate}\n${certificate}`;
    expect(await refusal(`${path}/sign-self-issued`, { certificate: two })).toContain(
      '2 certificates',
    );
    const { signed: sub } = await intermediate();
    expect(await refusal(`${path}/sign-self-issued`, { certificate: sub.data.certificate })).toBe(
      'given certificate is not self-issued',
    );
  });

  /** @param extensions undefined means those that OpenSSL adds to a root by default */
  const openSslRoot = (extensions?: readonly string[], ...args: readonly string[]): string => {
    const content = ['[req]', 'distinguished_name=d', 'x509_extensions=v3', '[d]', '[v3]'];
    const config = [...content, ...(extensions ?? [])].join('\n');
    const chosen = extensions === undefined ? [] : ['-config', mounts.file('root.cnf', config)];
    const key = ['-newkey', 'rsa:2048', '-nodes', '-keyout', mounts.file('root.key', '')];
    return mounts.openssl('req', '-x509', ...key, '-subj', '/CN=r', ...chosen, ...args);
  };
  const LEGACY = ['basicConstraints=CA:TRUE', 'subjectKeyIdentifier=none'];

  test.for([
    ['as OpenSSL makes it', undefined],
    ['without key usage and key identifiers', [...LEGACY, 'authorityKeyIdentifier=none']],
    ['with a key usage, without key identifiers', [...LEGACY, 'keyUsage=keyCertSign']],
  ] as const)('are signed again with their contents: a root %s', async ([, extensions]) => {
    const { textOf, post, root } = mounts;
    await root();
    const certificate = openSslRoot(extensions);
    const { data } = await post('root/sign-self-issued', { certificate });
    const extensionsOf = (pem: string): readonly string[] =>
      [...textOf(pem).matchAll(/X509v3 (.*):/g)]
        .map(([, name = '']) => name)
        .filter((name) => !['extensions', 'Authority Key Identifier'].includes(name));
    expect(extensionsOf(data.certificate)).toEqual(extensionsOf(certificate));
    expect(textOf(data.certificate)).toContain('Issuer: CN = Root');
  });

  test('are signed again although their own signature uses SHA-1', async () => {
    await mounts.root();
    const certificate = openSslRoot(undefined, '-sha1');
    const { data } = await mounts.post('root/sign-self-issued', { certificate });
    expect(mounts.textOf(data.certificate)).toContain('ecdsa-with-SHA256');
  });
});
