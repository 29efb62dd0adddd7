/** The Go tests of this folder: the published client library, unchanged, against two clusters. */
import { findGoModule, type NatsServer, startNats } from '@keelson/testkit';
import { type KubernetesApi, startKubernetesApi } from '@keelson/testkit/kubernetes-api';
import { DIRECTORY_READER, type Directory, startDirectory } from '@keelson/testkit/ldap-directory';
import { type Cluster, startCluster } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

const client = await findGoModule(import.meta.dirname);

const WITHIN_MS = 300_000;
let nats: NatsServer | undefined;
let clusters: readonly Cluster[] = [];
let kubernetes: KubernetesApi | undefined;
let directory: Directory | undefined;

beforeAll(async () => {
  const { url } = (nats = await startNats({ jetstream: true }));
  kubernetes = await startKubernetesApi();
  directory = await startDirectory();
  kubernetes.reviewers.add('reviewer');
  const near = { KEELSON_OUTBOUND_RANGES: '127.0.0.0/8' };
  clusters = await Promise.all([startCluster(url, near), startCluster(url)]);
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of clusters) await cluster.stop();
  await kubernetes?.stop();
  await directory?.stop();
  await nats?.[Symbol.asyncDispose]();
}, WITHIN_MS);

test('drives the administration, custom messages and both kinds of replication', {
  timeout: WITHIN_MS,
}, async () => {
  const [a, b] = clusters;
  expect(await client.vet()).toBe('');
  const report = await client.test({
    A_ADDRESS: a?.process().http,
    A_TOKEN: a?.token,
    B_ADDRESS: b?.process().http,
    B_TOKEN: b?.token,
    SHARES: a?.shares.join(','),
    DIRECTORY_URL: directory?.url,
    DIRECTORY_READER: DIRECTORY_READER.binddn,
    DIRECTORY_PASSWORD: DIRECTORY_READER.bindpass,
    CLUSTER_URL: kubernetes?.url,
    CLUSTER_CA: kubernetes?.caPem,
    CLUSTER_REVIEWER: 'reviewer',
    CLUSTER_TOKEN: kubernetes?.issue('shop/web', ['keelson']),
  });
  expect(report).toMatch(/^ok\s/m);
  expect(report).not.toContain('FAIL');
});
