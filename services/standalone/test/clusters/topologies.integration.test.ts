/** A performance primary and its secondary, each with its own DR secondary; each is lost once. */
import { type NatsServer, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateOperationToken,
  generateRoot,
  startCluster,
  until,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 180_000;
const POLICY = 'path "pki/*" { capabilities = ["read"] }';
const PROMOTE = 'sys/replication/dr/secondary/promote';

let nats: NatsServer;
let natsOfDr: NatsServer;
let primary: Cluster;
let primaryDr: Cluster;
let branch: Cluster;
let branchDr: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  natsOfDr = await startNats({ jetstream: true });
  [primary, primaryDr] = await Promise.all([startCluster(nats.url), startCluster(natsOfDr.url)]);
  [branch, branchDr] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of [primary, primaryDr, branch, branchDr]) await cluster.stop();
  await nats[Symbol.asyncDispose]();
  await natsOfDr[Symbol.asyncDispose]();
}, WITHIN_MS);

/** In place of a cluster that was lost: with all of it that arrived. */
const takeOver = async (cluster: Cluster): Promise<void> => {
  const dr_operation_token = await generateOperationToken(cluster, primary.shares);
  const promote = (how: object) => cluster.v1('POST', PROMOTE, { dr_operation_token, ...how });
  const plan = await until(
    () => promote({ dry_run: true }),
    ({ body }) =>
      body.data?.missing_entries === 0 &&
      body.data.services.every(({ state }: { state: string }) => state === 'stream-wals'),
  );
  expect(plan.body.data).toMatchObject({
    primary_stepped_back: false,
    unheard_ms: expect.any(Number),
  });
  expect((await promote({ force: true })).status).toBe(200);
};

describe('a performance primary and a secondary, each with a DR secondary', {
  timeout: WITHIN_MS,
}, () => {
  test('have four roles', async () => {
    await primary.v1('POST', 'sys/mounts/pki', { type: 'pki' });
    await primary.v1('POST', 'pki/root/generate/internal', { common_name: 'Root', key_type: 'ec' });
    await primary.v1('POST', 'pki/roles/web', { allow_any_name: true, key_type: 'ec' });
    await primary.v1('POST', 'sys/replication/performance/primary/enable');
    await primary.v1('POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, primaryDr, 'primary-dr');
    await attach('performance', primary, branch, 'branch');
    branch.token = await generateRoot(branch, primary.shares);
    expect((await branch.v1('POST', 'sys/replication/dr/primary/enable')).status).toBe(200);
    await attach('dr', branch, branchDr, 'branch-dr');
    await untilEqual('performance', primary, branch);
    await untilEqual('dr', primary, primaryDr);
    await untilEqual('dr', branch, branchDr);
    const { body } = await branch.v1('GET', 'sys/replication/status');
    expect(body.data).toMatchObject({
      dr: { mode: 'primary' },
      performance: { mode: 'secondary' },
    });
  });

  test('when the primary is lost, its DR secondary leads the set and the branch follows automatically', async () => {
    await primary.v1('POST', 'sys/policies/acl/before', { policy: POLICY });
    await untilEqual('dr', primary, primaryDr);
    // Heartbeats carry the addresses of clusters that may replace the primary.
    await until(
      () => branch.status('performance'),
      ({ known_primary_cluster_addrs: known }) => known.includes(natsOfDr.url),
    );
    await primary.v1('POST', 'sys/rotate');
    for (let index = 0; index < 10; index += 1)
      await primary.v1('POST', `sys/policies/acl/rotated-${index}`, { policy: POLICY });
    await primary.process().stop('SIGKILL');
    // The new process receives no messages; it uses those that the previous one received.
    await primaryDr.restart();
    await takeOver(primaryDr);
    primaryDr.token = primary.token;
    // Everything that arrived is readable, including records sealed under the primary's newest key.
    const names: string[] = (await primaryDr.v1('LIST', 'sys/policies/acl')).body.data.keys;
    expect(names).toContain('before');
    for (const name of names)
      expect((await primaryDr.v1('GET', `sys/policies/acl/${name}`)).status).toBe(200);
    expect(await primaryDr.status('performance')).toMatchObject({
      mode: 'primary',
      known_secondaries: ['branch'],
    });
    await untilStreaming('performance', branch);
    await untilEqual('performance', primaryDr, branch);
    const made = await until(
      () => branch.v1('POST', 'sys/policies/acl/after', { policy: POLICY }),
      ({ status }) => status === 204,
    );
    expect(made.status).toBe(204);
    expect((await primaryDr.v1('GET', 'sys/policies/acl/after')).status).toBe(200);
    expect((await branch.v1('GET', 'sys/policies/acl/before')).status).toBe(200);
  });

  test('when the branch is lost, its DR secondary replaces it', async () => {
    const issued = await branch.v1('POST', 'pki/issue/web', {
      common_name: 'a.example',
      ttl: '1h',
    });
    const serial = issued.body.data.serial_number as string;
    await untilEqual('dr', branch, branchDr);
    await branch.process().stop('SIGKILL');
    await takeOver(branchDr);
    branchDr.token = branch.token;
    await untilStreaming('performance', branchDr);
    await untilEqual('performance', primaryDr, branchDr);
    expect(await branchDr.status('performance')).toMatchObject({ secondary_id: 'branch' });
    // The branch still has its own data: its tokens and the certificates it issued.
    expect((await branchDr.v1('GET', `pki/cert/${serial}`)).status).toBe(200);
    expect((await branchDr.v1('POST', 'sys/policies/acl/last', { policy: POLICY })).status).toBe(
      204,
    );
    expect((await primaryDr.v1('GET', 'sys/policies/acl/last')).status).toBe(200);
  });
});
