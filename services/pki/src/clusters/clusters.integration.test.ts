/**
 * Two clusters of one mount. What replication does between them is done here record by record: the
 * replicated scope of the primary goes to the secondary, the outbox of the secondary to the primary.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { generateKeyPairSync, type KeyPairKeyObjectResult } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ClusterState } from '@keelson/proto/sys/v1/cluster';
import { type TemporaryDirectory, temporaryDirectory } from '@keelson/testkit';
import { decodePem, encodePem, findReason, parseCrl, reasonName, toSerialHex } from '@keelson/x509';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { csrFor } from '../../test/acme-client.ts';
import { aMount, type OpenPki, openPki } from '../../test/open-pki.ts';

let folders: TemporaryDirectory[];
let primary: OpenPki;
let secondary: OpenPki;

const stateOf = (
  { mount }: OpenPki,
  clusterId: string,
  role: 'primary' | 'secondary',
): ClusterState => ({
  initialized: true,
  sealed: false,
  serviceKey: Buffer.alloc(32, 7),
  keyringTerm: 0,
  clusterId,
  clusterName: clusterId,
  mounts: [mount],
  unreadableMountUuids: [],
  formerServiceKeys: [],
  replicationRoles: [
    {
      kind: 'performance',
      role,
      clusterId: 'set',
      generation: role,
      link: undefined,
      activation: '',
      previousServiceKey: Buffer.alloc(0),
    },
  ],
});

/** Joins a cluster, with its workers running. */
const joinCluster = async (clusterId: string, role: 'primary' | 'secondary'): Promise<OpenPki> => {
  const folder = await temporaryDirectory();
  folders.push(folder);
  const pki = await openPki(folder.path);
  await pki.join(stateOf(pki, clusterId, role));
  return pki;
};

beforeEach(async () => {
  folders = [];
  primary = await joinCluster('amsterdam', 'primary');
  secondary = await joinCluster('berlin', 'secondary');
  await primary.call('POST', 'root/generate/internal', {
    common_name: 'Root',
    ttl: '87600h',
    key_type: 'ec',
  });
  await primary.call('POST', 'roles/web', { allow_any_name: true, key_type: 'ec' });
});
afterEach(async () => {
  await primary.close();
  await secondary.close();
  await Promise.all(folders.map((folder) => folder[Symbol.asyncDispose]()));
});

const SHARED = 'shared/';

/** Makes the replicated scope of the secondary that of the primary. */
const replicate = async (): Promise<void> => {
  const records = await primary.store.scan(SHARED);
  const paths = new Set(records.map(({ path }) => path));
  const old = await secondary.store.scan(SHARED);
  await secondary.store.transact((tx) => {
    for (const { path } of old) if (!paths.has(path)) tx.delete(path);
    for (const { path, value } of records) tx.write(path, value);
  });
};

/** Delivers the secondary's messages to the primary, which writes them, and replicates the records back. */
const forward = async (): Promise<void> => {
  const prefix = `local/outbox/${secondary.mount.uuid}/`;
  const records = await secondary.store.scan(prefix);
  await primary.store.transact((tx) => {
    for (const { path, value } of records) tx.write(SHARED + path.slice(prefix.length), value);
  });
  await secondary.store.transact((tx) => {
    for (const { path } of records) tx.delete(path);
  });
  await replicate();
};

const issue = async (pki: OpenPki) =>
  (await pki.call('POST', 'issue/web', { common_name: 'a.example', ttl: '1h' })).data;

const revoke = (pki: OpenPki, serial_number: string, reason?: string) =>
  pki.call('POST', 'revoke', { serial_number, reason });

/** Names of the reasons on a CRL, by serial number. */
const reasonsOn = async (pki: OpenPki, path: string): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(
    parseCrl((await pki.call('GET', path)).bytes).entries.map(
      ({ serialNumber, extensions = [] }) => [
        toSerialHex(serialNumber),
        reasonName(findReason(extensions)),
      ],
    ),
  );

const listed = async (pki: OpenPki, path: string): Promise<readonly string[]> =>
  parseCrl((await pki.call('GET', path)).bytes).entries.map(({ serialNumber }) =>
    toSerialHex(serialNumber),
  );

const inOrder = (serials: readonly string[]): readonly string[] =>
  serials.toSorted((one, other) => (one < other ? -1 : 1));

const unify = async (more: object = {}): Promise<void> => {
  const answer = await primary.call('POST', 'config/crl', { unified_crl: true, ...more });
  expect(answer.status).toBe(200);
  await replicate();
};

describe('a certificate revoked in one cluster', () => {
  test('is on the CRL of all clusters, and on the ordinary paths if so configured', async () => {
    await unify();
    const [mine, theirs] = [await issue(primary), await issue(secondary)];
    await revoke(primary, mine.serial_number);
    await revoke(secondary, theirs.serial_number);
    expect(await listed(secondary, 'crl')).toEqual([theirs.serial_number]);
    await forward();
    // The primary's worker finds the delivered records.
    primary.clock.advance(60_000);
    const all = inOrder([mine.serial_number, theirs.serial_number]);
    await expect
      .poll(async () => inOrder(await listed(primary, 'unified-crl')), { timeout: 60_000 })
      .toEqual(all);
    await replicate();
    for (const pki of [primary, secondary]) {
      expect((await pki.call('LIST', 'certs/unified-revoked')).data).toEqual({
        keys: all,
        key_info: {
          [mine.serial_number]: { revoking_clusters: ['amsterdam'] },
          [theirs.serial_number]: { revoking_clusters: ['berlin'] },
        },
      });
      expect(inOrder(await listed(pki, 'unified-crl'))).toEqual(all);
      expect(inOrder(await listed(pki, 'issuer/default/unified-crl/der'))).toEqual(all);
    }
    expect(await listed(primary, 'crl')).toEqual([mine.serial_number]);
    await unify({ unified_crl_on_existing_paths: true });
    for (const pki of [primary, secondary]) expect(inOrder(await listed(pki, 'crl'))).toEqual(all);
  });

  test('is refused by clients that check the CRL of all clusters', async () => {
    await unify();
    const { certificate, serial_number } = await issue(secondary);
    await revoke(secondary, serial_number);
    await forward();
    await primary.call('GET', 'crl/rotate');
    const folder = folders[0]?.path ?? '';
    const ca = (await primary.call('GET', 'ca/pem')).bytes.toString();
    const pem = (await primary.call('GET', 'unified-crl/pem')).bytes.toString();
    expect(decodePem(pem)).toHaveLength(1);
    const [trust, leaf, list, root] = [
      ['trust.pem', `${ca}\n${pem}\n`],
      ['leaf.pem', certificate],
      ['list.pem', `${pem}\n`],
      ['ca.pem', `${ca}\n`],
    ].map(([name = '', text = '']) => {
      writeFileSync(join(folder, name), text);
      return join(folder, name);
    });
    const verify = ['verify', '-crl_check', '-CAfile', trust ?? '', leaf ?? ''];
    expect(spawnSync('openssl', verify, { encoding: 'utf8' }).stderr).toContain(
      'certificate revoked',
    );
    const checked = ['--verify-crl', '--load-ca-certificate', root ?? '', '--infile', list ?? ''];
    expect(execFileSync('certtool', checked, { encoding: 'utf8' })).toContain('Verified');
  });

  test('is revoked in OCSP responses of the other, also after a response that it was not', async () => {
    await unify();
    const { certificate, serial_number } = await issue(secondary);
    const folder = folders[0]?.path ?? '';
    const at = (name: string) => join(folder, name);
    writeFileSync(at('ca.pem'), (await primary.call('GET', 'ca/pem')).bytes);
    writeFileSync(at('leaf.pem'), certificate);
    const named = ['-issuer', at('ca.pem'), '-cert', at('leaf.pem')];
    execFileSync('openssl', ['ocsp', ...named, '-no_nonce', '-reqout', at('request.der')]);
    const ask = async (path: string): Promise<string> => {
      const request = readFileSync(at('request.der'));
      const type = { contentType: 'application/ocsp-request' };
      writeFileSync(at('answer.der'), (await primary.call('POST', path, request, type)).bytes);
      const check = ['ocsp', '-respin', at('answer.der'), ...named, '-CAfile', at('ca.pem')];
      return (
        /leaf\.pem: (\w+)/.exec(execFileSync('openssl', check, { encoding: 'utf8' }))?.[1] ?? ''
      );
    };
    expect(await ask('unified-ocsp')).toBe('unknown');
    await revoke(secondary, serial_number);
    await forward();
    expect([await ask('unified-ocsp'), await ask('ocsp')]).toEqual(['revoked', 'revoked']);
  });

  test('authenticates no EST client in the other (docs/est.md)', async () => {
    await unify();
    await primary.call('POST', 'config/est', {
      enabled: true,
      default_mount: true,
      default_path_policy: 'role:web',
      authenticators: { cert: {} },
    });
    const { certificate, serial_number } = await issue(secondary);
    const folder = folders[0]?.path ?? '';
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'];
    const out = ['-keyout', join(folder, 'device.key'), '-subj', '/CN=a.example'];
    const request = execFileSync('openssl', ['req', '-new', ...key, ...out], { stdio: 'pipe' });
    const enroll = () =>
      primary.call(
        'POST',
        'est/by-certificate/simpleenroll',
        Buffer.from(request.toString().replaceAll(/-----.*-----\n/g, '')),
        {
          contentType: 'application/pkcs10',
          headers: { 'client-cert': `:${certificate.replaceAll(/-----.*-----|\s/g, '')}:` },
        },
      );
    expect((await enroll()).status).toBe(200);
    await revoke(secondary, serial_number);
    await forward();
    const refused = await enroll();
    expect([refused.status, refused.bytes.toString()]).toEqual([
      403,
      'the client certificate is not accepted: it is revoked\n',
    ]);
  });

  test('is announced to the others even if it was revoked before CRLs were unified', async () => {
    const before = (await issue(primary)).serial_number;
    await revoke(primary, before);
    expect((await primary.call('LIST', 'certs/unified-revoked')).status).toBe(404);
    await unify();
    await untilListed(primary, [before]);
    await unify({ unified_crl: false });
    expect((await primary.call('GET', 'unified-crl')).status).toBe(204);
    const between = (await issue(primary)).serial_number;
    await revoke(primary, between);
    await unify();
    await untilListed(primary, [before, between]);
    const page = await primary.call('LIST', 'certs/unified-revoked?limit=1');
    expect(page.data.keys).toHaveLength(1);
    const rest = await primary.call('LIST', `certs/unified-revoked?after=${page.data.keys[0]}`);
    expect([...page.data.keys, ...rest.data.keys]).toEqual(inOrder([before, between]));
  });

  test('in a secondary is announced as well, each time CRLs become unified there', async () => {
    await replicate();
    const revoked: string[] = [];
    for (const _ of ['first', 'again']) {
      const { serial_number } = await issue(secondary);
      await revoke(secondary, serial_number);
      revoked.push(serial_number);
      await unify();
      // Replication brings the change and nothing else; the worker of the secondary looks by the clock.
      const isAnnouncement = async () => {
        secondary.clock.advance(60_000);
        const prefix = `local/outbox/${secondary.mount.uuid}/`;
        return (await secondary.store.list(prefix)).length > 0;
      };
      await expect.poll(isAnnouncement, { timeout: 60_000 }).toBe(true);
      await forward();
      await untilListed(primary, revoked);
      await unify({ unified_crl: false });
    }
  });

  test('is in delta CRLs of all clusters, whose numbers increase together with complete ones', async () => {
    await unify({ auto_rebuild: true, enable_delta: true, delta_rebuild_interval: '10m' });
    const { serial_number } = await issue(secondary);
    await revoke(secondary, serial_number);
    await forward();
    await primary.call('GET', 'crl/rotate-delta');
    expect(await listed(primary, 'unified-crl/delta')).toEqual([serial_number]);
    expect(await listed(primary, 'crl/delta')).toEqual([]);
    const numbers = await Promise.all(
      ['crl', 'unified-crl', 'crl/delta', 'unified-crl/delta'].map(async (path) => {
        const der = join(folders[0]?.path ?? '', 'list.der');
        writeFileSync(der, (await primary.call('GET', path)).bytes);
        const args = ['crl', '-inform', 'DER', '-in', der, '-noout', '-crlnumber'];
        return execFileSync('openssl', args, { encoding: 'utf8' }).trim();
      }),
    );
    expect(new Set(numbers).size).toBe(4);
  });
});

describe('a certificate that another cluster issued', () => {
  test('is revoked by its issuing cluster, which confirms it', async () => {
    await unify({ cross_cluster_revocation: true });
    const { serial_number } = await issue(primary);
    const asked = await revoke(secondary, serial_number, 'superseded');
    expect([asked.status, asked.data]).toEqual([200, { state: 'pending' }]);
    expect(asked.json.warnings[0]).toContain('was not issued by this cluster');
    await forward();
    const queue = async (pki: OpenPki) => (await pki.call('LIST', 'certs/revocation-queue')).data;
    expect(await queue(primary)).toEqual({
      keys: [serial_number],
      key_info: { [serial_number]: { requesting_cluster: 'berlin', confirmed: false } },
    });
    primary.clock.advance(60_000);
    await expect
      .poll(async () => (await queue(primary)).key_info[serial_number], { timeout: 60_000 })
      .toEqual({
        requesting_cluster: 'berlin',
        confirmed: true,
        confirmation_cluster: 'amsterdam',
      });
    expect(await listed(primary, 'crl')).toEqual([serial_number]);
    await replicate();
    expect((await queue(secondary)).key_info[serial_number].confirmed).toBe(true);
    const again = await revoke(secondary, serial_number);
    expect(again.data).toMatchObject({ state: 'revoked' });
    expect(again.json.warnings).toEqual(['the certificate was revoked in cluster amsterdam']);
    expect(await reasonsOn(primary, 'crl')).toEqual({ [serial_number]: 'superseded' });
    for (const pki of [primary, secondary])
      expect((await pki.call('GET', `certs/revoked/${serial_number}`)).data).toMatchObject({
        revocation_reason: 'superseded',
        revoked_by: { type: 'token', display_name: 'token', cluster_id: 'berlin' },
      });
    const kept = await revoke(secondary, serial_number, 'cessationOfOperation');
    expect(kept.json.warnings[1]).toContain('its reason stays superseded');

    const found = await revoke(secondary, serial_number, 'keyCompromise');
    expect(found.data).toEqual({ state: 'pending' });
    await forward();
    primary.clock.advance(60_000);
    await expect
      .poll(() => reasonsOn(primary, 'crl'), { timeout: 60_000 })
      .toEqual({ [serial_number]: 'keyCompromise' });
  });

  test('has the compromise that any cluster found as its reason', async () => {
    await unify();
    const { serial_number, certificate } = await issue(primary);
    await revoke(primary, serial_number, 'superseded');
    const body = { certificate, reason: 'keyCompromise' };
    expect((await secondary.call('POST', 'revoke', body)).data.state).toBe('revoked');
    await forward();
    await primary.call('GET', 'crl/rotate');
    expect(await reasonsOn(primary, 'unified-crl')).toEqual({ [serial_number]: 'keyCompromise' });
    expect(await reasonsOn(primary, 'crl')).toEqual({ [serial_number]: 'superseded' });
  });

  test('is requested only where that is enabled, and never by proof of possession', async () => {
    const { serial_number, private_key } = await issue(primary);
    await replicate();
    const unknown = await revoke(secondary, serial_number);
    expect(unknown.json.errors).toEqual([`certificate with serial ${serial_number} not found.`]);
    await unify({ cross_cluster_revocation: true });
    const proof = await secondary.call('POST', 'revoke-with-key', { serial_number, private_key });
    expect([proof.status, proof.json.errors[0]]).toEqual([
      400,
      expect.stringContaining('proof of possession is not forwarded'),
    ]);
    expect((await secondary.call('LIST', 'certs/revocation-queue')).status).toBe(404);
  });
});

describe('a key that one cluster bans', () => {
  let key: KeyPairKeyObjectResult;
  let csr: string;
  beforeEach(async () => {
    key = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const der = Buffer.from(
      await csrFor(['a.example'], { key, commonName: 'a.example' }),
      'base64url',
    );
    csr = encodePem('CERTIFICATE REQUEST', der);
    await replicate();
  });

  const sign = (pki: OpenPki) => pki.call('POST', 'sign-verbatim', { csr, ttl: '1h' });
  const ban = async (pki: OpenPki): Promise<void> => {
    const { data } = await sign(pki);
    expect((await revoke(pki, data.serial_number, 'keyCompromise')).status).toBe(200);
  };
  const banned = async (pki: OpenPki): Promise<readonly string[]> =>
    (await pki.call('LIST', 'keys/compromised')).data?.keys ?? [];
  const REFUSED = { status: 400, json: { errors: [expect.stringContaining('compromised')] } };

  test.for(['primary', 'secondary'] as const)(
    'is refused in all, also if the %s bans it without unified lists',
    async (where) => {
      await ban(where === 'primary' ? primary : secondary);
      await forward();
      for (const pki of [primary, secondary]) {
        expect(await sign(pki)).toMatchObject(REFUSED);
        const pem_bundle = key.privateKey.export({ type: 'pkcs8', format: 'pem' });
        expect(await pki.call('POST', 'keys/import', { pem_bundle })).toMatchObject(REFUSED);
        expect(await banned(pki)).toHaveLength(1);
      }
    },
  );

  test('is refused at once where it was banned, although the primary cannot be reached', async () => {
    await ban(secondary);
    expect(await sign(secondary)).toMatchObject(REFUSED);
    expect((await sign(primary)).status).toBe(200);
  });

  test('is accepted again after any cluster has lifted the ban, until the next one', async () => {
    await ban(primary);
    await replicate();
    const [fingerprint] = await banned(secondary);
    const lifted = await secondary.call('DELETE', `keys/compromised/${fingerprint}`);
    expect([lifted.status, lifted.json?.warnings]).toEqual([
      200,
      [expect.stringContaining('as soon as the primary cluster can be reached')],
    ]);
    expect(await sign(secondary)).toMatchObject(REFUSED);
    await forward();
    for (const pki of [primary, secondary]) {
      expect((await sign(pki)).status).toBe(200);
      expect(await banned(pki)).toEqual([]);
    }
    // By the clock of the cluster that bans it next, the lifting is still to come.
    const lifts = `shared/mounts/${primary.mount.uuid}/lifted-bans/${fingerprint}`;
    const liftedAtMs = primary.clock.nowMs() + 3_600_000;
    await primary.store.transact((tx) =>
      tx.write(lifts, Buffer.from(JSON.stringify({ liftedAtMs }))),
    );
    await ban(primary);
    await replicate();
    for (const pki of [primary, secondary]) expect(await sign(pki)).toMatchObject(REFUSED);
  });
});

test('expired announcements between clusters are tidied by the primary', async () => {
  await unify({ cross_cluster_revocation: true });
  const { serial_number } = await issue(secondary);
  await revoke(secondary, serial_number);
  await revoke(primary, '0a:0b');
  await forward();
  primary.clock.advance(6 * 86_400_000);
  const status = async () => (await primary.call('GET', 'tidy-status')).data;
  const run = async (body: object): Promise<void> => {
    expect((await primary.call('POST', 'tidy', body)).status).toBe(202);
    await expect.poll(async () => (await status()).state, { timeout: 60_000 }).toBe('Finished');
  };
  await run({ tidy_revocation_queue: true, revocation_queue_safety_buffer: '168h' });
  expect((await status()).revocation_queue_deleted_count).toBe(0);
  await run({ tidy_revocation_queue: true, tidy_cross_cluster_revoked_certs: true });
  expect(await status()).toMatchObject({
    revocation_queue_deleted_count: 1,
    cross_revoked_cert_deleted_count: 1,
  });
  expect(await listed(primary, 'unified-crl')).toEqual([]);
  for (const path of ['certs/unified-revoked', 'certs/revocation-queue'])
    expect((await primary.call('LIST', path)).status).toBe(404);
});

test('a local mount announces nothing', async () => {
  const mount = aMount({ uuid: '8f0b1c1e-0000-4000-8000-000000000009', local: true });
  for (const setting of ['unified_crl', 'cross_cluster_revocation']) {
    const answer = await primary.call('POST', 'config/crl', { [setting]: true }, { mount });
    expect([answer.status, answer.json.errors[0]]).toEqual([
      400,
      expect.stringContaining('local mount'),
    ]);
  }
});

/**
 * Until the list of all clusters holds these and no others: whoever was quicker, a request or the upkeep,
 * makes it.
 */
const untilListed = async (pki: OpenPki, serials: readonly string[]): Promise<void> => {
  const position = await pki.store.wal.headSequence();
  const isListed = async () =>
    (await pki.call('GET', 'unified-crl')).status === 200 &&
    inOrder(await listed(pki, 'unified-crl')).join() === inOrder(serials).join();
  if (await isListed()) return;
  for await (const _ of pki.store.wal.follow(position, new AbortController().signal))
    if (await isListed()) return;
};

/** Waits until its outbox is empty. */
const untilCarried = async ({ store, mount }: OpenPki): Promise<void> => {
  const ending = new AbortController();
  const position = await store.wal.headSequence();
  const isEmpty = async () => (await store.list(`local/outbox/${mount.uuid}/`)).length === 0;
  if (await isEmpty()) return;
  for await (const _ of store.wal.follow(position, ending.signal)) if (await isEmpty()) return;
};

test('pending announcements are sent as soon as the cluster can, whatever the clock shows', async () => {
  const place = `cluster-revocations/${secondary.mount.uuid}/01/berlin`;
  const revocation = { revokedAtMs: 1, issuerId: '', notAfterMs: 1, revokedBy: { kind: 'lease' } };
  await secondary.store.transact((tx) =>
    tx.write(
      `local/outbox/${secondary.mount.uuid}/${place}`,
      Buffer.from(JSON.stringify(revocation)),
    ),
  );
  const sealed = { ...stateOf(secondary, 'berlin', 'primary'), sealed: true, mounts: [] };
  secondary.announce(sealed);
  secondary.announce(stateOf(secondary, 'berlin', 'primary'));
  await untilCarried(secondary);
  expect(await secondary.store.read(`shared/${place}`)).toBeDefined();
});
