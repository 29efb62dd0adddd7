import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { third } from '../../test/open-mounts.ts';
import { newCsr, openPolicyMounts, openReferenceService } from '../../test/policy-neighbours.ts';

const { mounts, trust, issuer, config } = await openPolicyMounts();
afterAll(() => mounts.close());

describe('the configuration of the policy service', () => {
  const call = (body: object) => config(body, third);

  test('shows defaults before anything was set', async () => {
    const { data } = await mounts.pki.call('GET', 'config/external-policy', undefined, {
      mount: third,
    });
    expect(data).toEqual({
      enabled: false,
      external_service_url: '',
      timeout: 15_000_000_000,
      trusted_ca: '',
      trusted_leaf_certificate_bundle: '',
      vault_client_cert_bundle_no_keys: '',
      entity_jmespath: '',
      group_jmespath: '',
      external_service_last_updated: '',
      external_service_validated: false,
      last_successful_request: '',
      last_failed_request: '',
      last_failure: '',
    });
  });

  test('merges changes, shows when they were made, and never shows the private key', async () => {
    await call({ external_service_url: 'https://policy.example.com/', trusted_ca: trust.ca });
    const bundle = `${trust.client.certificate}\n${trust.client.key}`;
    const { status, data, bytes } = await call({
      enabled: true,
      timeout: '5s',
      vault_client_cert_bundle: bundle,
    });
    expect(status).toBe(200);
    expect(data).toMatchObject({
      enabled: true,
      external_service_url: 'https://policy.example.com/',
      timeout: 5_000_000_000,
      trusted_ca: trust.ca,
    });
    // Two changes in one millisecond of the test's clock are still two.
    expect(Date.parse(data.external_service_last_updated)).toBe(mounts.pki.clock.nowMs() + 1);
    expect(data.vault_client_cert_bundle_no_keys.trim()).toBe(trust.client.certificate.trim());
    expect(bytes.toString()).not.toContain('PRIVATE KEY');
  });

  test.for([
    [
      'a URL that is not https',
      { external_service_url: 'http://policy.example.com/' },
      /https URL/,
    ],
    ['a URL with credentials', { external_service_url: 'https://a:b@example.com/' }, /credentials/],
    [
      'no URL at all',
      { enabled: true, external_service_url: '' },
      /external_service_url must be set/,
    ],
    ['no trust at all', { enabled: true, trusted_ca: '' }, /one of trusted_ca and/],
    ['both kinds of trust', 'both', /only one of/],
    ['text that holds no certificate', { trusted_ca: 'no pem' }, /must hold PEM certificates/],
    ['a client certificate without a key', 'keyless', /exactly one private key/],
    ['a key of another certificate', 'foreign', /does not fit/],
    ['no time', { timeout: 0 }, /between 1 and 60/],
    ['too much time', { timeout: '61s' }, /between 1 and 60/],
    ['what is not JMESPath', { entity_jmespath: '[' }, /entity_jmespath is not/],
    ['what is not JMESPath of groups', { group_jmespath: ')' }, /group_jmespath is not/],
  ] as const)('refuses %s', async ([, body, text]) => {
    const bodies = {
      both: { trusted_leaf_certificate_bundle: trust.server.certificate },
      keyless: { vault_client_cert_bundle: trust.client.certificate },
      foreign: { vault_client_cert_bundle: trust.client.certificate + trust.server.key },
    };
    const { status, json } = await call(typeof body === 'string' ? bodies[body] : body);
    expect(status).toBe(400);
    expect(json.errors[0]).toMatch(text);
  });
});

const PATHS = ['', '/regional'].flatMap((policy) =>
  ['', 'issuer/main/'].flatMap((before) =>
    (['issue', 'sign', 'sign-intermediate'] as const).map(
      (kind) => [`${before}external-policy/${kind}${policy}`, kind] as const,
    ),
  ),
);

describe('without an enabled policy service', () => {
  test.for(PATHS)('%s is refused', async ([path]) => {
    const csr = newCsr(mounts, 'leaf.example.com');
    const { status, json } = await mounts.pki.call('POST', path, { csr });
    expect([status, json.errors]).toEqual([
      400,
      ['the external policy service is not enabled in this mount'],
    ]);
  });
});

describe('the reference policy service', () => {
  let service: Awaited<ReturnType<typeof openReferenceService>>;
  const web = {
    allowed_names: ['*.example.com'],
    ttl_seconds: 3600,
    max_ttl_seconds: 7200,
    organization: ['Example'],
    store_certificate: true,
    warnings: ['decided by rules'],
  };
  const regional = {
    modes: ['issue', 'sign', 'ica'],
    allowed_names: ['*.example.com'],
    ttl_seconds: 86_400,
    max_ttl_seconds: 86_400,
    path_length: 0,
    store_certificate: true,
  };

  beforeAll(async () => {
    const rules = {
      default_policy: 'all',
      policies: {
        all: { ...web, modes: ['issue', 'sign', 'ica'] },
        regional,
        fleeting: { ...web, store_certificate: false },
        leased: { ...web, generate_lease: true },
        elsewhere: { ...web, issuer: 'nobody' },
      },
    };
    service = await openReferenceService(trust, rules, () => mounts.pki.clock.nowMs());
    await mounts.post('config/external-policy', {
      enabled: true,
      external_service_url: service.url,
      trusted_ca: trust.ca,
      vault_client_cert_bundle: `${trust.client.key}\n${trust.client.certificate}`,
    });
  });
  afterAll(() => service.close());

  test.for(['rsa', 'ec', 'ed25519'])(
    'chooses usages for a key of %s that suit it',
    async (key_type) => {
      const body = { common_name: 'leaf.example.com', key_type };
      const { data } = await mounts.pki.call('POST', 'external-policy/issue', body);
      expect(mounts.textOf(data.certificate)).toMatch(/Key Usage: critical\s+Digital Signature\n/);
    },
  );

  test.for(PATHS)('%s gives a certificate that openssl verifies', async ([path, kind]) => {
    const csr = newCsr(mounts, 'leaf.example.com');
    const body = kind === 'issue' ? { common_name: 'leaf.example.com', key_type: 'ec' } : { csr };
    const { status, data, json } = await mounts.pki.call('POST', path, body);
    expect(json.errors).toBeUndefined();
    expect(status).toBe(200);
    expect(mounts.verifies(issuer.certificate, [], data.certificate)).toBe(true);
    const text = mounts.textOf(data.certificate);
    expect(text).toContain('CN = leaf.example.com');
    expect(text.includes('CA:TRUE')).toBe(kind === 'sign-intermediate');
    expect(data.issuing_ca).toBe(issuer.certificate);
    expect(data.private_key?.startsWith('-----BEGIN EC PRIVATE KEY')).toBe(
      kind === 'issue' ? true : undefined,
    );
    expect(data.ca_chain[0] === data.certificate).toBe(kind === 'sign-intermediate');
    // Stored, because the policy says so.
    const read = await mounts.pki.call('GET', `cert/${data.serial_number}`);
    expect(read.data.certificate.trim()).toBe(data.certificate.trim());
  });

  test('passes on its warnings and its refusals', async () => {
    const { json } = await mounts.pki.call('POST', 'external-policy/issue', {
      common_name: 'leaf.example.com',
      anything: { goes: ['here'] },
    });
    expect(json.warnings).toEqual(['decided by rules']);
    expect(json.data.private_key_type).toBe('rsa');
    const refused = await mounts.pki.call('POST', 'external-policy/issue', {
      common_name: 'leaf.example.org',
    });
    expect([refused.status, refused.json.errors[0]]).toEqual([
      400,
      'the external policy service refused the request: leaf.example.org is not allowed by this policy',
    ]);
  });

  test('can prevent a certificate from being stored, or put it under a lease', async () => {
    const issue = async (policy: string) =>
      mounts.post(`external-policy/issue/${policy}`, {
        common_name: 'x.example.com',
        key_type: 'ec',
      });
    const fleeting = (await issue('fleeting')).data;
    expect((await mounts.pki.call('GET', `cert/${fleeting.serial_number}`)).status).toBe(404);
    const leased = await issue('leased');
    expect(leased.json.lease_id).toBe('pki/external-policy/issue/leased/1');
    expect(mounts.pki.registered.at(-1)).toMatchObject({ ttlSeconds: 3600 });
  });

  test.for([
    [{ key_type: 'ec', key_bits: 224 }, 'ec', 'secp224r1'],
    [{ key_type: 'ec', key_bits: 384 }, 'ec', 'secp384r1'],
    [{ key_type: 'ec', key_bits: 521 }, 'ec', 'secp521r1'],
    [{ key_type: 'ec', key_bits: 0 }, 'ec', 'prime256v1'],
    [{ key_type: 'ec' }, 'ec', 'prime256v1'],
    [{ key_type: 'rsa', key_bits: 3072 }, 'rsa', 3072],
    [{}, 'rsa', 2048],
    // Its size is fixed, whatever is asked for.
    [{ key_type: 'ed25519', key_bits: 1234 }, 'ed25519', undefined],
  ] as const)(
    'decides about the key of %o, of the type %s and the size or curve %s',
    async ([body, type, size]) => {
      const { data } = await mounts.post('external-policy/issue', {
        common_name: 'key.example.com',
        ...body,
      });
      expect(data.private_key_type).toBe(type);
      const { modulusLength, namedCurve } =
        createPrivateKey(data.private_key).asymmetricKeyDetails ?? {};
      expect(modulusLength ?? namedCurve).toBe(size);
      expect(
        new X509Certificate(data.certificate).checkPrivateKey(createPrivateKey(data.private_key)),
      ).toBe(true);
      expect(mounts.verifies(issuer.certificate, [], data.certificate)).toBe(true);
    },
  );

  test.for(PATHS.slice(0, 3))(
    '%s answers in the format that is asked for',
    async ([path, kind]) => {
      const csr = newCsr(mounts, 'leaf.example.com');
      const asked =
        kind === 'issue' ? { common_name: 'leaf.example.com', key_type: 'ec' } : { csr };
      const answer = async (body: object) => (await mounts.post(path, { ...asked, ...body })).data;
      const der = await answer({ format: 'der', private_key_format: 'pkcs8' });
      expect(new X509Certificate(Buffer.from(der.certificate, 'base64')).subject).toContain(
        'CN=leaf.example.com',
      );
      const key = {
        key: Buffer.from(der.private_key ?? '', 'base64'),
        format: 'der',
        type: 'pkcs8',
      };
      const keyType = (): string | undefined =>
        createPrivateKey(key as Parameters<typeof createPrivateKey>[0]).asymmetricKeyType;
      expect(kind === 'issue' ? keyType() : der.private_key).toBe(
        kind === 'issue' ? 'ec' : undefined,
      );
      const bundle = await answer({ format: 'pem_bundle' });
      expect(bundle.certificate.match(/BEGIN [A-Z ]+/g)).toEqual([
        ...(kind === 'issue' ? ['BEGIN EC PRIVATE KEY'] : []),
        'BEGIN CERTIFICATE',
      ]);
      const rootless = await answer({ remove_roots_from_chain: true });
      expect(rootless.ca_chain ?? []).toEqual(
        kind === 'sign-intermediate' ? [rootless.certificate] : [],
      );
    },
  );

  test('may not choose an unknown issuer', async () => {
    const { status, json } = await mounts.pki.call('POST', 'external-policy/issue/elsewhere', {
      common_name: 'x.example.com',
      key_type: 'ec',
    });
    expect([status, json.errors[0]]).toEqual([
      502,
      'the answer of the external policy service cannot be used: issuer_ref names no issuer',
    ]);
  });

  test('accepts no request without its client certificate', async () => {
    await config({ vault_client_cert_bundle: '' });
    const { status } = await mounts.pki.call('POST', 'external-policy/issue', {
      common_name: 'x.example.com',
      key_type: 'ec',
    });
    expect(status).toBe(503);
    const { data } = await mounts.pki.call('GET', 'config/external-policy');
    expect(data).toMatchObject({ external_service_validated: false, last_successful_request: '' });
    expect(data.last_failure).toMatch(/cannot be reached/);
    await config({ vault_client_cert_bundle: `${trust.client.key}\n${trust.client.certificate}` });
  });

  test.for([
    ['a format', { format: 'text' }, /"format" path parameter/],
    ['a store under a password', { format: 'pkcs12', password: 'secret 1' }, /not available here/],
    ['an old store', { format: 'pkcs12_legacy', password: 'secret 1' }, /not available here/],
    ['a private key format', { private_key_format: 'jks' }, /"private_key_format" parameter/],
    ['a key type', { key_type: 'dsa' }, /unknown key type/],
    ['a key size', { key_type: 'rsa', key_bits: 1024 }, /unsupported bit length/],
  ] as const)('receives no request about %s that does not exist', async ([, body, text]) => {
    expect(await mounts.refusal('external-policy/issue', body)).toMatch(text);
  });
});
