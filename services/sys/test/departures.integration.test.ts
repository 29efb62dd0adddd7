/**
 * Cleanup of local records for mounts and namespaces that replication removes: no operation of this cluster
 * removed them; an applied log entry deleted or moved their records.
 */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { loginRequest } from './login-steps.ts';
import { openInitializedSys, type SysHarness } from './sys-harness.ts';

const LOG = 'log of a primary';
const MOUNTS = 'shared/core/mounts/';
const NAMESPACES = 'shared/core/namespaces/';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

const mount = async (path: string): Promise<string> => {
  await harness.asRoot('POST', path.replace(/([^/]+)$/, 'sys/mounts/$1'), {
    body: { type: 'sample' },
  });
  const at = path.replace(/([^/]+)$/, 'sys/mounts/$1');
  return (await harness.asRoot('GET', at)).body.data.uuid;
};
const hashOf = async (token: string, namespace: string): Promise<string> =>
  (await harness.resolve('GET', 'auth/token/lookup-self', { token, namespace })).audit?.caller
    ?.tokenHash ?? '';
const register = async (
  mountUuid: string,
  namespace = { id: 'root', path: '' },
): Promise<string> => {
  const token = await harness.createToken(['default'], namespace.path);
  const { leaseId } = await harness.sys.ledger.register({
    mountUuid,
    requestPath: '/issue/web',
    tokenHash: await hashOf(token, namespace.path),
    namespace,
    ttlSeconds: 600,
    maxTtlSeconds: 3600,
    renewable: true,
    engineData: Buffer.from('serial'),
    tokenType: 'service',
  });
  return leaseId;
};
const recordsBelow = async (prefix: string, naming = '') =>
  (await harness.store.scan(prefix)).filter(({ path }) => path.includes(naming));
const apply = (paths: readonly string[]) =>
  harness.store.applyRecords(
    LOG,
    paths.map((path) => ({ path, stored: undefined })),
  );
/** Deletes the record as a paths filter or a removal at the primary would. */
const takeAway = async (uuid: string): Promise<readonly { path: string; stored: Uint8Array }[]> => {
  const paths = (await recordsBelow(MOUNTS, uuid)).map(({ path }) => path);
  const copies = await harness.store.stored.read(paths);
  await apply(paths);
  return copies;
};
const settle = async (): Promise<void> => {
  await harness.settle('departures');
  await harness.settle('lease-expiry');
};
const revokedIds = () => harness.engine.revoked.map(({ leaseId }) => leaseId).sort();
const leaseCount = async () =>
  (await harness.asRoot('GET', 'sys/leases/count')).body.data.lease_count;

describe('tokens of logins at a removed mount', () => {
  const logIn = async (mountUuid: string): Promise<string> => {
    const limits = { policies: ['root-like'] };
    const request = loginRequest(mountUuid, { limits, aliasName: '' });
    return JSON.parse((await harness.sys.logins.login(request)).authJson).client_token;
  };

  test('are removed with their children and leases, and those of others stay', async () => {
    const [gone, stays] = [await mount('gone'), await mount('stays')];
    await harness.asRoot('POST', 'sys/policies/acl/root-like', {
      body: { policy: 'path "auth/token/create" { capabilities = ["update"] }' },
    });
    for (let login = 0; login < 3; login += 1) {
      const token = await logIn(gone);
      await harness.call('POST', 'auth/token/create', { token, body: {} });
    }
    const kept = await logIn(stays);
    await settle();
    const before = (await recordsBelow('local/tokens/')).length;
    await takeAway(gone);
    await settle();
    expect((await recordsBelow('local/tokens/')).length).toBe(before - 6);
    expect((await recordsBelow('local/tokens~login/')).length).toBe(1);
    expect((await harness.call('GET', 'auth/token/lookup-self', { token: kept })).status).toBe(200);
  });
});

describe('leases of a removed mount', () => {
  test('end, and those of others continue', async () => {
    const [gone, stays] = [await mount('gone'), await mount('stays')];
    const ids = [await register(gone), await register(gone)].sort();
    await register(stays);
    await settle();
    expect(revokedIds()).toEqual([]);
    await takeAway(gone);
    await settle();
    expect(revokedIds()).toEqual(ids);
    expect(await leaseCount()).toBe(1);
  });

  test('do not return with it, and its new leases end at the next removal', async () => {
    const uuid = await mount('gone');
    await register(uuid);
    const copies = await takeAway(uuid);
    await settle();
    await harness.store.applyRecords(LOG, copies);
    await settle();
    expect(await leaseCount()).toBe(0);
    const again = await register(uuid);
    await settle();
    expect(await leaseCount()).toBe(1);
    await takeAway(uuid);
    await settle();
    expect(revokedIds()).toContain(again);
  });

  test('end even if another mount took its place before anyone checked', async () => {
    const uuid = await mount('place');
    const old = await register(uuid);
    await takeAway(uuid);
    await register(await mount('place'));
    await settle();
    expect(revokedIds()).toEqual([old]);
    expect(await leaseCount()).toBe(1);
  });

  test('are refused from then on', async () => {
    const uuid = await mount('gone');
    await takeAway(uuid);
    await expect(register(uuid)).rejects.toMatchObject({ code: 'request.not_found' });
  });
});

describe('a removed namespace', () => {
  test('takes its tokens, leases and own mounts with it, and returns without them', async () => {
    const id = await harness.createNamespace('team');
    const uuid = await mount('team/ca');
    await harness.asRoot('POST', 'team/sys/mounts/own', { body: { type: 'sample', local: true } });
    const token = await harness.createToken(['default'], 'team/');
    await harness.call('POST', 'team/cubbyhole/mine', { token, body: { a: 'b' } });
    const leased = await register(uuid, { id, path: 'team/' });
    const [copy] = await harness.store.stored.read([`${NAMESPACES}${id}`]);
    await apply([`${NAMESPACES}${id}`]);
    const copies = await takeAway(uuid);
    await settle();
    await settle();
    expect(revokedIds()).toEqual([leased]);
    expect((await recordsBelow('local/', id)).map(({ path }) => path)).toEqual([]);
    await harness.store.applyRecords(LOG, [...copies, ...(copy === undefined ? [] : [copy])]);
    expect(
      (await harness.call('GET', 'team/auth/token/lookup-self', { token })).status,
    ).toBeGreaterThanOrEqual(400);
    expect(
      Object.keys((await harness.asRoot('GET', 'team/sys/mounts')).body.data).toSorted(),
    ).toEqual(['ca/', 'cubbyhole/', 'identity/', 'sys/']);
  });
});
