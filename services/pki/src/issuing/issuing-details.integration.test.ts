/** Parts of a certificate other than names that callers, issuers and mounts decide. */
import { X509Certificate } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import {
  leafRole,
  MERGE_PATCH,
  type Mounts,
  newRequest,
  openMounts,
  other,
} from '../../test/open-mounts.ts';
import { aMount } from '../../test/open-pki.ts';

let mounts: Mounts;

beforeEach(async () => {
  mounts = await openMounts();
});
afterEach(() => mounts.close());

const NAME = { common_name: 'leaf.example.com' };
const DAY_MS = 86_400_000;

/** RFC 3339 to the second. */
const timeAfter = (ms: number): string =>
  new Date(mounts.pki.clock.nowMs() + ms).toISOString().replace('.000Z', 'Z');

const startOf = (pem: string): string =>
  new Date(new X509Certificate(pem).validFrom).toISOString().replace('.000Z', 'Z');

const endOf = (pem: string): string =>
  new Date(new X509Certificate(pem).validTo).toISOString().replace('.000Z', 'Z');

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
  test('lies as far back as the role or the request says, even before that of a new issuer', async () => {
    const { pki, post, root } = mounts;
    await root('Root', pki.mount, { not_before_duration: 10 });
    await post('roles/early', { ...leafRole, not_before_duration: 3600 });
    const issued = (await post('issue/early', NAME)).data;
    expect(startOf(issued.certificate)).toBe(timeAfter(-3_600_000));
    const { csr } = (await post('intermediate/generate/internal', { ...NAME, key_type: 'ec' }))
      .data;
    const early = { ...NAME, csr, not_before_duration: '2h' };
    const signed = (await post('root/sign-intermediate', early)).data;
    expect(startOf(signed.certificate)).toBe(timeAfter(-7_200_000));
  });

  test('under an expired issuer that permits it is warned of', async () => {
    const { pki, post, root } = mounts;
    await root('Root', pki.mount, { ttl: '1h' });
    await post('roles/leaf', leafRole);
    await patchIssuer({ leaf_not_after_behavior: 'permit' });
    const expiredAt = timeAfter(3_600_000);
    pki.clock.advance(7_200_000);
    const { json } = await post('issue/leaf', { ...NAME, not_after: '' });
    expect(json.warnings).toEqual([`the issuer expired at ${expiredAt}`]);
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
    const { pki, post, root } = mounts;
    await root('Root', pki.mount, { ttl: '1000h' });
    await post('roles/leaf', leafRole);
    expect((await patchIssuer({ leaf_not_after_behavior })).status).toBe(200);
    const { csr } = (await post('intermediate/generate/internal', { ...NAME, key_type: 'ec' }))
      .data;
    const caEnd = endOf((await pki.call('GET', 'ca/pem')).bytes.toString());
    const not_after = timeAfter(1000 * DAY_MS);
    const outcome = async (path: string, body: object) => {
      const answer = await pki.call('POST', path, { ...NAME, csr, not_after, ...body });
      if (answer.status !== 200) {
        const [text] = answer.json.errors;
        return text.includes('beyond the expiration of the CA certificate') ? 'refused' : text;
      }
      const found = endOf(answer.data.certificate);
      if (found === caEnd) return 'cut';
      return found === not_after ? 'kept' : found;
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

describe('an absolute start or end', () => {
  const short = aMount({
    uuid: '8f0b1c1e-0000-4000-8000-000000000009',
    path: 'short/',
    defaultLeaseTtlSeconds: 3600,
    maxLeaseTtlSeconds: 50 * 3600,
  });
  const ISSUING = ['issue/day', 'sign/day', 'sign-verbatim/day'].flatMap((path) => [
    path,
    `issuer/default/${path}`,
  ]);
  const OTHERS = [
    'sign-verbatim',
    'root/sign-intermediate',
    'issuer/default/sign-intermediate',
    'root/generate/internal',
    'issuers/generate/root/internal',
    'root/rotate/internal',
  ];

  /** Without it, signing verbatim cuts what outlives the issuer. */
  const enforced = (path: string) =>
    path.includes('verbatim') && { enforce_leaf_not_after_behavior: true };

  const setUp = async (role: object = {}) => {
    const { pki, post } = mounts;
    await post('root/generate/internal', { ...NAME, key_type: 'ec', ttl: '50h' }, short);
    await pki.call(
      'PATCH',
      'issuer/default',
      { leaf_not_after_behavior: 'permit' },
      { ...MERGE_PATCH, mount: short },
    );
    await post('roles/day', { ...leafRole, ttl: '1h', max_ttl: '24h', ...role }, short);
    const csr = newRequest(mounts, '/CN=leaf.example.com');
    return (path: string, body: object, vendor?: true) =>
      pki.call(
        'POST',
        path,
        // Roots need a key, signing needs a CSR.
        {
          ...NAME,
          ...(path.includes('generate') || path.includes('rotate') ? { key_type: 'ec' } : { csr }),
          ...body,
        },
        { mount: short, ...(vendor && { vendor }) },
      );
  };

  test('is within the maximum of role and mount wherever something is signed, except for vendor clients', async () => {
    const call = await setUp();
    for (const [paths, hours] of [
      [ISSUING, 24],
      [OTHERS, 50],
    ] as const)
      for (const path of paths) {
        const [last, beyond] = [timeAfter(hours * 3_600_000), timeAfter(hours * 3_600_000 + 1000)];
        const refused = await call(path, { not_after: beyond });
        expect([path, refused.status, refused.json.errors]).toEqual([
          path,
          400,
          [
            `requested not_after ${beyond} is later than ${last}, which the maximum ttl ${hours}h (${hours * 3600}s) allows`,
          ],
        ]);
        const kept = await call(path, { not_after: last });
        expect([path, endOf(kept.data.certificate)]).toEqual([path, last]);
        const whenever = { not_after: '9999-12-31T23:59:59Z' };
        const free = await call(path, { ...whenever, ...enforced(path) }, true);
        expect([path, endOf(free.data.certificate)]).toEqual([path, whenever.not_after]);
      }
  });

  test.for<readonly [object, Readonly<Record<string, string>>, string | undefined]>([
    [{ not_after_bound: 'permit' }, { not_after: '9999-12-31T23:59:59Z' }, undefined],
    [{ not_after_bound: 'ttl-limited' }, { not_after: '2090-01-01T00:00:00Z' }, 'maximum ttl 24h'],
    [{ not_after_bound: 'forbid' }, { not_after: '2090-01-01T00:00:00Z' }, 'not_after_bound'],
    [
      { not_after_bound: '2080-01-01T00:00:00Z' },
      { not_after: '2090-01-01T00:00:00Z' },
      'later than 2080-01-01T00:00:00Z',
    ],
    [{ not_before_bound: 'forbid' }, { not_before: '2020-01-01T00:00:00Z' }, 'not_before_bound'],
    [{ not_before_bound: 'duration' }, { not_before: '2020-01-01T00:00:00Z' }, 'is earlier than'],
    [{ not_before_bound: 'permit' }, { not_before: '2020-01-01T00:00:00Z' }, undefined],
  ])('is as the role says in both dialects: %o, asked %o: %s', async ([role, body, refusal]) => {
    const call = await setUp(role);
    const outcomes = new Set<string>();
    for (const path of ISSUING)
      for (const vendor of [undefined, true] as const) {
        const { json, data } = await call(path, { ...body, ...enforced(path) }, vendor);
        outcomes.add(json.errors?.[0] ?? `${startOf(data.certificate)} ${endOf(data.certificate)}`);
      }
    const [made = ''] = Object.values(body);
    expect([...outcomes]).toEqual([expect.stringContaining(refusal ?? made)]);
  });

  test('is refused or cut at the end that the role gives its certificates', async () => {
    const call = await setUp({ not_after: timeAfter(DAY_MS / 2) });
    const asked = { not_after: timeAfter(DAY_MS) };
    for (const path of ISSUING) {
      const body = { ...asked, ...enforced(path) };
      expect((await call(path, body)).json.errors).toEqual([
        expect.stringContaining('of the role'),
      ]);
      const { data, json } = await call(path, body, true);
      expect(endOf(data.certificate)).toBe(timeAfter(DAY_MS / 2));
      expect(json.warnings).toContainEqual(expect.stringContaining('which is being used'));
    }
  });
});

test('a manual chain whose names do not match is refused when it is written, unless its check is off', async () => {
  const { post, root, pki } = mounts;
  const one = await root('One');
  const two = await root('Two');
  await post('roles/leaf', leafRole);
  const patch = (body: object) => pki.call('PATCH', `issuer/${one.issuer_id}`, body, MERGE_PATCH);
  const issue = `issuer/${one.issuer_id}/issue/leaf`;
  const broken = { manual_chain: ['self', two.issuer_id] };
  const text = `manual_chain: issuer ${two.issuer_id} is not named as issuer by any certificate before it; disable_name_checks permits that`;
  const refused = await patch(broken);
  expect([refused.status, refused.json.errors]).toEqual([400, [text]]);
  expect((await post(`issuer/${one.issuer_id}`, {})).data.manual_chain).toBeNull();
  expect((await patch({ ...broken, disable_name_checks: true })).status).toBe(200);
  expect((await post(issue, NAME)).data.ca_chain).toEqual([one.certificate, two.certificate]);
  expect((await patch({ disable_name_checks: false })).json.errors).toEqual([text]);
  await patch({ disable_name_checks: false, manual_chain: ['self'] });
  expect((await post(issue, NAME)).data.ca_chain).toEqual([one.certificate]);
});

test('the deletion of an issuer that roles or chains use names them, and chains go on without it', async () => {
  const { pki, post, root, intermediate } = mounts;
  const top = await root('Root');
  await intermediate();
  await post('issuers/import/cert', { pem_bundle: top.certificate }, other);
  const listed = (await pki.call('LIST', 'issuers', undefined, { mount: other })).data;
  const [member = '', chained = ''] = listed.keys.toSorted(
    (a: string, b: string) =>
      Number(listed.key_info[a].key_id !== '') - Number(listed.key_info[b].key_id !== ''),
  );
  await pki.call(
    'PATCH',
    `issuer/${chained}`,
    { issuer_name: 'chained', manual_chain: ['self', member] },
    { ...MERGE_PATCH, mount: other },
  );
  await post('roles/leaf', leafRole, other);
  await post('roles/by-member', { ...leafRole, issuer_ref: member }, other);
  const deleted = await pki.call('DELETE', `issuer/${member}`, undefined, { mount: other });
  expect(deleted.json.warnings).toEqual([
    expect.stringContaining('these roles name: by-member.'),
    expect.stringContaining('manual_chain of these issuers: chained.'),
  ]);
  const path = 'issuer/chained/issue/leaf';
  expect((await post(path, NAME, other)).data.ca_chain).toHaveLength(1);
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
