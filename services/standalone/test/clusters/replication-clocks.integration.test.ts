/** Clusters whose clock ran ahead and was corrected, as on a machine that starts before it knows the time. */
import { type NatsServer, shiftedClock, startNats } from '@keelson/testkit';
import {
  attach,
  type Cluster,
  generateRoot,
  startCluster,
  untilEqual,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;
const POLICY = 'path "pki/*" { capabilities = ["read"] }';
const AHEAD_MS = 10 * 60_000;

let nats: NatsServer;
let primary: Cluster;
let branch: Cluster;
let spare: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, branch, spare] = await Promise.all([
    startCluster(nats.url),
    startCluster(nats.url),
    startCluster(nats.url),
  ]);
  for (const kind of ['performance', 'dr'])
    await primary.v1('POST', `sys/replication/${kind}/primary/enable`);
  await attach('performance', primary, branch, 'branch');
  await attach('dr', primary, spare, 'spare');
  branch.token = await generateRoot(branch, primary.shares);
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of [primary, branch, spare]) await cluster?.stop();
  await nats?.[Symbol.asyncDispose]();
}, WITHIN_MS);

const write = async (cluster: Cluster, name: string): Promise<void> => {
  const { status } = await cluster.v1('POST', `sys/policies/acl/${name}`, { policy: POLICY });
  expect(status).toBe(204);
};

/** Writes of the primary arrive on both. */
const untilReplicated = async (name: string): Promise<void> => {
  await write(primary, name);
  for (const [kind, secondary] of [
    ['performance', branch],
    ['dr', spare],
  ] as const) {
    await untilStreaming(kind, secondary);
    await untilEqual(kind, primary, secondary);
  }
};

describe('a clock that ran ahead and was corrected', { timeout: WITHIN_MS }, () => {
  test('does not stop a secondary', async () => {
    for (const secondary of [branch, spare])
      await secondary.restart('SIGINT', shiftedClock(AHEAD_MS));
    await untilReplicated('while-ahead');
    for (const secondary of [branch, spare]) await secondary.restart();
    await untilReplicated('corrected');
    // A forwarded write can be read where it was requested.
    await write(branch, 'forwarded');
    expect((await branch.v1('GET', 'sys/policies/acl/forwarded')).status).toBe(200);
  });

  test('does not stop a primary', async () => {
    await primary.restart('SIGINT', shiftedClock(AHEAD_MS));
    await untilReplicated('primary-ahead');
    await primary.restart();
    await untilReplicated('primary-corrected');
    expect((await branch.v1('GET', 'sys/policies/acl/primary-corrected')).status).toBe(200);
  });
});
