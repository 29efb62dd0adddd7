import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { decodePem, findReason, parseCrl, toSerialHex } from '@keelson/x509';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenPki, openPki } from '../../test/open-pki.ts';

let folder: TemporaryDirectory;
let pki: OpenPki;

beforeEach(async () => {
  folder = await temporaryDirectory();
  pki = await openPki(folder.path);
  await pki.call('POST', 'root/generate/internal', {
    common_name: 'Keelson Root',
    ttl: '87600h',
    key_type: 'ec',
    issuer_name: 'root',
  });
  await pki.call('POST', 'roles/web', { allow_any_name: true, key_type: 'ec', max_ttl: '720h' });
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

const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { encoding: 'utf8', stdio: 'pipe' });

const issue = async (body: Record<string, unknown> = {}): Promise<string> =>
  (await pki.call('POST', 'issue/web', { common_name: 'a.example', ttl: '1h', ...body })).data
    .serial_number;

const revoke = (serial_number: string) => pki.call('POST', 'revoke', { serial_number });

/** A list as openssl reads it. */
const read = async (path: string) => {
  const der = file('list.der', (await pki.call('GET', path)).bytes);
  const pem = file('list.pem', run('openssl', 'crl', '-inform', 'DER', '-in', der));
  const text = run('openssl', 'crl', '-in', pem, '-noout', '-text');
  const hex = (label: string): number | undefined => {
    const found = new RegExp(`${label}: (?:critical)?\\s*(?:0x)?([0-9A-F]+)`).exec(text)?.[1];
    return found === undefined ? undefined : Number.parseInt(found, 16);
  };
  return {
    number: hex('X509v3 CRL Number') ?? -1,
    base: hex('X509v3 Delta CRL Indicator'),
    serials: [...text.matchAll(/Serial Number: ([0-9A-F]+)/g)].map(([, serial = '']) =>
      (serial.toLowerCase().match(/../g) ?? []).join(':'),
    ),
    text,
  };
};

/** The same, once GnuTLS has accepted its signature and that it holds by the real clock. */
const inspect = async (path: string) => {
  const list = await read(path);
  const ca = file('ca.pem', (await pki.call('GET', 'ca/pem')).bytes);
  const pem = join(folder.path, 'list.pem');
  expect(run('certtool', '--verify-crl', '--load-ca-certificate', ca, '--infile', pem)).toContain(
    'Verified',
  );
  return list;
};

const DELTAS = { auto_rebuild: true, enable_delta: true, delta_rebuild_interval: '10m' };

describe('delta lists', () => {
  test('contain what was revoked since the complete CRL, with numbers of one sequence', async () => {
    expect((await pki.call('GET', 'crl/delta')).status).toBe(204);
    const old = await issue();
    await revoke(old);
    await pki.call('POST', 'config/crl', DELTAS);
    const complete = await inspect('crl');
    expect(complete.serials).toEqual([old]);
    const empty = await inspect('crl/delta');
    expect([empty.base, empty.serials]).toEqual([complete.number, []]);
    // RFC 5280 §5.2.3: both were made at the same time.
    expect(empty.number).toBe(complete.number);
    const { thisUpdateMs, nextUpdateMs } = parseCrl((await pki.call('GET', 'crl/delta')).bytes);
    expect(nextUpdateMs - thisUpdateMs).toBe(15 * 60_000);

    const fresh = await issue();
    await revoke(fresh);
    expect((await inspect('crl')).number).toBe(complete.number);
    expect((await pki.call('GET', 'crl/rotate-delta')).data).toEqual({ success: true });
    const delta = await inspect('crl/delta');
    expect([delta.base, delta.serials]).toEqual([complete.number, [fresh]]);
    expect(delta.number).toBeGreaterThan(empty.number);

    await pki.call('GET', 'crl/rotate');
    const next = await inspect('crl');
    expect(next.number).toBeGreaterThan(delta.number);
    expect(next.serials.toSorted()).toEqual([old, fresh].toSorted());
    expect((await inspect('crl/delta')).serials).toEqual([]);
  });

  test('are named in the complete CRL if their location is configured', async () => {
    await pki.call('POST', 'config/urls', {
      delta_crl_distribution_points: 'http://ca.test/delta',
    });
    await pki.call('POST', 'config/crl', DELTAS);
    expect((await inspect('crl')).text).toMatch(/Freshest CRL[^]*http:\/\/ca\.test\/delta/);
  });

  test('are not built while they are off', async () => {
    const answer = await pki.call('GET', 'crl/rotate-delta');
    expect(answer.json.warnings[0]).toContain('not enabled');
    expect((await pki.call('GET', 'issuer/root/crl/delta')).status).toBe(404);
  });
});

describe('settings of lists', () => {
  test('keep durations as written and report contradictions', async () => {
    const set = await pki.call('POST', 'config/crl', { expiry: '2d', ocsp_expiry: '90m' });
    expect(set.data).toMatchObject({ expiry: '2d', ocsp_expiry: '90m', auto_rebuild: false });
    const refusals = [
      [{ expiry: 'soon' }, 'given expiry could not be decoded'],
      [{ enable_delta: true }, 'Delta CRLs cannot be enabled when auto rebuilding is disabled'],
      [{ auto_rebuild: true, auto_rebuild_grace_period: '48h' }, 'must be strictly shorter'],
      [{ ...DELTAS, delta_rebuild_interval: '48h' }, 'delta rebuild window'],
      [{ unified_crl_on_existing_paths: true }, 'unified_crl is disabled'],
    ] as const;
    for (const [body, text] of refusals) {
      const refused = await pki.call('POST', 'config/crl', body);
      expect([refused.status, refused.json.errors[0]]).toEqual([
        400,
        expect.stringContaining(text),
      ]);
    }
    expect((await pki.call('GET', 'config/crl')).data).toEqual(set.data);
  });

  test('an empty CRL is signed while CRLs are off, and revocations return with them', async () => {
    const serial = await issue();
    await revoke(serial);
    await pki.call('POST', 'config/crl', { disable: true });
    expect((await inspect('crl')).serials).toEqual([]);
    await pki.call('POST', 'config/crl', { disable: false });
    expect((await inspect('crl')).serials).toEqual([serial]);
  });

  test('a revocation that makes the CRL too long is recorded, and the response says what is missing', async () => {
    await pki.call('POST', 'config/crl', { max_crl_entries: 1 });
    const first = await issue();
    await revoke(first);
    const second = await issue();
    const answers = [await revoke(second), await revoke(second)];
    for (const { status, data, json } of answers) {
      expect([status, data.state]).toEqual([200, 'revoked']);
      expect(json.warnings).toEqual([
        'the certificate is revoked, and OCSP says so, but the CRL was not rebuilt and does not name it: the CRL would have more than max_crl_entries (1) entries',
      ]);
    }
    expect((await pki.call('LIST', 'certs/revoked')).data.keys).toContain(second);
    expect((await inspect('crl')).serials).toEqual([first]);
    const rotated = await pki.call('GET', 'crl/rotate');
    expect([rotated.status, rotated.json.errors[0]]).toEqual([
      400,
      'the CRL would have more than max_crl_entries (1) entries',
    ]);
  });
});

const startService = async (): Promise<void> => {
  await pki.join({
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
  });
};

describe('the worker', () => {
  test('builds the CRLs that a request could not, because another held the lease', async () => {
    const held = await pki.leases.tryAcquire(`pki/crl/${pki.mount.uuid}`, { ttlMs: 86_400_000 });
    const serial = await issue();
    const revoking = revoke(serial);
    let answer: Awaited<typeof revoking> | undefined;
    await expect
      .poll(() => {
        pki.clock.advance(1000);
        void revoking.then((given) => {
          answer = given;
        });
        return answer?.status;
      })
      .toBe(200);
    expect(answer?.json.warnings[0]).toContain('not been rebuilt yet');
    expect((await read('crl')).serials).toEqual([]);

    await held?.release();
    await startService();
    await expect
      .poll(async () => {
        pki.clock.advance(61_000);
        return (await read('crl')).serials;
      })
      .toEqual([serial]);
  });

  test('replaces lists that were made while the clock was ahead', async () => {
    await pki.call('POST', 'config/crl', DELTAS);
    pki.clock.advance(80 * 3_600_000);
    await pki.call('GET', 'crl/rotate');
    pki.clock.advance(-80 * 3_600_000);
    await startService();
    const aheadMs = async (path: string): Promise<number> =>
      parseCrl((await pki.call('GET', path)).bytes).thisUpdateMs - pki.clock.nowMs();
    await expect.poll(() => aheadMs('crl')).toBeLessThanOrEqual(0);
    expect(await aheadMs('crl/delta')).toBeLessThanOrEqual(0);
    await inspect('crl');
  });

  test('builds delta CRLs at their interval and complete ones before they expire', async () => {
    await pki.call('POST', 'config/crl', { ...DELTAS, expiry: '24h' });
    const [complete, delta] = [await read('crl'), await read('crl/delta')];
    const serial = await issue();
    await revoke(serial);
    await startService();
    const numberAfter = (path: string, stepMs: number, before: number) =>
      expect
        .poll(async () => {
          pki.clock.advance(stepMs);
          return (await read(path)).number;
        })
        .toBeGreaterThan(before);
    await numberAfter('crl/delta', 11 * 60_000, delta.number);
    expect((await read('crl/delta')).serials).toEqual([serial]);
    expect((await read('crl')).number).toBe(complete.number);
    // Twelve hours before the end of 24, because of the grace period.
    await numberAfter('crl', 12 * 3_600_000, complete.number);
    expect((await read('crl')).serials).toEqual([serial]);
  });
});

describe('fetching lists', () => {
  test('answers on every path with the type clients expect', async () => {
    await pki.call('POST', 'config/crl', { ...DELTAS, unified_crl: true });
    const raw = async (path: string) => {
      const { status, headers } = await pki.call('GET', path);
      return [status, headers.get('content-type')];
    };
    for (const base of ['crl', 'crl/delta', 'unified-crl', 'unified-crl/delta']) {
      expect(await raw(base)).toEqual([200, 'application/pkix-crl']);
      expect(await raw(`${base}/pem`)).toEqual([200, 'application/x-pem-file']);
      expect(await raw(`issuer/root/${base}/der`)).toEqual([200, 'application/pkix-crl']);
      expect(await raw(`issuer/root/${base}/pem`)).toEqual([200, 'application/x-pem-file']);
      expect((await pki.call('GET', `issuer/root/${base}`)).data.crl).toContain('BEGIN X509 CRL');
    }
    for (const name of ['crl', 'delta-crl', 'unified-crl', 'unified-delta-crl'])
      expect((await pki.call('GET', `cert/${name}`)).data.certificate).toContain('BEGIN X509 CRL');
  });

  const OF_ISSUERS = ['ca', 'ca/pem', 'ca/p7b', 'ca_chain'].concat(
    ['der', 'pem', 'p7b'].map((form) => `issuer/root/${form}`),
  );
  const OF_LISTS = ['crl', 'crl/delta', 'unified-crl', 'unified-crl/delta'].flatMap((list) => [
    list,
    `${list}/pem`,
    `issuer/root/${list}/der`,
    `issuer/root/${list}/pem`,
  ]);

  test.for([...OF_ISSUERS, ...OF_LISTS])('may be repeated by a proxy: %s', async (path) => {
    await pki.call('POST', 'config/crl', { ...DELTAS, unified_crl: true });
    pki.clock.advance(1000);
    const get = (headers: Readonly<Record<string, string>> = {}) =>
      pki.call('GET', path, undefined, { headers });
    const shown = await get();
    expect([shown.status, shown.headers.get('cache-control')]).toEqual([
      200,
      'max-age=300, public, no-transform, must-revalidate',
    ]);
    const [etag = '', modified = ''] = ['etag', 'last-modified'].map((name) =>
      shown.headers.get(name),
    );
    for (const known of [
      { 'if-none-match': etag },
      { 'if-none-match': `"other", W/${etag}` },
      { 'if-none-match': '*' },
      { 'if-modified-since': modified },
    ]) {
      const { status, bytes, headers } = await get(known);
      expect([status, bytes.byteLength, headers.get('etag')]).toEqual([304, 0, etag]);
      expect(headers.get('cache-control')).toBe(shown.headers.get('cache-control'));
    }
    // RFC 9110 §13.1.3: the time does not count where a version is named.
    const other = { 'if-none-match': '"other"', 'if-modified-since': modified };
    expect((await get(other)).status).toBe(200);
    await pki.call('GET', 'crl/rotate');
    const next = await get({ 'if-none-match': etag });
    expect(next.status).toBe(OF_LISTS.includes(path) ? 200 : 304);
  });

  test('is not stored beyond half of the validity that is left, and as JSON not at all', async () => {
    const shown = async (path = 'crl') =>
      (await pki.call('GET', path)).headers.get('cache-control');
    pki.clock.advance(72 * 3_600_000 - 60_000);
    expect(await shown()).toMatch(/^max-age=30,/);
    pki.clock.advance(120_000);
    expect(await shown()).toMatch(/^max-age=0,/);
    expect(await shown('issuer/root/crl')).toBe('no-store');
  });

  test('tells a client when its CRL is current', async () => {
    pki.clock.advance(1000);
    const first = await pki.call('GET', 'issuer/root/crl/der');
    const since = { headers: { 'if-modified-since': first.headers.get('last-modified') ?? '' } };
    expect((await pki.call('GET', 'issuer/root/crl/der', undefined, since)).status).toBe(304);
    await pki.call('GET', 'crl/rotate');
    expect((await pki.call('GET', 'issuer/root/crl/der', undefined, since)).status).toBe(200);
    pki.clock.advance(1000);
    expect((await pki.call('GET', 'issuer/root/crl/der', undefined, since)).status).toBe(200);
  });
});

describe('CRLs built on request', () => {
  test('combine CRLs of one issuer, with the oldest date and its reason', async () => {
    const reason = (code: number) => ({
      id: '2.5.29.21',
      value: Buffer.of(10, 1, code).toString('base64'),
    });
    const serial_number = '0a:0b';
    const entries = [
      { serial_number, revocation_time: '2026-01-02T00:00:00Z', extensions: [reason(5)] },
    ];
    const older = [
      {
        serial_number,
        revocation_time: 1_700_000_000,
        extensions: [reason(4), { id: '1.2.3.4', value: 'BQA=' }],
      },
    ];
    const sign = async (revoked_certs: unknown) =>
      (
        await pki.call('POST', 'issuer/root/sign-revocation-list', {
          crl_number: 5,
          revoked_certs,
          extensions: [{ id: '1.2.3.4', value: 'BQA=' }],
        })
      ).data.crl as string;
    const crls = [await sign(entries), await sign(older)];
    const answer = await pki.call('POST', 'issuer/root/resign-crls', {
      crls,
      crl_number: 9,
      delta_crl_base_number: 4,
      next_update: '5h',
      format: 'der',
    });
    const merged = parseCrl(Buffer.from(answer.data.crl, 'base64'));
    expect(merged.nextUpdateMs - merged.thisUpdateMs).toBe(5 * 3_600_000);
    expect(
      merged.entries.map(({ serialNumber, revokedAtMs, extensions = [] }) => [
        toSerialHex(serialNumber),
        revokedAtMs,
        extensions.length,
        findReason(extensions),
      ]),
    ).toEqual([[serial_number, 1_700_000_000_000, 1, 4]]);
    expect(answer.json.warnings).toHaveLength(1);
    const der = file('merged.der', Buffer.from(answer.data.crl, 'base64'));
    const text = run('openssl', 'crl', '-inform', 'DER', '-noout', '-text', '-in', der);
    expect(text).toMatch(/Delta CRL Indicator: critical\s+0?4/);
  });

  test('refuse CRLs of others, reserved extensions and issuers that may not sign', async () => {
    const post = async (path: string, body: unknown) =>
      (await pki.call('POST', `issuer/root/${path}`, body)).json.errors?.[0];
    const reserved = { crl_number: 1, extensions: [{ id: '2.5.29.20', value: 'AgEB' }] };
    expect(await post('sign-revocation-list', reserved)).toContain('reserved');
    const twice = [
      { id: '1.2.3', value: 'BQA=' },
      { id: '1.2.3', value: 'BQA=' },
    ];
    expect(await post('sign-revocation-list', { crl_number: 1, extensions: twice })).toContain(
      'duplicate',
    );
    await pki.call('POST', 'root/generate/internal', {
      common_name: 'Other',
      issuer_name: 'other',
    });
    const [other] = decodePem((await pki.call('GET', 'issuer/other/crl/pem')).bytes.toString());
    expect(other?.label).toBe('X509 CRL');
    const crls = [(await pki.call('GET', 'issuer/other/crl/pem')).bytes.toString()];
    expect(await post('resign-crls', { crl_number: 1, crls })).toContain('signed by this issuer');
    await pki.call(
      'PATCH',
      'issuer/root',
      { usage: 'issuing-certificates' },
      { contentType: 'application/merge-patch+json' },
    );
    expect(await post('sign-revocation-list', { crl_number: 1 })).toContain('crl-signing');
  });
});

describe('searching certificates', () => {
  test('finds them by expiry, page by page', async () => {
    const serials = [
      await issue({ ttl: '3h' }),
      await issue({ ttl: '1h' }),
      await issue({ ttl: '2h' }),
    ];
    const inOrder = [serials[1], serials[2], serials[0]];
    const list = async (query: string) =>
      (await pki.call('LIST', `certs/detailed?${query}`)).data?.keys;
    expect((await list('')).slice(0, 3)).toEqual(inOrder);
    expect(await list('limit=2')).toEqual(inOrder.slice(0, 2));
    expect((await list(`limit=1&after=${serials[1]}`))[0]).toBe(serials[2]);
    const until = new Date(pki.clock.nowMs() + 7_200_000).toISOString();
    expect(await list(`expires_before=${until}`)).toEqual(inOrder.slice(0, 2));
    const { key_info: info } = (await pki.call('LIST', 'certs/detailed')).data;
    expect(info[serials[0] ?? '']).toMatchObject({
      common_name: 'a.example',
      issuer: 'Keelson Root',
      key_type: 'ec',
      key_bits: 256,
      dns_names: ['a.example'],
    });
    const page = (await pki.call('LIST', 'certs?limit=2')).data.keys;
    const rest = (await pki.call('LIST', `certs?after=${page[1]}`)).data.keys;
    expect([...page, ...rest]).toEqual((await pki.call('LIST', 'certs')).data.keys);
  });
});
