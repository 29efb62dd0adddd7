/**
 * Secret ids that are removed once an hour, or on request. Behaviours:
 *
 * | secret id                    | removed                                                               |
 * | ---------------------------- | --------------------------------------------------------------------- |
 * | has expired                  | by each cluster if it is its own, by the primary if all clusters have it |
 * | its role is deleted          | the same, whichever cluster has deleted the role, and after a crash   |
 */
import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { mountOf, type OpenAuth, openAuth } from '../../test/open-auth.ts';
import { lockoutRecords } from '../logins/lockout-records.ts';
import { roleIdRecords, roleRecords } from './approle-records.ts';

const HOUR_MS = 3_600_000;

const mount = mountOf('approle');
const SECONDARY = {
  kind: 'performance',
  role: 'secondary',
  clusterId: 'set',
  generation: '1',
  link: undefined,
  activation: '',
  previousServiceKey: Buffer.alloc(0),
};

let auth: OpenAuth;
const joinAs = (replicationRoles: readonly (typeof SECONDARY)[]) =>
  auth.join({
    initialized: true,
    sealed: false,
    serviceKey: Buffer.alloc(32, 7),
    keyringTerm: 0,
    replicationRoles: [...replicationRoles],
    clusterId: 'c',
    clusterName: 'c',
    unreadableMountUuids: [],
    formerServiceKeys: [],
    mounts: [mount],
  });
beforeEach(async () => {
  auth = await openAuth();
  await joinAs([]);
});
afterEach(() => auth.close());

const call = (method: string, path: string, body?: unknown) =>
  auth.call('approle', method, path, body, { mount });

/** A role of shared and one of local secret ids; the shared one comes first. */
const makeRoles = async () => {
  await call('POST', 'role/all', { role_id: 'the-all' });
  await call('POST', 'role/own', { role_id: 'the-own', local_secret_ids: true });
};
const makeSecretId = async (role: string, settings: object = {}): Promise<string> =>
  (await call('POST', `role/${role}/secret-id`, settings)).data.secret_id_accessor;

/** Accessors of the secret ids in the store, whether or not they have a role. */
const stored = async (kind: 'secret-ids' | 'local-secret-ids'): Promise<readonly string[]> => {
  const scope = kind === 'secret-ids' ? 'shared' : 'local';
  const prefix = `${scope}/mounts/${mount.uuid}/approle/${kind}/`;
  const found: string[] = [];
  for (const role of await auth.store.list(prefix))
    found.push(...(await auth.store.list(prefix + role)));
  return found;
};
const lockouts = async () => (await lockoutRecords(mount).keys(auth.store)).length;
const until = async (isSo: () => Promise<boolean>): Promise<void> => {
  while (!(await isSo())) await setImmediate();
};
const errors = () => auth.logged.filter((line) => line.includes('"level":50'));

test('a secondary removes what is its own every hour, and leaves the rest to the primary', async () => {
  await makeRoles();
  const shared = await makeSecretId('all', { ttl: 60 });
  await makeSecretId('own', { ttl: 60 });
  const kept = await makeSecretId('own');
  await call('POST', 'login', { role_id: 'the-own', secret_id: 'wrong' });
  await joinAs([SECONDARY]);
  auth.clock.advance(HOUR_MS);
  await until(async () => (await lockouts()) === 0);
  expect(await stored('local-secret-ids')).toEqual([kept]);
  expect(await stored('secret-ids')).toEqual([shared]);
  expect(errors()).toEqual([]);
  await joinAs([]);
  auth.clock.advance(HOUR_MS);
  await until(async () => (await stored('secret-ids')).length === 0);
  expect(await stored('local-secret-ids')).toEqual([kept]);
});

test('a request to a secondary removes what is its own before the primary is asked for the rest', async () => {
  await makeRoles();
  const shared = await makeSecretId('all', { ttl: 60 });
  await makeSecretId('own', { ttl: 60 });
  await joinAs([SECONDARY]);
  auth.clock.advance(60_000);
  await expect(call('POST', 'tidy/secret-id')).resolves.toMatchObject({ status: 503 });
  expect(await stored('local-secret-ids')).toEqual([]);
  expect(await stored('secret-ids')).toEqual([shared]);
});

test('secret ids whose role is gone are removed, and those of other roles are not', async () => {
  await makeRoles();
  await makeSecretId('all');
  await makeSecretId('own');
  await call('POST', 'role/other', {});
  const other = await makeSecretId('other');
  // Another cluster has deleted the roles, or this one has crashed before it came to the secret ids.
  await auth.store.transact((tx) => {
    for (const name of ['all', 'own']) {
      roleRecords(mount).delete(tx, name);
      roleIdRecords(mount).delete(tx, `the-${name}`);
    }
    return Promise.resolve();
  });
  expect((await call('POST', 'tidy/secret-id')).status).toBe(202);
  expect(await stored('local-secret-ids')).toEqual([]);
  expect(await stored('secret-ids')).toEqual([other]);
});
