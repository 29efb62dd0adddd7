/** Parts of a certificate other than names that callers, issuers and mounts decide. */
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { leafRole, MERGE_PATCH, type Mounts, openMounts } from '../../test/open-mounts.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
});
afterEach(() => mounts.close());

const NAME = { common_name: 'leaf.example.com' };
const YEARS = '9999-12-31T23:59:59Z';

const patchIssuer = (body: object) => mounts.pki.call('PATCH', 'issuer/default', body, MERGE_PATCH);

describe('the key of an issued certificate', () => {
  test('is as requested if the role leaves it open', async () => {
    const { post, refusal, root, textOf } = mounts;
    await root();
    await post('roles/any', { ...leafRole, key_type: 'any' });
    expect(await refusal('issue/any', NAME)).toBe(
      'role key type "any" not allowed for issuing certificates, only signing',
    );
    const { data, json } = await post('issue/any', { ...NAME, key_type: 'ec', key_bits: 384 });
    expect(textOf(data.certificate)).toContain('NIST CURVE: P-384');
    expect([data.private_key_type, json.warnings]).toEqual(['ec', null]);
    expect((await post('issue/any', { ...NAME, key_type: 'ed25519' })).data.private_key_type).toBe(
      'ed25519',
    );
    expect(await refusal('issue/any', { ...NAME, key_type: 'ec', key_bits: 512 })).toContain(
      'unsupported bit length for EC key: 512',
    );
    expect(await refusal('issue/any', { ...NAME, key_type: 'dsa' })).toContain('unknown key type');
  });

  test('is as in the role otherwise, with a warning for a request of another', async () => {
    const { post, root } = mounts;
    await root();
    await post('roles/ec', leafRole);
    const { data, json } = await post('issue/ec', { ...NAME, key_type: 'rsa', key_bits: 4096 });
    expect([data.private_key_type, json.warnings]).toEqual([
      'ec',
      ['parameters key_type and key_bits ignored as role had specific values'],
    ]);
  });

  test('has the identifier shown when the key is read', async () => {
    const { pki, root, textOf } = mounts;
    const { certificate, key_id } = await root();
    const { data } = await pki.call('GET', `key/${key_id}`);
    expect(textOf(certificate)).toContain(data.subject_key_id.toUpperCase());
  });
});

describe('the start of validity', () => {
  const startOf = (pem: string): number => Date.parse(new X509Certificate(pem).validFrom);

  test('lies as far back as the role or the request says, even before that of a new issuer', async () => {
    const { pki, post, root } = mounts;
    await root('Root', pki.mount, { not_before_duration: 10 });
    await post('roles/early', { ...leafRole, not_before_duration: 3600 });
    const issued = (await post('issue/early', NAME)).data;
    expect(startOf(issued.certificate)).toBe(pki.clock.nowMs() - 3_600_000);
    const { csr } = (await post('intermediate/generate/internal', { ...NAME, key_type: 'ec' }))
      .data;
    const early = { ...NAME, csr, not_before_duration: '2h' };
    const signed = (await post('root/sign-intermediate', early)).data;
    expect(startOf(signed.certificate)).toBe(pki.clock.nowMs() - 7_200_000);
  });

  test('is refused when no validity remains', async () => {
    const { pki, refusal, root, post } = mounts;
    await root('Root', pki.mount, { not_before_duration: 0, ttl: '1h' });
    await post('roles/late', { ...leafRole, not_before_duration: 0 });
    await patchIssuer({ leaf_not_after_behavior: 'truncate' });
    pki.clock.advance(7_200_000);
    expect(await refusal('issue/late', NAME)).toContain('would end');
  });
});

/** How a certificate that would outlive its issuer is treated: by issuing and by trusted signing. */
const BEHAVIORS = [
  ['err', 'refused', 'cut', 'refused', 'cut', 'refused'],
  ['truncate', 'cut', 'cut', 'cut', 'cut', 'cut'],
  ['permit', 'kept', 'cut', 'kept', 'kept', 'kept'],
  ['always_enforce_err', 'refused', 'refused', 'refused', 'refused', 'refused'],
] as const;

test.for(BEHAVIORS)(
  'under %s a certificate that would outlive its issuer is issued: %s, signed verbatim: %s, so enforced: %s, as an intermediate: %s, so enforced: %s',
  async ([leaf_not_after_behavior, issued, verbatim, verbatimEnforced, sub, subEnforced]) => {
    const { pki, file, openssl, post, root } = mounts;
    await root('Root', pki.mount, { ttl: '1000h' });
    await post('roles/leaf', leafRole);
    expect((await patchIssuer({ leaf_not_after_behavior })).status).toBe(200);
    const { csr } = (await post('intermediate/generate/internal', { ...NAME, key_type: 'ec' }))
      .data;
    const end = (pem: string) => openssl('x509', '-noout', '-enddate', '-in', file('c', pem));
    const caEnd = end((await pki.call('GET', 'ca/pem')).bytes.toString());
    const outcome = async (path: string, body: object) => {
      const answer = await pki.call('POST', path, { ...NAME, csr, not_after: YEARS, ...body });
      if (answer.status !== 200) {
        const [text] = answer.json.errors;
        return text.includes('beyond the expiration of the CA certificate') ? 'refused' : text;
      }
      const found = end(answer.data.certificate);
      if (found === caEnd) return 'cut';
      return found.includes('Dec 31 23:59:59 9999 GMT') ? 'kept' : found;
    };
    const enforced = { enforce_leaf_not_after_behavior: true };
    expect(await outcome('issue/leaf', {})).toBe(issued);
    expect(await outcome('sign/leaf', {})).toBe(issued);
    expect(await outcome('sign-verbatim', {})).toBe(verbatim);
    expect(await outcome('sign-verbatim/leaf', enforced)).toBe(verbatimEnforced);
    expect(await outcome('root/sign-intermediate', {})).toBe(sub);
    expect(await outcome('root/sign-intermediate', enforced)).toBe(subEnforced);
  },
);

test('a manual chain whose names do not match is refused, unless its check is off', async () => {
  const { post, refusal, root, pki } = mounts;
  const one = await root('One');
  const two = await root('Two');
  await post('roles/leaf', leafRole);
  const patch = (body: object) => pki.call('PATCH', `issuer/${one.issuer_id}`, body, MERGE_PATCH);
  const issue = `issuer/${one.issuer_id}/issue/leaf`;
  await patch({ manual_chain: ['self', two.issuer_id] });
  expect(await refusal(issue, NAME)).toBe(
    `verification of parsed bundle failed: issuer ${two.issuer_id} of the manual chain is not named as issuer by any certificate before it`,
  );
  await patch({ disable_name_checks: true });
  expect((await post(issue, NAME)).data.ca_chain).toEqual([one.certificate, two.certificate]);
  await patch({ disable_name_checks: false, manual_chain: ['self'] });
  expect((await post(issue, NAME)).data.ca_chain).toEqual([one.certificate]);
});

test('metadata is stored for signed requests too, and not if the role forbids it', async () => {
  const { pki, post, refusal, root } = mounts;
  const { issuer_id } = await root();
  await post('roles/leaf', leafRole);
  await post('roles/bare', { ...leafRole, no_store: true });
  await post('roles/none', { ...leafRole, no_store_metadata: true });
  const { csr } = (await post('intermediate/generate/internal', { ...NAME, key_type: 'ec' })).data;
  const metadata = Buffer.from('owner: web').toString('base64');
  for (const [path, role] of [
    ['issue/leaf', 'leaf'],
    ['issue/bare', 'bare'],
    ['sign/leaf', 'leaf'],
    ['sign-verbatim/leaf', 'leaf'],
  ] as const) {
    const { data } = await post(path, { ...NAME, csr, ttl: '1h', metadata });
    const read = await pki.call('GET', `cert-metadata/${data.serial_number}`);
    expect(read.data).toEqual({
      cert_metadata: metadata,
      expiration: new Date(Number(data.expiration) * 1000).toISOString().replace('.000', ''),
      issuer_id,
      role,
      serial_number: data.serial_number,
    });
  }
  expect((await pki.call('LIST', 'cert-metadata')).data.keys).toHaveLength(4);
  expect(await refusal('issue/none', { ...NAME, metadata })).toContain('no_store_metadata');
  expect((await pki.call('GET', 'cert-metadata/01:02')).status).toBe(404);
});

describe('fetching issuers', () => {
  const PATHS = [
    'ca',
    'ca/pem',
    'ca_chain',
    'cert/ca/raw',
    'cert/ca/raw/pem',
    'issuer/default/json',
    'issuer/default/der',
    'issuer/default/pem',
  ];

  const fetchSince = (path: string, sinceMs: number) =>
    mounts.pki.call('GET', path, undefined, {
      headers: { 'if-modified-since': new Date(sinceMs).toUTCString() },
    });

  test('tells a client that its copy is current', async () => {
    const { pki, post, root } = mounts;
    await root();
    for (const path of [...PATHS, 'crl', 'crl/pem', 'issuer/default/crl']) {
      const { status, headers } = await pki.call('GET', path);
      // The second of the change has not passed, so that a further change within it could not be detected.
      expect([path, status, headers.get('last-modified')]).toEqual([path, 200, undefined]);
      expect((await fetchSince(path, pki.clock.nowMs())).status).toBe(200);
    }
    pki.clock.advance(1000);
    const fetchedAtMs = pki.clock.nowMs();
    for (const path of [...PATHS, 'crl', 'crl/pem', 'issuer/default/crl']) {
      const answer = await fetchSince(path, fetchedAtMs);
      expect([path, answer.status, answer.bytes.byteLength]).toEqual([path, 304, 0]);
      expect(answer.headers.get('last-modified')).toBe(new Date(fetchedAtMs).toUTCString());
      expect((await fetchSince(path, fetchedAtMs - 1000)).status).toBe(200);
    }
    const { headers } = await pki.call('GET', 'ca');
    expect(headers.get('last-modified')).toBe(new Date(fetchedAtMs).toUTCString());

    await post('issuer/default', { issuer_name: 'renamed' });
    pki.clock.advance(1000);
    for (const path of PATHS)
      expect([path, (await fetchSince(path, fetchedAtMs)).status]).toEqual([path, 200]);
    await post('root/generate/internal', { common_name: 'Two', key_type: 'ec' });
    expect((await fetchSince('issuer/renamed/json', pki.clock.nowMs())).status).toBe(200);
  });

  test('compares content when the time in the request is invalid', async () => {
    const { pki, root } = mounts;
    await root();
    pki.clock.advance(1000);
    const headers = { 'if-modified-since': 'yesterday' };
    expect((await pki.call('GET', 'ca', undefined, { headers })).status).toBe(200);
  });
});
