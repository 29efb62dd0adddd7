/** Disaster recovery between standalone processes: enabling, responses of a secondary, failover, failback. */
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateOperationToken,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;

let nats: NatsServer;
let a: Cluster;
let b: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [a, b] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
}, WITHIN_MS);
afterAll(async () => {
  await a.stop();
  await b.stop();
  await nats[Symbol.asyncDispose]();
}, WITHIN_MS);

const DR = 'sys/replication/dr';

describe('disaster recovery', { timeout: WITHIN_MS, sequential: true } as object, () => {
  test('a cluster without replication says so to anyone', async () => {
    expect((await a.v1('GET', 'sys/replication/status', undefined, '')).body.data).toEqual({
      dr: { mode: 'disabled' },
      performance: { mode: 'disabled' },
    });
  });

  test('a primary can be enabled once and shows its role', async () => {
    await a.v1('POST', 'sys/policies/acl/reader', {
      policy: 'path "sys/mounts" { capabilities = ["read"] }',
    });
    await a.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    await a.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
    const enabled = await a.v1('POST', `${DR}/primary/enable`, {});
    expect(enabled).toMatchObject({
      status: 200,
      body: {
        data: null,
        warnings: [expect.stringContaining('is being enabled as a primary for replication')],
      },
    });
    expect((await a.v1('POST', `${DR}/primary/enable`, {})).status).toBe(400);
    expect(await a.status('dr')).toMatchObject({
      mode: 'primary',
      state: 'running',
      corrupted_merkle_tree: false,
      known_secondaries: [],
      secondaries: [],
      last_corruption_check_epoch: '-62135596800',
      last_reindex_epoch: '0',
      last_dr_wal: expect.any(Number),
      merkle_root: expect.stringMatching(/^[0-9a-f]{40}$/),
      primary_cluster_addr: '',
      ssct_generation_counter: 0,
    });
  });

  test('a secondary receives everything', async () => {
    await attach('dr', a, b, 'b');
    await untilEqual('dr', a, b);
    const status = await b.status('dr');
    expect(status).toMatchObject({
      mode: 'secondary',
      secondary_id: 'b',
      cluster_id: (await a.status('dr')).cluster_id,
      primary_cluster_addr: nats.url,
      last_remote_wal: expect.any(Number),
      ssct_generation_counter: 0,
    });
    const seen = await until(
      () => a.status('dr'),
      ({ secondaries }) => secondaries.length === 1,
    );
    expect(seen.known_secondaries).toEqual(['b']);
    expect(seen.secondaries[0]).toMatchObject({
      node_id: 'b',
      connection_status: 'connected',
      clock_skew_ms: expect.any(String),
      last_heartbeat_duration_ms: expect.any(String),
      replication_primary_canary_age_ms: expect.any(String),
    });
  });

  test('refuses clients, whatever their token, and reports its role', async () => {
    for (const path of ['sys/mounts', 'pki/ca', 'auth/token/lookup-self'])
      expect(await b.v1('GET', path, undefined, a.token)).toMatchObject({
        status: 400,
        body: { errors: ['path disabled in replication DR secondary mode'] },
      });
    expect((await b.api('GET', 'organizations')).status).toBe(400);
    expect((await b.v1('GET', 'sys/health', undefined, '')).status).toBe(472);
    expect((await b.v1('GET', 'sys/health?drsecondarycode=299', undefined, '')).status).toBe(299);
    expect((await b.v1('GET', 'sys/replication/status')).body.data).toMatchObject({
      dr: { mode: 'secondary' },
      performance: { mode: 'disabled' },
    });
  });

  test('is not promoted without an operation token', async () => {
    expect(await b.v1('POST', `${DR}/secondary/promote`, {})).toMatchObject({
      status: 400,
      body: { errors: ['DR operation token was not provided'] },
    });
    const wrong = { dr_operation_token: a.token };
    expect((await b.v1('POST', `${DR}/secondary/promote`, wrong)).status).toBe(403);
  });

  test('continues after a restart of either side', async () => {
    expect(await b.restart('SIGKILL')).toBeUndefined();
    await a.restart();
    await a.v1('POST', 'sys/mounts/other', { type: 'pki' });
    await untilStreaming('dr', b);
    await untilEqual('dr', a, b);
  });

  test('takes over after the primary was demoted, and serves its data', async () => {
    const token = await generateOperationToken(b, a.shares);
    const plan = await b.v1('POST', `${DR}/secondary/promote`, {
      dr_operation_token: token,
      dry_run: true,
    });
    // The primary has not stepped back: it may commit anything.
    expect(plan.body).toMatchObject({
      data: { safe: false, missing_entries: expect.any(Number), unheard_ms: expect.any(Number) },
      warnings: [expect.stringMatching(/^What the former primary has committed in the last/)],
    });
    expect((await b.status('dr')).mode).toBe('secondary');
    expect((await a.v1('POST', `${DR}/primary/demote`)).status).toBe(200);
    expect(await a.status('dr')).toMatchObject({ mode: 'secondary', state: 'idle' });
    const dryRun = { dr_operation_token: token, dry_run: true };
    const stepsBack = await until(
      () => b.v1('POST', `${DR}/secondary/promote`, dryRun),
      ({ body }) => body.data?.primary_stepped_back === true,
    );
    expect(stepsBack.body.data).toMatchObject({ safe: true, missing_entries: 0 });
    // It knows this without further messages.
    await a.process().stop('SIGKILL');
    await b.restart('SIGKILL');
    const promoted = await until(
      () => b.v1('POST', `${DR}/secondary/promote`, { dr_operation_token: token }),
      ({ status }) => status !== 503,
    );
    expect(promoted).toMatchObject({
      status: 200,
      body: {
        complete: true,
        data: { complete: true },
        warnings: [expect.stringContaining('is being promoted to a replication primary')],
      },
    });
    expect(await b.status('dr')).toMatchObject({ mode: 'primary', known_secondaries: [] });
    b.token = a.token;
    const mounts = await b.v1('GET', 'sys/mounts');
    expect(Object.keys(mounts.body.data)).toEqual(expect.arrayContaining(['pki/', 'other/']));
    expect((await b.v1('LIST', 'pki/issuers', undefined)).body.data.keys).toHaveLength(1);
    expect((await b.v1('GET', 'sys/health')).status).toBe(200);
  });

  test('switches back without clearing anything', async () => {
    await b.v1('POST', 'sys/mounts/third', { type: 'pki' });
    await a.restart();
    const { body } = await a.v1('POST', `${DR}/secondary/generate-public-key`);
    const issued = await b.v1('POST', `${DR}/primary/secondary-token`, {
      id: 'a',
      secondary_public_key: body.data.secondary_public_key,
    });
    expect(issued.body.wrap_info).toBeNull();
    const operation = await generateOperationToken(a, a.shares);
    const followed = await a.v1('POST', `${DR}/secondary/update-primary`, {
      dr_operation_token: operation,
      token: issued.body.data.token,
    });
    expect(followed).toMatchObject({ status: 200 });
    await untilStreaming('dr', a);
    await untilEqual('dr', b, a);
    await b.v1('POST', `${DR}/primary/demote`);
    await until(
      () => a.v1('POST', `${DR}/secondary/promote`, { dr_operation_token: operation }),
      ({ status }) => status === 200,
    );
    expect(Object.keys((await a.v1('GET', 'sys/mounts')).body.data)).toContain('third/');
  });
});
