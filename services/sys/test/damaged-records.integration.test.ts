/** A record that decisions depend on, damaged by a disk: its consequences, and who is informed. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { openInitializedSys, type SysHarness } from './sys-harness.ts';

let harness: SysHarness;
beforeEach(async () => {
  harness = await openInitializedSys();
});
afterEach(() => harness.close());

/** @returns the stored bytes before the damage */
const damage = async (path: string): Promise<Uint8Array> => {
  const [copy] = await harness.store.stored.read([path]);
  if (copy === undefined) throw new Error(`no record ${path}`);
  await harness.store.applyRecords('damage', [{ path, stored: Buffer.from([0]) }]);
  return copy.stored;
};
const mount = async (path: string, namespace = ''): Promise<string> => {
  const at = `sys/mounts/${path}`;
  await harness.asRoot('POST', at, { namespace, body: { type: 'sample' } });
  return (await harness.asRoot('GET', at, { namespace })).body.data.uuid;
};
/** @returns the id of a lease of this mount */
const registerLease = async (mountUuid: string): Promise<string> => {
  const { audit } = await harness.resolve('GET', 'auth/token/lookup-self', {
    token: await harness.createToken(['default']),
  });
  const { leaseId } = await harness.sys.ledger.register({
    mountUuid,
    requestPath: '/issue/web',
    tokenHash: audit?.caller?.tokenHash ?? '',
    namespace: { id: 'root', path: '' },
    ttlSeconds: 600,
    maxTtlSeconds: 3600,
    renewable: true,
    engineData: Buffer.from('serial'),
    tokenType: 'service',
  });
  return leaseId;
};
const read = (path: string, namespace = '') => harness.asRoot('GET', path, { namespace });
const health = async () => (await harness.call('GET', 'sys/health')).body.damaged_records;
const receivedByEngines = async () => {
  const states = harness.sys.cluster.join({
    service: 'sample',
    instanceId: 'one',
    version: '1',
    storeId: '',
    engines: [{ type: 'sample', unauthenticatedPaths: [], rootPaths: [] }],
  });
  for await (const { mounts, unreadableMountUuids } of states)
    return { mounts: mounts.map(({ uuid }) => uuid), unreadable: unreadableMountUuids };
  throw new Error('no state');
};

describe('a mount', () => {
  test('is unavailable and keeps its data, and all others are served', async () => {
    const [lost, kept] = [await mount('lost'), await mount('kept')];
    const stored = await damage(`shared/core/mounts/root/${lost}`);

    expect((await read('lost/thing')).status).toBe(404);
    expect((await read('kept/thing')).body).toEqual({ service: 'sample' });
    expect((await read('auth/token/lookup-self')).status).toBe(200);
    expect(await health()).toEqual({ mounts: 1 });
    const listed = await read('sys/mounts');
    expect(Object.keys(listed.body.data)).toContain('kept/');
    expect(listed.body.warnings).toEqual([
      `the mount ${lost} is damaged and unavailable; its data is kept (docs/runbooks/repair-damage.md)`,
    ]);
    expect(await receivedByEngines()).toEqual({ mounts: [kept], unreadable: [lost] });

    await harness.store.applyRecords('damage', [
      { path: `shared/core/mounts/root/${lost}`, stored },
    ]);
    expect((await read('lost/thing')).body).toEqual({ service: 'sample' });
    expect(await health()).toBeUndefined();
  });

  test('may have any path: its namespace accepts no new mount, others do', async () => {
    await harness.createNamespace('team');
    await damage(`shared/core/mounts/root/${await mount('lost')}`);
    const body = { type: 'sample' };
    const refused = await harness.asRoot('POST', 'sys/mounts/lost', { body });
    expect([refused.status, refused.body.errors[0]]).toEqual([
      400,
      expect.stringContaining('is damaged and its path is not known'),
    ]);
    expect((await harness.asRoot('POST', 'sys/namespaces/lost')).status).toBe(500);
    const elsewhere = await harness.asRoot('POST', 'sys/mounts/pki', { namespace: 'team', body });
    expect(elsewhere.status).toBe(204);
  });

  test('does not end its leases', async () => {
    const uuid = await mount('lost');
    await registerLease(uuid);
    await damage(`shared/core/mounts/root/${uuid}`);
    await harness.settle('departures');
    await harness.settle('lease-expiry');
    expect(harness.engine.revoked).toEqual([]);
  });

  test('that was tuned and is built in is served with its defaults', async () => {
    await harness.asRoot('POST', 'sys/mounts/cubbyhole/tune', { body: { description: 'ours' } });
    await damage('shared/core/built-in-mounts/root/cubbyhole');
    expect((await read('sys/mounts/cubbyhole/tune')).status).toBe(200);
    expect(await health()).toEqual({ mounts: 1 });
    expect(
      (await harness.asRoot('POST', 'sys/mounts/new', { body: { type: 'sample' } })).status,
    ).toBe(204);
  });
});

describe('a namespace', () => {
  test('is unavailable with everything below it, although the damage may be only its lock', async () => {
    const id = await harness.createNamespace('lost');
    await harness.asRoot('POST', 'sys/namespaces/child', { namespace: 'lost' });
    await harness.createNamespace('kept');
    const [inside, child] = [await mount('pki', 'lost'), await mount('pki', 'lost/child')];
    await mount('pki', 'kept');
    const stored = await damage(`shared/core/namespaces/${id}`);

    for (const namespace of ['lost', 'lost/child'])
      expect((await read('pki/thing', namespace)).status).toBe(404);
    expect((await read('lost/pki/thing')).status).toBe(404);
    expect((await read('pki/thing', 'kept')).body).toEqual({ service: 'sample' });
    expect(await health()).toEqual({ namespaces: 1 });
    expect((await harness.asRoot('POST', 'sys/namespaces/lost')).status).toBe(500);
    const received = await receivedByEngines();
    expect(received.unreadable).toEqual([inside]);
    expect(received.mounts).toContain(child);
    await harness.settle('departures');

    await harness.store.applyRecords('damage', [{ path: `shared/core/namespaces/${id}`, stored }]);
    for (const namespace of ['lost', 'lost/child'])
      expect((await read('pki/thing', namespace)).body).toEqual({ service: 'sample' });
  });
});

describe('a lease', () => {
  const revoked = () => harness.engine.revoked.map(({ leaseId }) => leaseId).toSorted();
  /** Leases of a mount, the first of which is damaged. */
  const populate = async (mountUuid: string, namespaceId: string): Promise<readonly string[]> => {
    const ids = (await Promise.all([1, 2, 3].map(() => registerLease(mountUuid)))).toSorted();
    await damage(`local/leases/${namespaceId}/${ids[0]}`);
    return ids;
  };

  test('is not revoked when it is due, and all others are', async () => {
    const [lost = '', ...others] = await populate(await mount('pki'), 'root');
    harness.clock.advance(600_000);
    await harness.settle('lease-expiry');
    expect(revoked()).toEqual(others);
    expect((await read('sys/leases/count')).body.data.lease_count).toBe(0);
    const asked = await harness.asRoot('POST', 'sys/leases/lookup', { body: { lease_id: lost } });
    expect([asked.status, asked.body.errors[0]]).toEqual([500, expect.stringContaining(lost)]);
  });

  test.for([
    ['DELETE', 'sys/mounts/pki'],
    ['POST', 'sys/leases/revoke-prefix/pki'],
  ])('does not stop the others from being revoked: %s %s', async ([method = '', path = '']) => {
    const [, ...others] = await populate(await mount('pki'), 'root');
    expect((await harness.asRoot(method, path)).status).toBe(204);
    await harness.settle('lease-expiry');
    expect(revoked()).toEqual(others);
  });

  test('is named by a revocation that waits, and removed by force', async () => {
    const [lost = '', ...others] = await populate(await mount('pki'), 'root');
    const body = { sync: true };
    const refused = await harness.asRoot('POST', 'sys/leases/revoke-prefix/pki', { body });
    expect([refused.status, refused.body.errors[0]]).toEqual([500, expect.stringContaining(lost)]);
    expect(revoked()).toEqual(others);
    expect((await harness.asRoot('POST', 'sys/leases/revoke-force/pki')).status).toBe(204);
    expect((await harness.asRoot('POST', 'sys/leases/revoke-prefix/pki', { body })).status).toBe(
      204,
    );
  });

  test('goes with its namespace, whose other leases are revoked', async () => {
    const id = await harness.createNamespace('team');
    const [, ...others] = await populate(await mount('pki', 'team'), id);
    expect((await harness.asRoot('DELETE', 'sys/namespaces/team')).status).toBe(200);
    expect(revoked()).toEqual(others);
    expect((await harness.asRoot('POST', 'sys/namespaces/team')).status).toBe(200);
  });
});

describe('an audit device', () => {
  const FILE = { type: 'file', options: { file_path: '/var/log/keelson/audit.log' } };

  test('accepts no entry, and can be disabled like any other', async () => {
    await harness.asRoot('PUT', 'sys/audit/lost', { body: FILE });
    await damage('shared/core/audit/lost');
    const received = await harness.sys.access.auditDevices({});
    expect(received.devices.map(({ path, type }) => [path, type])).toEqual([['lost/', 'damaged']]);
    expect(await health()).toEqual({ audit_devices: 1 });
    expect((await read('sys/audit')).body.warnings).toEqual([
      'the audit device "lost/" is damaged and accepts no entry: disable it, and enable it again',
    ]);
    expect((await harness.asRoot('PUT', 'sys/audit/lost', { body: FILE })).status).toBe(400);
    expect((await harness.asRoot('DELETE', 'sys/audit/lost')).status).toBe(204);
    expect((await harness.asRoot('PUT', 'sys/audit/lost', { body: FILE })).status).toBe(204);
    expect(await health()).toBeUndefined();
    const { devices } = await harness.sys.access.auditDevices({});
    expect(devices.map(({ path, type }) => [path, type])).toEqual([['lost/', 'file']]);
  });

  test('the number of changes to devices: gateways fetch the devices again', async () => {
    await harness.asRoot('PUT', 'sys/audit/file', { body: FILE });
    const before = (await harness.resolve('GET', 'sys/health')).auditGeneration;
    await damage('shared/core/audit-generation/current');
    const { auditGeneration } = await harness.resolve('GET', 'sys/health');
    expect(auditGeneration).toBeGreaterThan(before);
    expect(await harness.sys.access.auditDevices({})).toMatchObject({
      generation: auditGeneration,
      devices: [{ path: 'file/' }],
    });
  });
});

test('an engine type is registered again when its service joins', async () => {
  await mount('kept');
  await damage('local/core/engine-types/sample');
  expect((await read('kept/thing')).status).toBe(404);
  expect((await read('auth/token/lookup-self')).status).toBe(200);
  expect(await health()).toEqual({ engine_types: 1 });
  await receivedByEngines();
  expect((await read('kept/thing')).body).toEqual({ service: 'sample' });
  expect(await health()).toBeUndefined();
});
