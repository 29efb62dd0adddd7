/** The root key is replaced with what opens the seal; a copy of the records made before shows what that is for. */
import { copyFile, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode } from '@keelson/errors';
import type { ClusterState } from '@keelson/proto/sys/v1/cluster';
import { createBarrier, type Store } from '@keelson/storage';
import { openPostgresStore } from '@keelson/storage/postgres';
import {
  type PostgresServer,
  startPostgres,
  type TemporaryDirectory,
  temporaryDirectory,
} from '@keelson/testkit';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { inProcessTransport } from '../../test/in-process-transport.ts';
import { openSysHarness, type SysHarness } from '../../test/sys-harness.ts';
import { parseShare } from './domain/share-text.ts';
import { wrapRootKey } from './root-key-wrap.ts';
import { sealRecords } from './seal-records.ts';
import { unwrapForShares } from './share-wrap.ts';

const keyringOf = async (store: Store): Promise<Uint8Array> =>
  (await store.read('node/core/keyring'))?.value ?? new Uint8Array();

/** Whether the key with which the seal opens now also opens the keyring that is kept. */
const opens = (rootKey: Uint8Array | undefined, keyring: Uint8Array): boolean => {
  if (rootKey === undefined) return false;
  const barrier = createBarrier();
  try {
    barrier.unseal(rootKey, keyring);
    return true;
  } catch {
    return false;
  } finally {
    barrier.seal();
  }
};

/** The root key of the present records, by a share. */
const rootKeyByShare = async (store: Store, share: string): Promise<Uint8Array | undefined> => {
  const record = await sealRecords.find(store);
  return record && unwrapForShares(parseShare(share), record.wrappedForShares);
};

/** Waits for a state with another service key, joining again if the seal closes meanwhile, as services do. */
const untilKeyIsNot = async (harness: SysHarness, former: Uint8Array): Promise<ClusterState> => {
  const request = { service: 'pki', instanceId: 'one', version: '1', storeId: '', engines: [] };
  try {
    for await (const state of harness.sys.cluster.join(request))
      if (Buffer.compare(state.serviceKey, former) !== 0) return state;
  } catch (error) {
    if (hasCode(error, 'storage.sealed')) return untilKeyIsNot(harness, former);
    throw error;
  }
  throw new Error('the stream of states ended');
};

const rekey = async (harness: SysHarness, key: string): Promise<string> => {
  const init = { secret_shares: 1, secret_threshold: 1 };
  const { nonce } = (await harness.asRoot('PUT', 'sys/rekey/init', { body: init })).body;
  const done = await harness.asRoot('PUT', 'sys/rekey/update', { body: { key, nonce } });
  expect(done.body).toMatchObject({ complete: true });
  return done.body.keys[0];
};

test('a rekey of the shares that open the seal replaces the root key; services learn the former ones', async () => {
  const harness = await openSysHarness();
  const { key } = await harness.initialize();
  const former = await rootKeyByShare(harness.store, key);
  const { serviceKey } = await untilKeyIsNot(harness, new Uint8Array());
  expect(opens(former, await keyringOf(harness.store))).toBe(true);

  const second = await rekey(harness, key);
  const between = await untilKeyIsNot(harness, serviceKey);
  expect(between.formerServiceKeys).toEqual([serviceKey]);
  expect(opens(former, await keyringOf(harness.store))).toBe(false);
  expect(await rootKeyByShare(harness.store, key)).toBeUndefined();

  const third = await rekey(harness, second);
  const { formerServiceKeys } = await untilKeyIsNot(harness, between.serviceKey);
  expect(formerServiceKeys).toEqual([serviceKey, between.serviceKey]);
  expect(opens(await rootKeyByShare(harness.store, third), await keyringOf(harness.store))).toBe(
    true,
  );
  await harness.asRoot('PUT', 'sys/seal');
  await harness.sys.seal.unseal(third);
  expect((await harness.asRoot('GET', 'auth/token/lookup-self')).status).toBe(200);
  await harness.close();
});

test('the key of new shares that wait for verification is nowhere in the store', async () => {
  const harness = await openSysHarness();
  const { key: share } = await harness.initialize();
  const body = { secret_shares: 1, secret_threshold: 1, require_verification: true };
  const { nonce } = (await harness.asRoot('PUT', 'sys/rekey/init', { body })).body;
  const made = await harness.asRoot('PUT', 'sys/rekey/update', { body: { key: share, nonce } });
  const { keys_base64: keys, verification_nonce: again } = made.body;
  const records = await harness.store.scan('local/core/rekey/');
  const texts = records.map(({ value }) => Buffer.from(value).toString());
  expect(texts).toHaveLength(1);
  expect(texts.join()).not.toContain(keys[0]);
  const verified = await harness.asRoot('PUT', 'sys/rekey/verify', {
    body: { key: keys[0], nonce: again },
  });
  expect(verified.body).toMatchObject({ complete: true });
  await harness.close();
});

describe('two replicas on one database', () => {
  let postgres: PostgresServer;
  let folder: TemporaryDirectory;
  let replicas: readonly SysHarness[] = [];
  beforeAll(async () => {
    postgres = await startPostgres();
  });
  afterAll(() => postgres[Symbol.asyncDispose]());
  beforeEach(async () => {
    folder = await temporaryDirectory();
  });
  afterEach(async () => {
    for (const replica of replicas) await replica.close();
    await folder[Symbol.asyncDispose]();
  });

  const openReplicas = async (database: string, seal: 'shamir' | 'static') => {
    const connectionString = await postgres.createDatabase(database);
    const open = async (name: string): Promise<SysHarness> => {
      const unsealKeyFile = join(folder.path, name, 'unseal.key');
      await mkdir(join(folder.path, name));
      await writeFile(unsealKeyFile, Buffer.alloc(32, 1).toString('base64'), { mode: 0o600 });
      return openSysHarness({
        ...(seal === 'static' && { config: { unsealKeyFile } }),
        openStore: (barrier, _folder, clock) =>
          openPostgresStore({ connectionString, barrier, clock }),
      });
    };
    const [first, second] = [await open('first'), await open('second')];
    replicas = [first, second];
    const made = await first.initialize();
    if (seal === 'shamir') await second.sys.seal.unseal(made.key);
    for (const replica of replicas) await replica.sys.start();
    return { first, second, ...made };
  };

  test('both use the new root key at once, if each has the next key file', async () => {
    const { first, second, rootToken: token } = await openReplicas('static', 'static');
    const { serviceKey } = await untilKeyIsNot(second, new Uint8Array());
    await writeFile(
      join(folder.path, 'first/unseal.key.next'),
      Buffer.alloc(32, 2).toString('base64'),
    );
    await copyFile(
      join(folder.path, 'first/unseal.key.next'),
      join(folder.path, 'second/unseal.key.next'),
    );
    const followed = (async () => {
      let { sealed, serviceKey: present } = await untilKeyIsNot(second, serviceKey);
      // A replica may be sealed for the moment between two keys.
      while (sealed) ({ sealed, serviceKey: present } = await untilKeyIsNot(second, present));
      return present;
    })();
    expect((await first.call('POST', 'sys/rotate/unseal-key', { token })).status).toBe(204);
    const { serviceKey: newKey } = await untilKeyIsNot(first, serviceKey);
    expect(await followed).toEqual(newKey);
    for (const replica of replicas) {
      const policy = 'path "x" { capabilities = ["read"] }';
      const path = 'sys/policies/acl/p';
      expect((await replica.call('PUT', path, { token, body: { policy } })).status).toBe(204);
    }
    await second.call('PUT', 'sys/seal', { token });
    await second.sys.start();
    expect((await second.call('GET', 'sys/policies/acl/p', { token })).status).toBe(200);
  });

  test('a static seal that follows the other replica is never reported as sealed', async () => {
    const { first, second, rootToken: token } = await openReplicas('followed', 'static');
    const { serviceKey } = await untilKeyIsNot(second, new Uint8Array());
    for (const name of ['first', 'second'])
      await writeFile(
        join(folder.path, name, 'unseal.key.next'),
        Buffer.alloc(32, 2).toString('base64'),
      );
    let hasFollowed = false;
    const reported: unknown[] = [];
    const watched = (async () => {
      while (!hasFollowed) reported.push((await second.call('GET', 'sys/seal-status')).body.sealed);
    })();
    const followed = (async () => {
      for (let { sealed, serviceKey: key } = await untilKeyIsNot(second, serviceKey); sealed; )
        ({ sealed, serviceKey: key } = await untilKeyIsNot(second, key));
      hasFollowed = true;
    })();
    expect((await first.call('POST', 'sys/rotate/unseal-key', { token })).status).toBe(204);
    await Promise.all([followed, watched]);
    expect(new Set(reported)).toEqual(new Set([false]));
  });

  test('a rekey on one of them seals the other, which the new shares open', async () => {
    const { first, second, key, rootToken: token } = await openReplicas('shamir', 'shamir');
    const { serviceKey } = await untilKeyIsNot(second, new Uint8Array());
    const sealed = untilKeyIsNot(second, serviceKey);
    const share = await rekey(first, key);
    expect((await sealed).sealed).toBe(true);
    await expect(second.sys.seal.unseal(key)).rejects.toThrow('invalid key');
    await second.sys.seal.unseal(share);
    for (const replica of replicas)
      expect((await replica.call('GET', 'auth/token/lookup-self', { token })).status).toBe(200);
  });
});

test('in a replication set the root key stays, and the answer says what that means', async () => {
  await using folder = await temporaryDirectory();
  const transport = inProcessTransport();
  const unsealKeyFile = join(folder.path, 'unseal.key');
  const primary = await openSysHarness({ transport, config: { unsealKeyFile } });
  await primary.sys.start();
  await primary.initialize();
  await primary.asRoot('POST', 'sys/replication/dr/primary/enable');
  const { serviceKey } = await untilKeyIsNot(primary, new Uint8Array());
  const answer = await primary.asRoot('POST', 'sys/rotate/unseal-key');
  expect([answer.status, answer.body.warnings]).toEqual([
    200,
    [expect.stringContaining('the root key stays, because it is that of all clusters')],
  ]);
  const state = await untilKeyIsNot(primary, new Uint8Array());
  expect(state.serviceKey).toEqual(serviceKey);

  await primary.asRoot('POST', 'sys/replication/dr/primary/disable');
  expect((await primary.asRoot('POST', 'sys/rotate/unseal-key')).status).toBe(204);
  const { formerServiceKeys } = await untilKeyIsNot(primary, serviceKey);
  expect(formerServiceKeys).toEqual([serviceKey]);
  await primary.close();
});

test('shares of an earlier version open the seal, and the root key stays until they are replaced', async () => {
  await using folder = await temporaryDirectory();
  const harness = await openSysHarness({
    config: { unsealKeyFile: join(folder.path, 'unseal.key') },
  });
  await harness.sys.start();
  const { key } = await harness.initialize();
  const rootKey = (await rootKeyByShare(harness.store, key)) ?? new Uint8Array();
  await harness.store.transact(async (tx) => {
    const record = await sealRecords.find(tx);
    const wrappedForShares = wrapRootKey(parseShare(key), rootKey);
    if (record !== undefined) sealRecords.write(tx, { ...record, wrappedForShares });
  });
  await harness.asRoot('PUT', 'sys/seal');
  await harness.sys.seal.unseal(key);
  const kept = await harness.asRoot('POST', 'sys/rotate/unseal-key');
  expect([kept.status, kept.body.warnings]).toEqual([
    200,
    [expect.stringContaining('replace them with sys/rekey-recovery-key')],
  ]);
  expect(opens(rootKey, await keyringOf(harness.store))).toBe(true);

  const init = { secret_shares: 1, secret_threshold: 1 };
  const begun = await harness.asRoot('PUT', 'sys/rekey-recovery-key/init', { body: init });
  const { nonce } = begun.body;
  await harness.asRoot('PUT', 'sys/rekey-recovery-key/update', { body: { key, nonce } });
  expect((await harness.asRoot('POST', 'sys/rotate/unseal-key')).status).toBe(204);
  expect(opens(rootKey, await keyringOf(harness.store))).toBe(false);
  await harness.close();
});
