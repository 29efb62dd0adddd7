/** Performance replication between standalone processes: shared data, local data and forwarded writes. */
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateRoot,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;
const POLICY = 'path "pki/*" { capabilities = ["read"] }';
const PERFORMANCE = 'sys/replication/performance';

let nats: NatsServer;
let primary: Cluster;
let secondary: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, secondary] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
}, WITHIN_MS);
afterAll(async () => {
  await primary.stop();
  await secondary.stop();
  await nats[Symbol.asyncDispose]();
}, WITHIN_MS);

const organization = (name: string) => ({
  data: { type: 'organizations', attributes: { name, email: 'a@b.example' } },
});

const issue = (cluster: Cluster) =>
  cluster.v1('POST', 'pki/issue/web', { common_name: 'a.example.com', ttl: '1h' });

interface Ready {
  readonly impaired?: { readonly sys?: readonly string[] };
}

describe('performance replication', { timeout: WITHIN_MS }, () => {
  test('a token can be used once', async () => {
    await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    await primary.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
    await primary.v1('POST', 'pki/roles/web', { allow_any_name: true, key_type: 'ec' });
    await primary.api('POST', 'organizations', organization('acme'));
    await primary.v1('POST', `${PERFORMANCE}/primary/enable`, {});
    const issued = await primary.v1('POST', `${PERFORMANCE}/primary/secondary-token`, {
      id: 'used',
    });
    expect(issued.body).toMatchObject({
      data: null,
      wrap_info: {
        token: expect.stringMatching(/^[\w-]+\.[\w-]+\.[\w-]+$/),
        ttl: 1800,
        creation_time: expect.stringMatching(/^\d{4}-/),
        wrapped_accessor: '',
      },
    });
    const token = issued.body.wrap_info.token as string;
    expect(
      (await primary.v1('POST', `${PERFORMANCE}/primary/secondary-token`, { id: 'used' })).status,
    ).toBe(400);
    await primary.v1('POST', 'sys/wrapping/unwrap', { token });
    expect(await secondary.v1('POST', `${PERFORMANCE}/secondary/enable`, { token })).toMatchObject({
      status: 400,
      body: {
        errors: [
          'error response unwrapping secondary token; status code is 400, message is "400 Bad Request"',
        ],
      },
    });
    expect((await primary.status('performance')).known_secondaries).toEqual(['used']);
    const revoked = await primary.v1('POST', `${PERFORMANCE}/primary/revoke-secondary`, {
      id: 'used',
    });
    expect(revoked.status).toBe(204);
    expect((await primary.status('performance')).known_secondaries).toEqual([]);
  });

  test('a token of the other kind, or a forged one, changes nothing', async () => {
    const other = await primary.v1('POST', `${PERFORMANCE}/primary/secondary-token`, { id: 'x' });
    const token = other.body.wrap_info.token as string;
    const refused = await secondary.v1('POST', 'sys/replication/dr/secondary/enable', { token });
    expect(refused.status).toBe(400);
    expect(
      (await secondary.v1('POST', `${PERFORMANCE}/secondary/enable`, { token: 'a.b.c' })).status,
    ).toBe(400);
    expect((await secondary.v1('GET', 'auth/token/lookup-self')).status).toBe(200);
    await primary.v1('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'x' });
  });

  test('a secondary has the shared data, and tokens of its own', async () => {
    await attach('performance', primary, secondary, 'branch');
    await untilEqual('performance', primary, secondary);
    expect((await secondary.v1('GET', 'sys/mounts')).status).toBe(403);
    expect((await secondary.v1('GET', 'sys/mounts', undefined, primary.token)).status).toBe(403);
    secondary.token = await generateRoot(secondary, primary.shares);
    expect(Object.keys((await secondary.v1('GET', 'sys/mounts')).body.data)).toContain('pki/');
    expect((await secondary.v1('GET', 'sys/health', undefined, '')).body).toMatchObject({
      replication_performance_mode: 'secondary',
      replication_dr_mode: 'disabled',
    });
    // Accounts of /api/v2 are shared.
    expect(
      (await secondary.api('GET', 'organizations/acme', undefined, primary.apiToken)).status,
    ).toBe(200);
    expect(await secondary.status('performance')).toMatchObject({
      mode: 'secondary',
      state: 'stream-wals',
      connection_state: 'ready',
      secondary_id: 'branch',
      lag_entries: expect.any(Number),
      resync_records: expect.any(Number),
    });
  });

  test('certificates are issued by the requested cluster, and remain there', async () => {
    const here = await issue(secondary);
    expect(here.status).toBe(200);
    const serial = here.body.data.serial_number as string;
    expect((await secondary.v1('GET', `pki/cert/${serial}`)).status).toBe(200);
    expect((await primary.v1('GET', `pki/cert/${serial}`)).status).toBe(404);
  });

  test('ACME is enabled once the primary has its path, too, and until then the error says so', async () => {
    const enable = () => secondary.v1('POST', 'pki/config/acme', { enabled: true });
    const setPath = (cluster: Cluster) =>
      cluster.v1('POST', 'pki/config/cluster', { path: 'https://ca.example.com/v1/pki' });
    const refusal = {
      status: 400,
      body: {
        errors: [expect.stringContaining('on a performance secondary, also on its primary')],
      },
    };
    expect(await enable()).toMatchObject(refusal);
    expect((await setPath(secondary)).status).toBe(200);
    expect(await enable()).toMatchObject(refusal);
    expect((await setPath(primary)).status).toBe(200);
    expect((await enable()).status).toBe(200);
    expect((await secondary.v1('GET', 'pki/acme/directory')).status).toBe(200);
  });

  test('writes to shared data are made by the primary, and readable at once', async () => {
    const policy = 'path "pki/*" { capabilities = ["read"] }';
    expect((await secondary.v1('POST', 'sys/policies/acl/reader', { policy })).status).toBe(204);
    expect((await secondary.v1('GET', 'sys/policies/acl/reader')).body.data.policy).toBe(policy);
    expect((await primary.v1('GET', 'sys/policies/acl/reader')).body.data.policy).toBe(policy);
    expect((await secondary.v1('POST', 'pki/roles/other', { key_type: 'ec' })).status).toBe(200);
    expect((await secondary.v1('GET', 'pki/roles/other')).status).toBe(200);
    expect((await primary.v1('GET', 'pki/roles/other')).status).toBe(200);
    for (let index = 0; index < 20; index += 1) {
      const name = `made-${index}`;
      const made = await secondary.api(
        'POST',
        'organizations',
        organization(name),
        primary.apiToken,
      );
      expect(made.status).toBe(201);
      const found = await secondary.api(
        'GET',
        `organizations/${name}`,
        undefined,
        primary.apiToken,
      );
      expect(found.status).toBe(200);
    }
    await untilEqual('performance', primary, secondary);
  });

  test('a refusal of the primary is returned unchanged', async () => {
    const refused = await secondary.v1('POST', 'sys/policies/acl/broken', { policy: 'path {' });
    expect(refused.status).toBe(400);
    expect((await secondary.v1('POST', 'sys/rotate')).status).toBe(204);
    expect((await primary.v1('GET', 'sys/key-status')).body.data.term).toBe(2);
  });

  test('local mounts are invisible on the other side', async () => {
    expect(
      (await secondary.v1('POST', 'sys/mounts/mine', { type: 'pki', local: true })).status,
    ).toBe(204);
    expect((await secondary.v1('GET', 'sys/mounts')).body.data['mine/']).toMatchObject({
      local: true,
    });
    expect((await primary.v1('GET', 'sys/mounts')).body.data['mine/']).toBeUndefined();
    expect((await secondary.v1('POST', 'sys/mounts/ours', { type: 'pki' })).status).toBe(204);
    expect((await primary.v1('GET', 'sys/mounts')).body.data['ours/']).toBeDefined();
  });

  test('replication continues after a restart of either side', async () => {
    await secondary.restart('SIGKILL');
    await untilStreaming('performance', secondary);
    await primary.restart('SIGKILL');
    await until(
      () => secondary.v1('POST', 'sys/policies/acl/after', { policy: POLICY }),
      ({ status }) => status === 204,
    );
    expect((await primary.v1('GET', 'sys/policies/acl/after')).status).toBe(200);
    await untilStreaming('performance', secondary);
    await untilEqual('performance', primary, secondary);
  });

  test('an outage of NATS delays, and loses nothing', async () => {
    await nats.process.kill();
    const path = 'sys/policies/acl/meanwhile';
    expect((await primary.v1('POST', path, { policy: POLICY })).status).toBe(204);
    expect((await issue(secondary)).status).toBe(200);
    const refused = await secondary.v1('POST', 'sys/policies/acl/nowhere', { policy: POLICY });
    expect([503, 504]).toContain(refused.status);
    await nats.process.start();
    await until(
      () => secondary.v1('GET', path),
      ({ status }) => status === 200,
    );
    await untilEqual('performance', primary, secondary);
    await untilStreaming('performance', secondary);
  });

  test('each cluster has a history of its own certificates, and both have that of the lag', async () => {
    const series = async (cluster: Cluster, path: string, name: string) =>
      (await cluster.v1('GET', `${path}?window=day`)).body.data.series[name] as readonly (
        | number
        | null
      )[];
    const issuedIn = async (cluster: Cluster) =>
      (await series(cluster, 'pki/history', 'certificates_issued')).reduce<number>(
        (sum, one) => sum + (one ?? 0),
        0,
      );
    const [here, there] = [await issuedIn(primary), await issuedIn(secondary)];
    await issue(secondary);
    expect([await issuedIn(primary), await issuedIn(secondary)]).toEqual([here, there + 1]);
    for (const cluster of [primary, secondary])
      await until(
        () => series(cluster, 'sys/history', 'performance_lag_ms'),
        (lags) => lags.some((lag) => lag !== null),
      );
  });

  test('revocation takes effect at once', async () => {
    await primary.v1('POST', `${PERFORMANCE}/primary/revoke-secondary`, { id: 'branch' });
    const refused = await secondary.v1('POST', 'sys/policies/acl/late', { policy: POLICY });
    expect(refused.status).toBe(403);
    await primary.v1('POST', 'sys/policies/acl/unseen', { policy: POLICY });
    await until(
      () => secondary.status('performance'),
      ({ state, connection_state: connection }) => state === 'idle' && connection !== 'ready',
    );
    expect((await secondary.v1('GET', 'sys/policies/acl/unseen')).status).toBe(404);
    expect((await issue(secondary)).status).toBe(200);
    // Readiness says it, because writes that the primary must decide about are refused from now on.
    await until(
      async () => (await fetch(`${secondary.process().http}/readyz`)).json() as Promise<Ready>,
      ({ impaired }) =>
        impaired?.sys?.some((fault) => fault.startsWith('the performance primary refuses')) ===
        true,
    );
  });

  test('a promoted secondary is an independent primary with its data', async () => {
    const plan = await secondary.v1('POST', `${PERFORMANCE}/secondary/promote`, { dry_run: true });
    expect(plan.body.data.missing_entries).toBeGreaterThan(0);
    expect((await secondary.v1('POST', `${PERFORMANCE}/secondary/promote`)).status).toBe(503);
    const promoted = await secondary.v1('POST', `${PERFORMANCE}/secondary/promote`, {
      force: true,
    });
    expect(promoted.status).toBe(200);
    // No service acts on its former role: nothing goes to the primary that was not demoted.
    const written = await Promise.all([
      secondary.v1('POST', 'pki/roles/own', { key_type: 'ec' }),
      secondary.api('POST', 'organizations', organization('own'), primary.apiToken),
      secondary.v1('POST', 'sys/policies/acl/own', { policy: POLICY }),
    ]);
    expect(written.map(({ status }) => status)).toEqual([200, 201, 204]);
    const elsewhere = await Promise.all([
      primary.v1('GET', 'pki/roles/own'),
      primary.api('GET', 'organizations/own'),
      primary.v1('GET', 'sys/policies/acl/own'),
    ]);
    expect(elsewhere.map(({ status }) => status)).toEqual([404, 404, 404]);
    expect(await secondary.status('performance')).toMatchObject({ mode: 'primary' });
  });

  test('the former primary follows it, and has its data', async () => {
    await primary.v1('POST', `${PERFORMANCE}/primary/demote`);
    const { body } = await primary.v1('POST', `${PERFORMANCE}/secondary/generate-public-key`);
    const issued = await secondary.v1('POST', `${PERFORMANCE}/primary/secondary-token`, {
      id: 'former',
      secondary_public_key: body.data.secondary_public_key,
    });
    const followed = await primary.v1('POST', `${PERFORMANCE}/secondary/update-primary`, {
      token: issued.body.data.token,
    });
    expect(followed.status).toBe(200);
    await untilStreaming('performance', primary);
    await untilEqual('performance', secondary, primary);
    expect((await primary.v1('GET', 'sys/policies/acl/own')).status).toBe(200);
    expect((await primary.v1('GET', 'sys/policies/acl/unseen')).status).toBe(404);
  });
});
