import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from '../../test/sys-harness.ts';

let harness: SysHarness;
let mountUuid: string;
let token: string;
let tokenHash: string;
beforeEach(async () => {
  harness = await openInitializedSys();
  await harness.asRoot('POST', 'sys/mounts/pki', { body: { type: 'sample' } });
  mountUuid = (await harness.asRoot('GET', 'sys/mounts/pki')).body.data.uuid;
  token = await harness.createToken(['default']);
  tokenHash = await hashOf(token);
});
afterEach(() => harness.close());

const hashOf = async (presented: string): Promise<string> =>
  (await harness.resolve('GET', 'auth/token/lookup-self', { token: presented })).audit?.caller
    ?.tokenHash ?? '';
const revokeDue = () => harness.settle('lease-expiry');
const register = async (given: object = {}): Promise<string> =>
  (
    await harness.sys.ledger.register({
      mountUuid,
      requestPath: '/issue/web',
      tokenHash,
      namespace: { id: 'root', path: '' },
      ttlSeconds: 600,
      maxTtlSeconds: 3600,
      renewable: true,
      engineData: Buffer.from('serial'),
      tokenType: 'service',
      ...given,
    })
  ).leaseId;
const lookup = (lease_id: string) =>
  harness.asRoot('POST', 'sys/leases/lookup', { body: { lease_id } });
const revokedIds = () => harness.engine.revoked.map(({ leaseId }) => leaseId).sort();
const leftovers = async (): Promise<string[]> =>
  (await harness.store.scan('local/'))
    .map(({ path }) => path)
    .filter((path) => path.includes('/lease'));
const refusal = (text: string) => ({ status: 400, body: { errors: [text] } });

describe('a lease', () => {
  test('is named after mount and request, and can be looked up', async () => {
    const id = await register();
    expect(id).toMatch(/^pki\/issue\/web\/[0-9a-f-]{36}$/);
    harness.clock.advance(100_000);
    expect((await lookup(id)).body.data).toEqual({
      id,
      display_name: 'token',
      entity_id: '',
      issue_time: '2030-01-01T00:00:00.000Z',
      expire_time: '2030-01-01T00:10:00.000Z',
      last_renewal: null,
      renewable: true,
      ttl: 500,
    });
    expect((await harness.asRoot('LIST', 'sys/leases/lookup')).body.data.keys).toEqual(['pki/']);
    expect(
      (await harness.asRoot('LIST', 'sys/leases/lookup/pki/issue/web')).body.data.keys,
    ).toEqual([id.slice(14)]);
    expect(await lookup('pki/issue/web/none')).toEqual(refusal('invalid lease'));
    expect(await lookup('//')).toEqual(refusal('invalid lease'));
  });

  test('is revoked at its engine when it expires, and not before', async () => {
    const id = await register();
    harness.clock.advance(599_999);
    await revokeDue();
    expect(revokedIds()).toEqual([]);
    harness.clock.advance(1);
    await revokeDue();
    expect(harness.engine.revoked).toEqual([
      {
        leaseId: id,
        engineData: Buffer.from('serial'),
        mount: expect.objectContaining({ uuid: mountUuid, path: 'pki/' }),
      },
    ]);
    expect(await lookup(id)).toEqual(refusal('invalid lease'));
    expect(await leftovers()).toEqual([]);
  });

  test('is revoked behind rows that an earlier release left of removed leases', async () => {
    await register();
    await harness.store.transact((tx) => {
      for (let left = 0; left < 250; left += 1)
        tx.write(`local/lease-due/${'0'.repeat(15)}/root/pki/${left}`, Buffer.from('{}'));
      return Promise.resolve();
    });
    harness.clock.advance(600_000);
    await revokeDue();
    expect(harness.engine.revoked).toHaveLength(1);
    expect(await leftovers()).toEqual([]);
  });

  test('is renewed up to its maximum', async () => {
    const id = await register();
    const renew = (body: object) =>
      harness.asRoot('POST', 'sys/leases/renew', { body: { lease_id: id, ...body } });
    expect((await renew({ increment: '20m' })).body).toMatchObject({
      lease_id: id,
      lease_duration: 1200,
      renewable: true,
    });
    expect((await renew({ increment: 7200 })).body.lease_duration).toBe(3600);
    harness.clock.advance(3_600_000);
    expect(await renew({})).toEqual(refusal('lease expired'));
    expect(await harness.asRoot('POST', 'sys/leases/renew/none')).toEqual(
      refusal('lease not found'),
    );
    const fixed = await register({ renewable: false });
    expect(await harness.asRoot('PUT', `sys/renew/${fixed}`)).toEqual(
      refusal('lease is not renewable'),
    );
  });

  test('ends with its token', async () => {
    const own = await register();
    await register({ tokenHash: await hashOf(await harness.createToken(['default'])) });
    await harness.asRoot('POST', 'auth/token/revoke', { body: { token } });
    await revokeDue();
    expect(revokedIds()).toEqual([own]);
    await expect(register()).rejects.toMatchObject({ code: 'sys.permission_denied' });
  });

  test.for([
    ['DELETE', 'sys/mounts/pki', undefined],
    ['POST', 'sys/remount', { from: 'pki', to: 'moved' }],
  ] as const)('ends with its mount: %s %s', async ([method, path, body]) => {
    const ids = [await register(), await register({ requestPath: 'sign/x' })].sort();
    await harness.asRoot('POST', 'sys/mounts/pki2', { body: { type: 'sample' } });
    const { uuid } = (await harness.asRoot('GET', 'sys/mounts/pki2')).body.data;
    await register({ mountUuid: uuid });
    await harness.asRoot(method, path, body === undefined ? {} : { body });
    await revokeDue();
    expect(revokedIds()).toEqual(ids);
  });
});

describe('the leases of a namespace', () => {
  let inTeam: { mountUuid: string };
  beforeEach(async () => {
    await harness.createNamespace('team');
    await harness.asRoot('POST', 'team/sys/mounts/ca', { body: { type: 'sample' } });
    inTeam = { mountUuid: (await harness.asRoot('GET', 'team/sys/mounts/ca')).body.data.uuid };
  });
  const remove = () => harness.asRoot('DELETE', 'sys/namespaces/team');
  const create = () => harness.asRoot('POST', 'sys/namespaces/team');

  test('are revoked before the namespace is deleted', async () => {
    const ids = await Promise.all(Array.from({ length: 250 }, () => register(inTeam)));
    const other = await register();
    expect((await remove()).status).toBe(200);
    expect(revokedIds()).toEqual(ids.toSorted((a, b) => (a < b ? -1 : 1)));
    expect(harness.engine.revoked[0]?.mount).toMatchObject({
      uuid: inTeam.mountUuid,
      path: 'ca/',
      namespace: { path: 'team/' },
    });
    expect((await create()).status).toBe(200);
    expect((await lookup(other)).status).toBe(200);
  });

  test('keep it, unavailable, while their engine fails', async () => {
    const id = await register(inTeam);
    harness.engine.refusing = true;
    expect((await remove()).status).toBe(200);
    expect((await harness.asRoot('GET', 'team/sys/mounts')).status).toBe(404);
    expect(await create()).toEqual(refusal('namespace "team/" is being deleted'));
    harness.engine.refusing = false;
    await harness.settle('namespace-removal');
    expect(await create()).toEqual(refusal('namespace "team/" is being deleted'));
    harness.clock.advance(10_000);
    await revokeDue();
    expect(revokedIds()).toEqual([id]);
    await harness.settle('namespace-removal');
    expect((await create()).status).toBe(200);
    expect(await leftovers()).toEqual([]);
  });

  test('no longer keep it once they are abandoned', async () => {
    await register(inTeam);
    harness.engine.refusing = true;
    await remove();
    for (let count = 0; count < 6; count++) {
      harness.clock.advance(400_000);
      await revokeDue();
    }
    await harness.settle('namespace-removal');
    expect((await create()).status).toBe(200);
    expect(await leftovers()).toEqual([]);
  });
});

describe('revoking', () => {
  test('revokes one lease, by body or path, at once or soon', async () => {
    const [a, b, c] = [await register(), await register(), await register()];
    expect(
      (await harness.asRoot('POST', 'sys/leases/revoke', { body: { lease_id: a, sync: true } }))
        .status,
    ).toBe(204);
    expect(revokedIds()).toEqual([a]);
    expect((await harness.asRoot('PUT', `sys/leases/revoke/${b}`)).status).toBe(204);
    expect(
      (await harness.asRoot('POST', 'sys/leases/revoke', { body: { lease_id: 'none' } })).status,
    ).toBe(204);
    await revokeDue();
    expect(revokedIds()).toEqual([a, b].sort());
    expect((await lookup(c)).status).toBe(200);
    expect((await harness.asRoot('POST', 'sys/leases/revoke')).status).toBe(400);
  });

  test('revokes all leases with a common prefix', async () => {
    const web = await Promise.all(Array.from({ length: 450 }, () => register()));
    const api = await register({ requestPath: 'issue/api' });
    expect((await harness.asRoot('POST', 'sys/leases/revoke-prefix/pki/issue/web')).status).toBe(
      204,
    );
    await revokeDue();
    expect(revokedIds()).toEqual(web.sort());
    await harness.asRoot('POST', 'sys/leases/revoke-prefix/pki', { body: { sync: true } });
    expect(revokedIds()).toContain(api);
  });

  test('is started at once by the running worker', async () => {
    await harness.sys.start();
    // The clock does not advance, so only the request itself can wake the worker.
    const [a, b, c] = [await register(), await register(), await register({ requestPath: 'x' })];
    const ended = [];
    for (const [path, id] of [
      [`revoke/${a}`, a],
      [`revoke/${b}`, b],
      ['revoke-prefix/pki/x', c],
    ]) {
      await harness.asRoot('PUT', `sys/leases/${path}`);
      ended.push(id);
      await expect.poll(() => harness.engine.revoked.map(({ leaseId }) => leaseId)).toEqual(ended);
    }
  });

  test('that waits for the engine reports its failure with the request id', async () => {
    const body = { lease_id: await register(), sync: true };
    harness.engine.refusing = true;
    expect(await harness.asRoot('POST', 'sys/leases/revoke', { body })).toEqual({
      status: 500,
      body: { errors: ['internal error, request id request'] },
    });
  });

  test('is retried with increasing delays, and then visibly abandoned', async () => {
    const id = await register();
    harness.engine.refusing = true;
    harness.clock.advance(600_000);
    await revokeDue();
    for (let count = 0; count < 10; count++) {
      harness.clock.advance(400_000);
      await revokeDue();
    }
    const query = 'type=irrevocable';
    expect((await harness.asRoot('GET', 'sys/leases', { query })).body.data).toEqual({
      lease_count: 1,
      leases: [{ lease_id: id, mount_id: mountUuid, error: 'internal error' }],
    });
    harness.engine.refusing = false;
    harness.clock.advance(400_000);
    await revokeDue();
    expect(revokedIds()).toEqual([]);
    expect((await harness.asRoot('GET', 'sys/leases/count', { query })).body.data).toEqual({
      lease_count: 1,
      counts: { [mountUuid]: 1 },
    });
    await register();
    expect((await harness.asRoot('GET', 'sys/leases/count')).body.data.lease_count).toBe(2);
    await harness.asRoot('POST', 'sys/leases/revoke', { body: { lease_id: id, sync: true } });
    expect(revokedIds()).toEqual([id]);
    expect((await harness.asRoot('GET', 'sys/leases', { query })).body.data.lease_count).toBe(0);
  });

  test('by force ignores the refusal of the engine', async () => {
    await register();
    harness.engine.refusing = true;
    expect((await harness.asRoot('POST', 'sys/leases/revoke-force/pki')).status).toBe(204);
    expect((await harness.asRoot('GET', 'sys/leases/count')).body.data.lease_count).toBe(0);
  });

  test('ends its round when the store refuses the outcome, so that it waits before the next', async () => {
    await register();
    harness.clock.advance(600_000);
    harness.engine.revokeLease = async () => {
      await harness.asRoot('PUT', 'sys/seal');
      return {};
    };
    await expect(harness.sys.periodicWork['lease-expiry']?.round({})).rejects.toMatchObject({
      code: 'storage.sealed',
    });
  });
});
