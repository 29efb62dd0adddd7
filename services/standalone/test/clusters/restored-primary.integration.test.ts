/** A snapshot of a primary, restored into another installation, which is unsealed and is that primary from then on. */
import { type NatsServer, startNats } from '@keelson/testkit';
import { type Cluster, startCluster, until } from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, expect, test } from 'vitest';

const SNAPSHOT = '/v1/sys/storage/raft/snapshot';
const KINDS = ['performance', 'dr'] as const;

let nats: NatsServer;
let source: Cluster;
let target: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [source, target] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
});
afterAll(async () => {
  await source?.stop();
  await target?.stop();
  await nats?.[Symbol.asyncDispose]();
});

test('a snapshot of the primary of both sets opens elsewhere with the shares of that primary', async () => {
  for (const kind of KINDS)
    expect((await source.v1('POST', `sys/replication/${kind}/primary/enable`)).status).toBe(200);
  const taken = await fetch(`${source.process().http}${SNAPSHOT}`, {
    headers: { 'X-Service-Token': source.token },
  });
  const snapshot = await taken.bytes();
  await source.process().stop();
  const restored = await fetch(`${target.process().http}${SNAPSHOT}-force`, {
    method: 'POST',
    headers: { 'X-Service-Token': target.token },
    body: snapshot,
  });
  expect(restored.status).toBe(200);
  const { body: sealed } = await target.v1('GET', 'sys/seal-status');
  expect(sealed).toMatchObject({ sealed: true });
  const answers = [];
  for (const key of source.shares.slice(0, sealed.t))
    answers.push(await target.v1('POST', 'sys/unseal', { key }));
  expect(answers.at(-1)).toMatchObject({ status: 200, body: { sealed: false } });
  target.token = source.token;
  for (const kind of KINDS)
    await until(
      () => target.status(kind),
      (status) => status?.mode === 'primary',
    );
  const policy = 'path "a" { capabilities = ["read"] }';
  expect((await target.v1('POST', 'sys/policies/acl/written', { policy })).status).toBe(204);
}, 120_000);
