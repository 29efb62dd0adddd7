import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type OpenPki, openPki } from '../../test/open-pki.ts';

let folder: TemporaryDirectory;
let pki: OpenPki;

const DAY_MS = 86_400_000;

beforeEach(async () => {
  folder = await temporaryDirectory();
  pki = await openPki(folder.path);
  await pki.call('POST', 'root/generate/internal', {
    common_name: 'Keelson Root',
    ttl: '87600h',
    key_type: 'ec',
  });
  await pki.call('POST', 'roles/web', { allow_any_name: true, key_type: 'ec', max_ttl: '720h' });
});
afterEach(async () => {
  await pki.close();
  await folder[Symbol.asyncDispose]();
});

const issue = async (body: Record<string, unknown> = {}): Promise<string> =>
  (await pki.call('POST', 'issue/web', { common_name: 'a.example', ttl: '1h', ...body })).data
    .serial_number;

const status = async () => (await pki.call('GET', 'tidy-status')).data;

const certificates = async (): Promise<readonly string[]> =>
  (await pki.call('LIST', 'certs')).data.keys;

/** Starts a run and waits for its end. */
const tidy = async (body: Record<string, unknown>) => {
  const started = await pki.call('POST', 'tidy', body);
  expect(started.status).toBe(202);
  await expect.poll(async () => (await status()).state).not.toBe('Running');
  return status();
};

describe('tidying', () => {
  test('deletes certificates that expired longer ago than the buffer', async () => {
    const [old, recent] = [await issue(), await issue({ ttl: '100h' })];
    pki.clock.advance(4 * DAY_MS);
    const done = await tidy({ tidy_cert_store: true, page_size: 5 });
    expect(done).toMatchObject({
      state: 'Finished',
      tidy_cert_store: true,
      safety_buffer: 259_200,
      cert_store_deleted_count: 1,
    });
    expect(await certificates()).not.toContain(old);
    expect(await certificates()).toContain(recent);
  });

  test('removes expired revocations from the CRL', async () => {
    const serial = await issue();
    await pki.call('POST', 'revoke', { serial_number: serial });
    pki.clock.advance(4 * DAY_MS);
    await tidy({ tidy_cert_store: true });
    expect((await pki.call('LIST', 'certs/revoked')).data.keys).toEqual([serial]);
    const before = (await pki.call('GET', 'crl')).bytes;
    const done = await tidy({ tidy_revocation_list: true });
    expect(done).toMatchObject({ tidy_revoked_certs: true, revoked_cert_deleted_count: 1 });
    expect((await pki.call('LIST', 'certs/revoked')).status).toBe(404);
    expect((await pki.call('GET', 'crl')).bytes.length).toBeLessThan(before.length);
  });

  test('deletes expired metadata and issuers, never the default issuer', async () => {
    const serial = await issue({ metadata: 'bm90ZQ==' });
    await pki.call('POST', 'root/generate/internal', { common_name: 'Short', ttl: '1h' });
    pki.clock.advance(400 * DAY_MS);
    await tidy({ tidy_cert_metadata: true, tidy_expired_issuers: true });
    expect((await pki.call('GET', `cert-metadata/${serial}`)).status).toBe(404);
    expect((await pki.call('LIST', 'issuers')).data.keys).toHaveLength(1);
  });

  test('keeps issuers and revocations for the buffers that are given for them', async () => {
    await pki.call('POST', 'root/generate/internal', { common_name: 'Short', ttl: '1h' });
    await pki.call('POST', 'revoke', { serial_number: await issue() });
    pki.clock.advance(4 * DAY_MS);
    const run = { tidy_expired_issuers: true, tidy_revoked_certs: true, safety_buffer: '1h' };
    await tidy({ ...run, issuer_safety_buffer: '120h', revoked_safety_buffer: '120h' });
    expect((await pki.call('LIST', 'issuers')).data.keys).toHaveLength(2);
    expect((await pki.call('LIST', 'certs/revoked')).data.keys).toHaveLength(1);
    await tidy({ ...run, issuer_safety_buffer: '72h', revoked_safety_buffer: '72h' });
    expect((await pki.call('LIST', 'issuers')).data.keys).toHaveLength(1);
    expect((await pki.call('LIST', 'certs/revoked')).status).toBe(404);
  });

  test('finds the issuer of revocations recorded under one that was deleted', async () => {
    const serial = await issue();
    await pki.call('POST', 'revoke', { serial_number: serial });
    const pem = (await pki.call('GET', 'ca/pem')).bytes.toString();
    await pki.call('DELETE', 'issuer/default');
    await pki.call('POST', 'issuers/import/cert', { pem_bundle: pem });
    const done = await tidy({ tidy_revoked_cert_issuer_associations: true });
    expect(done).toMatchObject({ state: 'Finished', missing_issuer_cert_count: 0 });
    const [issuer] = (await pki.call('LIST', 'issuers')).data.keys;
    expect((await pki.call('GET', `cert/${serial}`)).data.issuer_id).toBe(issuer);
  });

  test.for([
    ['tidy_move_legacy_ca_bundle', 'no version of this service stored such a bundle'],
    ['tidy_cmpv2_nonce_store', 'CMPv2 is not served'],
    ['tidy_invalid_certs', 'certificates that cannot be parsed are not stored'],
  ] as const)('%s is accepted with a warning that it does nothing', async ([operation, reason]) => {
    const warning = `${operation} has no effect: ${reason}`;
    const body = { tidy_cert_store: true, [operation]: true };
    const started = await pki.call('POST', 'tidy', body);
    expect(started.json.warnings).toEqual([expect.stringContaining('started'), warning]);
    const set = await pki.call('POST', 'config/auto-tidy', body);
    expect([set.data[operation], set.json.warnings]).toEqual([true, [warning]]);
    const off = await pki.call('POST', 'config/auto-tidy', { [operation]: false });
    expect(off.json.warnings).toBeNull();
  });

  test('reports what it cannot do', async () => {
    expect((await status()).state).toBe('Inactive');
    const nothing = await pki.call('POST', 'tidy', {});
    expect([nothing.status, nothing.json.warnings[0]]).toEqual([
      202,
      expect.stringContaining('no tidy operations were set'),
    ]);
    const refused = await pki.call('POST', 'tidy', { tidy_cert_store: true, safety_buffer: 0 });
    expect([refused.status, refused.json.errors]).toEqual([
      400,
      ['safety_buffer must be greater than zero'],
    ]);
    expect((await pki.call('POST', 'tidy-cancel')).json.warnings[0]).toContain('none is currently');
  });

  test('pauses after each record, runs once at a time, and ends when it is cancelled', async () => {
    for (let count = 0; count < 4; count++) await issue();
    pki.clock.advance(4 * DAY_MS);
    const body = { tidy_cert_store: true, page_size: 5, pause_duration: '10s' };
    expect((await pki.call('POST', 'tidy', body)).status).toBe(202);
    const second = await pki.call('POST', 'tidy', body);
    expect(second.json.warnings).toEqual(['Tidy operation already in progress.']);
    await expect.poll(async () => (await status()).cert_store_deleted_count).toBe(1);
    const cancelled = await pki.call('POST', 'tidy-cancel');
    expect(cancelled.data.state).toBe('Cancelling');
    await expect
      .poll(async () => {
        pki.clock.advance(10_000);
        return (await status()).state;
      })
      .toBe('Cancelled');
    expect((await status()).cert_store_deleted_count).toBe(2);
  });

  test('pauses for the requested milliseconds', async () => {
    for (let count = 0; count < 3; count++) await issue();
    pki.clock.advance(4 * DAY_MS);
    const body = { tidy_cert_store: true, pause_duration: '500ms' };
    expect((await pki.call('POST', 'tidy', body)).status).toBe(202);
    const deleted = async () => (await status()).cert_store_deleted_count;
    await expect.poll(deleted).toBe(1);
    pki.clock.advance(499);
    expect(await deleted()).toBe(1);
    pki.clock.advance(1);
    await expect.poll(deleted).toBe(2);
    expect((await status()).pause_duration).toBe('500ms');
  });

  test('that ended with its process is reported as such, and can start again', async () => {
    for (let count = 0; count < 2; count++) await issue();
    pki.clock.advance(4 * DAY_MS);
    const body = { tidy_cert_store: true, page_size: 5, pause_duration: '10s' };
    await pki.call('POST', 'tidy', body);
    await expect.poll(async () => (await status()).cert_store_deleted_count).toBe(1);
    await pki.close();
    pki = await openPki(folder.path);
    pki.clock.advance(4 * DAY_MS);
    expect(['Cancelled', 'Error']).toContain((await status()).state);
    expect(await tidy({ tidy_cert_store: true })).toMatchObject({ cert_store_deleted_count: 1 });
  });
});

describe('automatic tidying', () => {
  test('refuses invalid settings', async () => {
    const post = (body: unknown) => pki.call('POST', 'config/auto-tidy', body);
    expect((await post({ enabled: true })).json.errors[0]).toContain('no tidy operations');
    const counts = { publish_stored_certificate_count_metrics: true };
    expect((await post(counts)).json.errors[0]).toContain('maintain_stored_certificate_counts');
    const published = await post({ ...counts, maintain_stored_certificate_counts: true });
    expect([
      published.data.publish_stored_certificate_count_metrics,
      published.json.warnings,
    ]).toEqual([
      true,
      [
        'publish_stored_certificate_count_metrics has no effect: the counts are in tidy-status, not among the metrics',
      ],
    ]);
    const set = await post({ enabled: true, tidy_cert_store: true, interval_duration: '6h' });
    expect(set.data).toMatchObject({
      enabled: true,
      interval_duration: 21_600,
      tidy_cert_store: true,
      pause_duration: '0s',
    });
    expect((await post({ safety_buffer: '24h' })).data).toMatchObject({
      enabled: true,
      interval_duration: 21_600,
      safety_buffer: 86_400,
    });
  });

  test('runs by itself, and shows how much is stored', async () => {
    await issue();
    await pki.call('POST', 'config/auto-tidy', {
      enabled: true,
      tidy_cert_store: true,
      maintain_stored_certificate_counts: true,
      min_startup_backoff_duration: 0,
      max_startup_backoff_duration: 0,
    });
    expect((await status()).current_cert_store_count).toBe(2);
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
    pki.clock.advance(4 * DAY_MS);
    await expect
      .poll(async () => {
        pki.clock.advance(60_000);
        return (await status()).last_auto_tidy_finished;
      })
      .not.toBeNull();
    expect(await status()).toMatchObject({
      cert_store_deleted_count: 1,
      current_cert_store_count: 1,
      current_revoked_cert_count: 0,
    });
  });
});
