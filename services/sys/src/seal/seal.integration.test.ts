import { mkdtemp, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '@keelson/logging';
import { Dialect } from '@keelson/proto/edge/v1/edge';
import { VERSION } from '@keelson/runtime';
import { createBarrier, openSqliteStore } from '@keelson/storage';
import { temporaryDirectory } from '@keelson/testkit';
import { afterEach, describe, expect, test } from 'vitest';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';
import { rootKeyUse } from '../replication/replication-records.ts';
import { initializeCluster } from './initialization-operations.ts';
import { Seal } from './seal.ts';

let harness: SysHarness;
const open = async (options = {}): Promise<SysHarness> => (harness = await openSysHarness(options));
afterEach(() => harness.close());

describe('the seal', () => {
  test('health, seal-status and init distinguish all states', async () => {
    const { call } = await open();
    expect((await call('GET', 'sys/health')).status).toBe(501);
    expect((await call('GET', 'sys/init')).body).toEqual({ initialized: false });
    const made = await call('POST', 'sys/init', {
      body: { secret_shares: 3, secret_threshold: 2 },
    });
    expect(made.status).toBe(200);
    expect(made.body.keys).toHaveLength(3);
    expect(made.body.keys[0]).toMatch(/^[0-9a-f]{66}$/);
    expect(made.body.root_token).toMatch(/^hvs\.\w{24}$/);
    const token = made.body.root_token;
    expect((await call('POST', 'sys/init', { body: {} })).status).toBe(400);
    expect((await call('GET', 'sys/health')).status).toBe(200);
    expect((await call('PUT', 'sys/seal', { token })).status).toBe(204);
    expect((await call('GET', 'sys/health')).status).toBe(503);
    expect((await call('GET', 'sys/health', { query: 'sealedcode=299' })).status).toBe(299);
    const refused = await call('GET', 'auth/token/lookup-self', { token });
    expect([refused.status, refused.body]).toEqual([503, { errors: ['Keelson is sealed'] }]);

    const [first, second] = made.body.keys as string[];
    const one = await call('PUT', 'sys/unseal', { body: { key: first } });
    expect(one.body).toMatchObject({ sealed: true, progress: 1, t: 2, n: 3, type: 'shamir' });
    expect((await call('PUT', 'sys/unseal', { body: { reset: true } })).body.progress).toBe(0);
    await call('PUT', 'sys/unseal', { body: { key: first } });
    const opened = await call('PUT', 'sys/unseal', { body: { key: made.body.keys_base64[1] } });
    expect(opened.body).toMatchObject({ sealed: false, cluster_name: 'test' });
    expect(second).toBeDefined();
    expect((await call('GET', 'auth/token/lookup-self', { token })).status).toBe(200);
  });

  test('the version is that of Keelson, and a compatible one for clients of the vendor', async () => {
    const { call, asRoot, initialize } = await open({
      config: { compatibleVersion: '1.19.3+ent' },
    });
    await initialize();
    const shown = async (dialect: Dialect) => [
      (await call('GET', 'sys/health', { dialect })).body.version,
      (await call('GET', 'sys/seal-status', { dialect })).body.version,
      (await call('PUT', 'sys/unseal', { dialect, body: { reset: true } })).body.version,
      (await asRoot('GET', 'sys/ha-status', { dialect })).body.data.nodes[0].version,
    ];
    expect(await shown(Dialect.SPECIFICATION)).toEqual(Array(4).fill(VERSION));
    expect(await shown(Dialect.VENDOR)).toEqual(Array(4).fill('1.19.3+ent'));
  });

  test('wrong and malformed shares are refused and forgotten', async () => {
    const { call, initialize } = await open();
    const early = await call('PUT', 'sys/unseal', { body: { key: 'ab' } });
    expect([early.status, early.body.errors]).toEqual([400, ['server is not yet initialized']]);
    const { rootToken: token, key } = await initialize();
    const open200 = await call('PUT', 'sys/unseal', { body: { key } });
    expect([open200.status, open200.body.sealed]).toEqual([200, false]);
    await call('PUT', 'sys/seal', { token });
    const refusal = async (body: object): Promise<string> =>
      (await call('PUT', 'sys/unseal', { body })).body.errors[0];
    expect(await refusal({})).toBe(
      "'key' must be specified in request body as JSON, or 'reset' set to true",
    );
    expect(await refusal({ key: '?' })).toBe("'key' must be a valid hex or base64 string");
    expect(await refusal({ key: '00'.repeat(32) })).toMatch(/^Unseal failed, invalid key/);
    expect((await call('PUT', 'sys/unseal', { body: { key } })).body.sealed).toBe(false);
  });

  test.for<[object, string]>([
    [{ secret_shares: 0, secret_threshold: 1 }, 'shares must be at least one'],
    [{ secret_shares: 1, secret_threshold: 0 }, 'threshold must be at least one'],
    [{ secret_shares: 2, secret_threshold: 3 }, 'threshold cannot be larger than shares'],
    [{ secret_shares: 256, secret_threshold: 3 }, 'shares must be less than 256'],
    [
      { secret_shares: 1, secret_threshold: 1, stored_shares: 2 },
      'stored_shares must be 0 or 1: the seal decides how its key is stored',
    ],
    [
      { secret_shares: 1, secret_threshold: 1, recovery_shares: 5, recovery_pgp_keys: ['AA=='] },
      'recovery_shares, recovery_pgp_keys cannot be used with a seal of type shamir: use the secret_ parameters',
    ],
  ])('initialization refuses %o', async ([body, text]) => {
    const { call } = await open();
    const answer = await call('POST', 'sys/init', { body });
    expect([answer.status, answer.body.errors]).toEqual([400, [text]]);
    expect((await call('GET', 'sys/init')).body.initialized).toBe(false);
  });

  test('initialization accepts parameters of the other seal without a value', async () => {
    const { call } = await open();
    const body = {
      secret_shares: 1,
      secret_threshold: 1,
      stored_shares: 1,
      recovery_shares: 0,
      recovery_threshold: 0,
      recovery_pgp_keys: null,
    };
    expect((await call('POST', 'sys/init', { body })).status).toBe(200);
  });

  test('initialization refuses PGP keys of unseal shares for a static seal', async () => {
    await using folder = await temporaryDirectory();
    const { call } = await open({ config: { unsealKeyFile: join(folder.path, 'unseal.key') } });
    const body = { recovery_shares: 1, recovery_threshold: 1, pgp_keys: ['AA=='] };
    const answer = await call('POST', 'sys/init', { body });
    expect([answer.status, answer.body.errors]).toEqual([
      400,
      ['pgp_keys cannot be used with a seal of type static: use recovery_pgp_keys'],
    ]);
  });

  test('initialization is refused once the cluster exists, whatever it requests', async () => {
    const { call } = await open();
    const body = { secret_shares: 1, secret_threshold: 1 };
    expect((await call('POST', 'sys/init', { body })).status).toBe(200);
    for (const next of [body, {}, { secret_shares: 0 }]) {
      const answer = await call('POST', 'sys/init', { body: next });
      expect([answer.status, answer.body.errors]).toEqual([
        400,
        ['Keelson is already initialized'],
      ]);
    }
  });

  test('one of several simultaneous first starts creates the cluster', async () => {
    const { call } = await open();
    const body = { secret_shares: 1, secret_threshold: 1 };
    const both = await Promise.all([1, 2, 3].map(() => call('POST', 'sys/init', { body })));
    const made = both.filter(({ status }) => status === 200);
    expect(made).toHaveLength(1);
    const token = made[0]?.body.root_token;
    expect((await call('GET', 'auth/token/lookup-self', { token })).status).toBe(200);
  });

  test('invalid overrides of health codes are refused', async () => {
    const { call } = await open();
    for (const query of ['activecode=x', 'sealedcode=9', 'standbyok=maybe']) {
      expect((await call('GET', 'sys/health', { query })).status).toBe(400);
    }
    expect((await call('HEAD', 'sys/health')).status).toBe(501);
  });

  test('a static seal that an operator closed is opened only by its recovery shares', async () => {
    await using folder = await temporaryDirectory();
    const { sys, call } = await open({
      config: { unsealKeyFile: join(folder.path, 'unseal.key') },
    });
    await sys.start();
    const { rootToken: token, keys } = await sys.seal.initialize({ shares: 3, threshold: 2 });
    const give = (key: string) => call('PUT', 'sys/unseal', { body: { key } });
    expect((await give('junk')).body.sealed).toBe(false);
    await call('PUT', 'sys/seal', { token });

    for (const key of ['junk', '!', '']) expect((await give(key)).status).toBe(400);
    const migrating = await call('PUT', 'sys/unseal', { body: { key: keys[0], migrate: true } });
    expect([migrating.status, migrating.body.errors]).toEqual([
      400,
      ['migrate is not supported: a seal keeps its type'],
    ]);
    const foreign = [`${'00'.repeat(32)}07`, `${'11'.repeat(32)}08`];
    const answers = [];
    for (const key of foreign) answers.push(await give(key));
    expect(answers.map(({ status }) => status)).toEqual([400, 400]);
    expect(answers[1]?.body.errors).toEqual(['recovery key verification failed']);
    expect((await call('GET', 'sys/seal-status')).body).toMatchObject({
      sealed: true,
      progress: 0,
    });

    const [first = '', second = ''] = keys;
    expect((await give(first)).body).toMatchObject({ sealed: true, progress: 1, t: 2, n: 3 });
    expect((await give(first)).body).toMatchObject({ sealed: true, progress: 1 });
    expect((await give(second)).body).toMatchObject({ sealed: false, progress: 0 });
    expect((await call('GET', 'auth/token/lookup-self', { token })).status).toBe(200);
  });

  test('seal operations on another replica do not unseal one that an operator sealed', async () => {
    const { folder, clock } = await open();
    const logger = createLogger({ name: 'test', level: 'silent' });
    const barrier = createBarrier({ clock });
    const store = await openSqliteStore({ file: join(folder, 'own.sqlite'), barrier, clock });
    const keyFile = join(folder, 'own.key');
    const seal = new Seal({ store, barrier, keyFile, rootKeyUse, logger });
    await initializeCluster(
      { seal, store, barrier, clock, clusterName: 'test' },
      { shares: 1, threshold: 1, pgpKeys: [], rootTokenPgpKey: '' },
    );
    await seal.seal();
    await seal.followKeys();
    expect(seal.isSealed).toBe(true);
    await store.close();
  });

  test('a key file unseals at each start; recovery shares authorize operations', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'keelson-key-'));
    const unsealKeyFile = join(folder, 'unseal.key');
    const { sys, call } = await open({ config: { unsealKeyFile } });
    await sys.start();
    const made = await sys.seal.initialize({ shares: 1, threshold: 1 });
    expect((await stat(unsealKeyFile)).mode & 0o777).toBe(0o600);
    expect((await call('GET', 'sys/seal-status')).body).toMatchObject({
      type: 'static',
      recovery_seal: true,
    });
    await call('PUT', 'sys/seal', { token: made.rootToken });
    expect((await sys.seal.status()).sealed).toBe(true);
    await sys.start();
    expect((await sys.seal.status()).sealed).toBe(false);
    const { nonce } = (await call('PUT', 'sys/generate-root/attempt', { body: {} })).body;
    const done = await call('PUT', 'sys/generate-root/update', {
      body: { key: made.keys[0], nonce },
    });
    expect(done.body.complete).toBe(true);
    await call('PUT', 'sys/seal', { token: made.rootToken });
    await writeFile(unsealKeyFile, Buffer.alloc(32, 1).toString('base64'));
    await expect(sys.start()).rejects.toThrow('does not open this cluster');
    await rm(folder, { recursive: true });
    await expect(sys.start()).rejects.toThrow('the unseal key is missing');
  });
});
