/** Both sides report a NATS server that is down, and a primary one without room, while they serve requests. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { JetStreamBus } from '@keelson/bus/jetstream';
import { type NatsServer, startNats } from '@keelson/testkit';
import { DISTRIBUTED_SERVICES, ofEachService } from '@keelson/testkit/distributed-cluster';
import {
  attach,
  type Cluster,
  startCluster,
  until,
  untilStreaming,
} from '@keelson/testkit/replication-cluster';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const WITHIN_MS = 120_000;

let nats: NatsServer;
let primary: Cluster;
let branch: Cluster;

beforeAll(async () => {
  nats = await startNats({ jetstream: true });
  [primary, branch] = await Promise.all([startCluster(nats.url), startCluster(nats.url)]);
  await primary.v1('POST', 'sys/replication/performance/primary/enable');
  await attach('performance', primary, branch, 'branch');
}, WITHIN_MS);
afterAll(async () => {
  for (const cluster of [primary, branch]) await cluster?.stop();
  await nats?.[Symbol.asyncDispose]();
}, WITHIN_MS);

const ready = async (cluster: Cluster) => {
  const response = await fetch(`${cluster.process().http}/readyz`);
  const body = (await response.json()) as { readonly impaired?: Record<string, string[]> };
  return { status: response.status, impaired: body.impaired };
};

const untilNats = (cluster: Cluster, isReached: boolean) =>
  until(
    () => cluster.status('performance'),
    ({ nats_connected: isConnected }) => isConnected === isReached,
  );

/** Log lines reach the file a little later. */
const untilLogged = (cluster: Cluster, text: string): Promise<string> =>
  until(
    () => readFile(join(cluster.process().dataFolder, 'keelson.log'), 'utf8'),
    (log) => log.includes(text),
  );

describe('NATS that is down', { timeout: WITHIN_MS }, () => {
  test('is reported by both sides, in log, status, metric and readiness, and so is its return', async () => {
    for (const cluster of [primary, branch])
      expect(await ready(cluster)).toEqual({ status: 200, impaired: undefined });
    await nats.process.kill();
    for (const [cluster, text] of [
      [primary, 'nothing is published to performance secondaries'],
      [branch, 'the NATS server of the performance primary cannot be reached'],
    ] as const) {
      await untilNats(cluster, false);
      const told = [expect.stringContaining(text)];
      const found = await until(
        () => ready(cluster),
        ({ impaired }) => Object.keys(impaired ?? {}).length === DISTRIBUTED_SERVICES.length,
      );
      expect(found).toEqual({ status: 200, impaired: ofEachService(told) });
      await untilLogged(cluster, 'NATS cannot be reached: replication waits for it');
    }
    const { body } = await primary.v1('GET', 'sys/metrics?format=prometheus');
    expect(body).toContain('keelson_replication_nats_connected{kind="performance"} 0\n');
    await nats.process.start();
    await untilStreaming('performance', branch);
    for (const cluster of [primary, branch]) {
      await untilNats(cluster, true);
      await untilLogged(cluster, 'NATS is reachable again');
    }
    const metrics = (await primary.v1('GET', 'sys/metrics?format=prometheus')).body;
    expect(metrics).toContain('keelson_replication_nats_connected{kind="performance"} 1\n');
  });
});

/** The storage of the test's servers is 256 GiB; a stream reserves its limit. */
const ALL_BUT_TOO_LITTLE_BYTES = 255.5 * 1024 ** 3;

test('NATS without room for a stream is reported in log and readiness, and so is the room', {
  timeout: WITHIN_MS,
}, async () => {
  await using full = await startNats({ jetstream: true });
  const bus = new JetStreamBus({ servers: full.url });
  await bus.ensureStream({ stream: 'reserved', maxBytes: ALL_BUT_TOO_LITTLE_BYTES });
  const cluster = await startCluster(full.url);
  try {
    await cluster.v1('POST', 'sys/replication/performance/primary/enable');
    const { status, impaired } = await until(
      () => ready(cluster),
      (found) => Object.keys(found.impaired ?? {}).length === DISTRIBUTED_SERVICES.length,
    );
    const text =
      'nothing is published to performance secondaries: the message bus cannot be used: insufficient storage resources available';
    expect({ status, impaired }).toEqual({ status: 200, impaired: ofEachService([text]) });
    await untilLogged(cluster, 'the log is not published');
    await bus.ensureStream({ stream: 'reserved', maxBytes: 1024 });
    await until(
      () => ready(cluster),
      (found) => found.impaired === undefined,
    );
    await untilLogged(cluster, 'the log is published again');
  } finally {
    await cluster.stop();
    await bus.close();
  }
});
