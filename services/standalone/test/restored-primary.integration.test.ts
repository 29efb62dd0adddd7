/** A primary that is restored from a snapshot: its secondaries become what it is, and no log goes on silently. */
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
import { afterAll, beforeAll, expect, test } from 'vitest';

const WITHIN_MS = 120_000;
const SNAPSHOT = '/v1/sys/storage/raft/snapshot';

let nats: NatsServer;
let primary: Cluster;
let secondary: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, secondary] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
}, WITHIN_MS);
afterAll(async () => {
  await primary?.stop();
  await secondary?.stop();
  await nats?.[Symbol.asyncDispose]();
}, WITHIN_MS);

const writePolicy = async (name: string): Promise<void> => {
  const policy = `path "${name}" { capabilities = ["read"] }`;
  const written = await primary.v1('POST', `sys/policies/acl/${name}`, { policy });
  expect(written.status).toBe(204);
};

const policiesOf = async (cluster: Cluster, token: string): Promise<readonly string[]> =>
  (await cluster.v1('LIST', 'sys/policies/acl', undefined, token)).body.data.keys;

test(
  'its secondaries lose what was written since, follow its new log, and a secondary is not restored',
  async () => {
    const headers = { 'x-service-token': primary.token };
    await primary.v1('POST', 'sys/replication/performance/primary/enable', {});
    await attach('performance', primary, secondary, 'second');
    // A performance secondary has its own tokens.
    const secondaryToken = await generateRoot(secondary, primary.shares);
    await writePolicy('before');
    await untilEqual('performance', primary, secondary);
    const taken = await fetch(`${primary.process().http}${SNAPSHOT}`, { headers });
    const snapshot = new Uint8Array(await taken.arrayBuffer());

    await writePolicy('since-1');
    await writePolicy('since-2');
    await untilEqual('performance', primary, secondary);
    expect(await policiesOf(secondary, secondaryToken)).toContain('since-2');

    const restored = await fetch(`${primary.process().http}${SNAPSHOT}`, {
      method: 'POST',
      headers,
      body: snapshot,
    });
    expect([restored.status, await restored.text()]).toEqual([204, '']);
    await until(
      () => primary.v1('GET', 'sys/policies/acl/before'),
      ({ status }) => status === 200,
    );
    await writePolicy('after');
    await until(
      () => secondary.v1('GET', 'sys/policies/acl/after', undefined, secondaryToken),
      ({ status }) => status === 200,
    );
    await untilStreaming('performance', secondary);
    await untilEqual('performance', primary, secondary);
    for (const [cluster, token] of [
      [primary, primary.token],
      [secondary, secondaryToken],
    ] as const) {
      const names = await policiesOf(cluster, token);
      expect(names).toContain('before');
      expect(names).not.toContain('since-1');
      expect(names).not.toContain('since-2');
    }

    const refused = await fetch(`${secondary.process().http}${SNAPSHOT}`, {
      method: 'POST',
      headers: { 'x-service-token': secondaryToken },
      body: snapshot,
    });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain('this cluster is a performance secondary');
  },
  WITHIN_MS,
);
