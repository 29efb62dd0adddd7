/** Operating a DR secondary: its operation token in all its forms, and looking after its trees. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import {
  type NatsServer,
  startNats,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateOperationToken,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import * as openpgp from 'openpgp';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;
const SECONDARY = 'sys/replication/dr/secondary';
const ATTEMPT = `${SECONDARY}/generate-operation-token/attempt`;
const UPDATE = `${SECONDARY}/generate-operation-token/update`;

let nats: NatsServer;
let backups: TemporaryDirectory;
let primary: Cluster;
let secondary: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  backups = await temporaryDirectory();
  [primary, secondary] = await Promise.all([
    startCluster(nats.url, {
      KEELSON_BACKUP_EVERY_SECONDS: '3600',
      KEELSON_BACKUP_FOLDER: join(backups.path, 'backups'),
    }),
    startCluster(nats.url),
  ]);
  await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
  await primary.v1('POST', 'pki/roles/web', { allow_any_name: true, key_type: 'ec' });
  await primary.v1('POST', 'sys/replication/dr/primary/enable');
  await attach('dr', primary, secondary, 'dr');
}, WITHIN_MS);
afterAll(async () => {
  await primary.stop();
  await secondary.stop();
  await nats[Symbol.asyncDispose]();
  await backups[Symbol.asyncDispose]();
}, WITHIN_MS);

describe('the ceremony of the operation token', { timeout: WITHIN_MS }, () => {
  let nonce = '';

  test('shows its progress, one attempt at a time', async () => {
    expect(await secondary.v1('GET', ATTEMPT, undefined, '')).toMatchObject({
      status: 200,
      body: {
        started: false,
        nonce: '',
        progress: 0,
        required: 3,
        complete: false,
        encoded_token: '',
        pgp_fingerprint: '',
        otp: '',
      },
    });
    const started = await secondary.v1('POST', ATTEMPT, {}, '');
    expect(started.body).toMatchObject({ started: true, otp_length: started.body.otp.length });
    ({ nonce } = started.body);
    // Whoever did not start the attempt sees its nonce, but not the password of the token.
    expect((await secondary.v1('GET', ATTEMPT, undefined, '')).body).toMatchObject({
      nonce,
      otp: '',
    });
    expect((await secondary.v1('POST', ATTEMPT, {}, '')).status).toBe(400);
  });

  test('counts shares, and refuses wrong ones', async () => {
    const give = (key: string, of = nonce) => secondary.v1('POST', UPDATE, { key, nonce: of }, '');
    expect((await give(primary.shares[0] ?? '', 'another')).status).toBe(400);
    expect((await give(primary.shares[0] ?? '')).body).toMatchObject({
      progress: 1,
      complete: false,
    });
    expect((await give(primary.shares[0] ?? '')).status).toBe(400);
    // The secondary's own shares are no longer valid.
    expect((await give(secondary.shares[0] ?? '')).status).toBe(400);
    expect((await secondary.v1('GET', ATTEMPT, undefined, '')).body).toMatchObject({ progress: 1 });
  });

  test('outlives a restart, and is cancelled only with its nonce and a share', async () => {
    await secondary.restart('SIGKILL');
    expect((await secondary.v1('GET', ATTEMPT, undefined, '')).body).toMatchObject({
      progress: 1,
      nonce,
    });
    const [key, own] = [primary.shares[4], secondary.shares[0]];
    for (const body of [undefined, { nonce }, { nonce: 'other', key }, { nonce, key: own }])
      expect((await secondary.v1('DELETE', ATTEMPT, body, '')).status).toBe(400);
    expect((await secondary.v1('DELETE', ATTEMPT, { nonce, key }, '')).status).toBe(204);
    expect((await secondary.v1('GET', ATTEMPT, undefined, '')).body.started).toBe(false);
  });

  test('gives the token only to the holder of a PGP key', async () => {
    const { publicKey, privateKey } = await openpgp.generateKey({
      userIDs: [{ name: 'operator' }],
      format: 'object',
    });
    const started = await secondary.v1(
      'POST',
      ATTEMPT,
      { pgp_key: Buffer.from(publicKey.write()).toString('base64') },
      '',
    );
    expect(started.body).toMatchObject({ otp: '', pgp_fingerprint: publicKey.getFingerprint() });
    let encoded = '';
    for (const key of primary.shares.slice(0, 3))
      encoded = (await secondary.v1('POST', UPDATE, { key, nonce: started.body.nonce }, '')).body
        .encoded_token;
    const { data: token } = await openpgp.decrypt({
      message: await openpgp.readMessage({ binaryMessage: Buffer.from(encoded, 'base64') }),
      decryptionKeys: privateKey,
    });
    const body = { dr_operation_token: token };
    expect((await secondary.v1('POST', `${SECONDARY}/merkle-check`, body, '')).status).toBe(200);
    expect(
      (await secondary.v1('POST', `${SECONDARY}/operation-token/delete`, body, '')).status,
    ).toBe(204);
    expect((await secondary.v1('POST', `${SECONDARY}/merkle-check`, body, '')).status).toBe(403);
  });

  test('is not needed with a batch token that the primary made for it', async () => {
    await primary.v1('POST', 'sys/policies/acl/dr-operator', {
      policy: `path "${SECONDARY}/merkle-check" { capabilities = ["update"] }`,
    });
    const made = await primary.v1('POST', 'auth/token/create-orphan', {
      type: 'batch',
      policies: ['dr-operator'],
      ttl: '8h',
      renewable: false,
    });
    await untilEqual('dr', primary, secondary);
    const body = { dr_operation_token: made.body.auth.client_token };
    expect((await secondary.v1('POST', `${SECONDARY}/merkle-check`, body, '')).status).toBe(200);
    expect((await secondary.v1('POST', `${SECONDARY}/reindex`, body, '')).status).toBe(403);
  });

  test('opens no route of the workspace API, on either side', async () => {
    const token = await generateOperationToken(secondary, primary.shares);
    const described = await fetch(`${primary.process().http}/api/v2/openapi/stable.json`);
    const { paths } = (await described.json()) as { paths: Record<string, object> };
    const routes = Object.entries(paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method): [string, string] => [method.toUpperCase(), path]),
    );
    const statusesOf = async ({ process }: Cluster): Promise<readonly number[]> => {
      const seen = new Set<number>();
      for (const [method, path] of routes) {
        if (path.startsWith('/openapi/') || WITHOUT_TOKEN.has(path)) continue;
        const url = `${process().http}/api/v2${path.replaceAll(/\{\w+\}/g, 'x')}`;
        const answer = await fetch(url, {
          method,
          headers: {
            authorization: `Bearer ${token}`,
            'content-type': 'application/vnd.api+json',
          },
        });
        await answer.arrayBuffer();
        seen.add(answer.status);
      }
      return [...seen].toSorted((a, b) => a - b);
    };
    // 403: a signed URL without its signature. 404: an unknown webhook of a repository.
    expect(await statusesOf(primary)).toEqual([401, 403, 404]);
    expect(await statusesOf(secondary)).toEqual([400]);
    const remove = `${SECONDARY}/operation-token/delete`;
    await secondary.v1('POST', remove, { dr_operation_token: token }, '');
  });
});

/** For which no token is asked: the code of a login of a command is its credential, and people sign in. */
const WITHOUT_TOKEN: ReadonlySet<string> = new Set([
  '/command-logins/token',
  '/passkey-challenges',
  '/passkey-challenges/actions/sign-in',
  '/password-resets',
  '/sessions',
  '/sign-in-methods',
  '/sso-logins',
  '/sso-logins/actions/finish',
]);

/** Simulates a disk that corrupts data, by editing the stopped cluster's database. */
const damage = async (cluster: Cluster, sql: string): Promise<void> => {
  const file = join(cluster.process().dataFolder, 'pki.sqlite');
  await cluster.process().stop();
  const database = new DatabaseSync(file);
  const { changes } = database.prepare(sql).run();
  database.close();
  expect(changes).toBe(1);
  await cluster.restart();
};

/** Overwrites the row of the role. */
const damageRole = (cluster: Cluster): Promise<void> =>
  damage(cluster, "UPDATE record SET stored = x'00' WHERE path LIKE 'shared/%/roles/web'");

/** Adds a row next to the role that cannot be decrypted. */
const addRow = (cluster: Cluster): Promise<void> =>
  damage(
    cluster,
    `INSERT INTO record (path, version, stored)
       SELECT path || '-more', version, x'00' FROM record WHERE path LIKE 'shared/%/roles/web'`,
  );

describe('a damaged primary', { timeout: WITHIN_MS }, () => {
  const isCorrupted = async (): Promise<boolean> =>
    (await primary.v1('POST', 'sys/replication/merkle-check')).body.data.merkle_corruption_report
      .corrupted_root;

  test('restores its record from its log, and its secondary never sees the damage', async () => {
    await untilEqual('dr', primary, secondary);
    await damageRole(primary);
    expect(await isCorrupted()).toBe(true);
    expect((await primary.v1('GET', 'pki/roles/web')).status).toBe(500);
    await primary.v1('POST', 'sys/replication/reindex', { diff: true });
    const after = await until(
      () => primary.status('dr'),
      ({ last_reindex_epoch: epoch, reindex_in_progress: isRunning }) =>
        epoch !== '0' && isRunning === undefined,
    );
    expect(after.corrupted_merkle_tree).toBe(false);
    expect((await primary.v1('GET', 'pki/roles/web')).status).toBe(200);
    expect(await isCorrupted()).toBe(false);
    await untilStreaming('dr', secondary);
    await untilEqual('dr', primary, secondary);
  });
});

describe('a derived table that lost a row', { timeout: WITHIN_MS }, () => {
  test('is detected by the check, and rebuilt by a reindex', async () => {
    const root = { common_name: 'Root', key_type: 'ec' };
    await primary.v1('POST', 'pki/root/generate/internal', root);
    const issued = await primary.v1('POST', 'pki/issue/web', {
      common_name: 'row.example.com',
      ttl: '1h',
    });
    expect(issued.status).toBe(200);
    await damage(
      primary,
      'DELETE FROM pki_certificate WHERE rowid = (SELECT min(rowid) FROM pki_certificate)',
    );
    const report = async () =>
      (await primary.v1('POST', 'sys/replication/merkle-check')).body.data.merkle_corruption_report;
    expect(await report()).toMatchObject({
      corrupted_root: false,
      corrupted_tables: ['pki/pki_certificate'],
    });
    expect((await primary.status('dr')).corrupted_merkle_tree).toBe(true);
    await primary.v1('POST', 'sys/replication/reindex', { diff: true });
    await until(
      () => primary.status('dr'),
      ({ reindex_in_progress: isRunning }) => isRunning === undefined,
    );
    expect(await report()).toMatchObject({ corrupted_root: false, corrupted_tables: [] });
    expect((await primary.status('dr')).corrupted_merkle_tree).toBe(false);
  });
});

describe('a damaged secondary', { timeout: WITHIN_MS }, () => {
  test('is detected by the check, and repaired by a reindex', async () => {
    await untilEqual('dr', primary, secondary);
    await damageRole(secondary);
    await untilStreaming('dr', secondary);
    const body = { dr_operation_token: await generateOperationToken(secondary, primary.shares) };

    const check = await secondary.v1('POST', `${SECONDARY}/merkle-check`, body, '');
    const report = check.body.data.merkle_corruption_report;
    expect(report.corrupted_root).toBe(true);
    const damaged = Object.values<typeof report>(report.corrupted_tree_map).filter(
      (tree) => tree.corrupted_subtree_root,
    );
    expect(damaged).toEqual([
      {
        corrupted_index_tuples_map: expect.any(Object),
        corrupted_subtree_root: true,
        root_hash: expect.any(String),
        tree_type: 'replicated',
        service: 'pki',
      },
    ]);
    expect(report.last_corruption_check_epoch).toMatch(/^\d{4}-\d\d-\d\dT/);
    expect(await secondary.status('dr')).toMatchObject({
      corrupted_merkle_tree: true,
      last_corruption_check_epoch: expect.stringMatching(/^\d+$/),
    });

    const reindexed = await secondary.v1(
      'POST',
      `${SECONDARY}/reindex`,
      { ...body, diff: true },
      '',
    );
    expect(reindexed).toMatchObject({ status: 200, body: { warnings: [expect.any(String)] } });
    const after = await until(
      () => secondary.status('dr'),
      ({ last_reindex_epoch: epoch, reindex_in_progress: isRunning }) =>
        epoch !== '0' && isRunning === undefined,
    );
    expect(after.corrupted_merkle_tree).toBe(false);
    await untilEqual('dr', primary, secondary);
    const again = await secondary.v1('POST', `${SECONDARY}/merkle-check`, body, '');
    expect(again.body.data.merkle_corruption_report.corrupted_root).toBe(false);
  });

  test.for([{ diff: true }, { force: true }])(
    'loses a row that its primary does not have, by %j',
    async (how) => {
      await addRow(secondary);
      await untilStreaming('dr', secondary);
      const body = { dr_operation_token: await generateOperationToken(secondary, primary.shares) };
      const isCorrupted = async (): Promise<boolean> => {
        const check = await secondary.v1('POST', `${SECONDARY}/merkle-check`, body, '');
        return check.body.data.merkle_corruption_report.corrupted_root;
      };
      expect(await isCorrupted()).toBe(true);
      await secondary.v1('POST', `${SECONDARY}/reindex`, { ...body, ...how }, '');
      await until(
        () => secondary.status('dr'),
        ({ reindex_in_progress: isRunning }) => isRunning === undefined,
      );
      await untilEqual('dr', primary, secondary);
      expect(await isCorrupted()).toBe(false);
    },
  );

  /** Metrics of Redis and of object storage, which these clusters do not use. */
  const ONLY_WHERE_CONFIGURED = [
    'keelson_leases_reachable gauge',
    'keelson_object_storage_requests_total counter',
    'keelson_object_storage_up gauge',
    'keelson_objects_missing gauge',
  ];

  test('is measured by its primary, as heartbeats report and docs/metrics.md lists', async () => {
    const WANTED = [
      /^keelson_replication_lag_entries{kind="dr",secondary="dr"} \d+$/m,
      /^keelson_replication_lag_seconds{kind="dr",secondary="dr"} [\d.]+$/m,
      /^keelson_replication_connected{kind="dr",secondary="dr"} 1$/m,
      /^keelson_replication_corrupted_merkle_tree{kind="dr"} 0$/m,
      /^keelson_replication_shipped_bytes_total{kind="dr",secondary="dr"} [1-9]\d*$/m,
      /^keelson_replication_resync_bytes{kind="dr",secondary="dr"} [1-9]\d*$/m,
      /^keelson_replication_resync_records{kind="dr",secondary="dr"} \d+$/m,
      /^keelson_http_requests_total/m,
    ];
    const { body } = await until(
      () => primary.v1('GET', 'sys/metrics?format=prometheus'),
      (answer) => WANTED.every((one) => one.test(answer.body)),
    );
    const secondarys = await secondary.v1(
      'GET',
      'sys/metrics?format=prometheus',
      undefined,
      primary.token,
    );
    const typesIn = (text: string): readonly string[] =>
      [...text.matchAll(/^# TYPE (keelson_\w+) (\w+)$/gm)].map(
        ([, name, type]) => `${name} ${type}`,
      );
    const page = await readFile(join(import.meta.dirname, '../../../docs/metrics.md'), 'utf8');
    const listed = [...page.matchAll(/^\| `(keelson_\w+)` +\| (\w+) /gm)];
    const shown = [...typesIn(body), ...typesIn(secondarys.body), ...ONLY_WHERE_CONFIGURED];
    expect([...new Set(shown)].toSorted()).toEqual(
      listed.map(([, name, type]) => `${name} ${type}`).toSorted(),
    );
    const [seen] = (await primary.status('dr')).secondaries;
    expect(seen).toMatchObject({ bytes_shipped: expect.any(Number), lag_ms: expect.any(Number) });
  });

  test('recovers on demand, follows an address list, and forgets its primary', async () => {
    const body = { dr_operation_token: await generateOperationToken(secondary, primary.shares) };
    expect((await secondary.v1('POST', `${SECONDARY}/recover`, body, '')).status).toBe(200);
    const update = (more: object) =>
      secondary.v1('POST', `${SECONDARY}/update-primary`, { ...body, ...more }, '');
    expect((await update({})).status).toBe(400);
    expect((await update({ token: '', update_primary_addrs: nats.url })).status).toBe(400);
    expect((await update({ update_primary_addrs: [nats.url] })).status).toBe(200);
    await untilStreaming('dr', secondary);
    expect((await update({ token: '' })).status).toBe(200);
    expect(await secondary.status('dr')).toMatchObject({ mode: 'secondary', state: 'idle' });
    // The secondary cannot know what the primary has committed since.
    const promote = (more: object) =>
      secondary.v1('POST', `${SECONDARY}/promote`, { ...body, ...more }, '');
    expect((await promote({ dry_run: true })).body.data).toMatchObject({ safe: false });
    expect(await promote({})).toMatchObject({
      status: 400,
      body: { errors: [expect.stringContaining('was not heard of and has not stepped back')] },
    });
    expect((await update({ update_primary_addrs: [nats.url] })).status).toBe(400);
    expect((await secondary.v1('POST', `${SECONDARY}/disable`, body, '')).status).toBe(200);
    expect(await secondary.status('dr')).toEqual({ mode: 'disabled' });
    expect((await secondary.v1('GET', 'sys/mounts', undefined, primary.token)).status).toBe(200);
  });
});
