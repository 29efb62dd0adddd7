/** R2: the services that a cluster depends on are stopped, frozen, slowed and cut off under writes. */
import { setTimeout as delay } from 'node:timers/promises';
import {
  type FaultProxy,
  type ServerProcess,
  startFaultProxy,
  startNats,
  startPostgres,
  startRedis,
  startS3,
} from '@keelson/testkit';
import { ofEachService, startDistributed } from '@keelson/testkit/distributed-cluster';
import { attach, startCluster } from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import { Random } from '../random.ts';
import { ALL_KINDS, findBrokenPromises, prepare, Writers } from './written.ts';

const FAULT_MS = { least: 500, most: 4000 };
const SLOW_MS = 300;
/** Pause between writes, which bounds their number, as every write is checked at the end. */
const PAUSE_MS = 5;

interface Neighbour {
  readonly name: string;
  readonly process: ServerProcess;
  readonly proxy: FaultProxy;
}

interface Fault {
  readonly name: string;
  readonly begin: (neighbour: Neighbour) => Promise<void> | void;
  readonly end: (neighbour: Neighbour) => Promise<void> | void;
}

const FAULTS: readonly Fault[] = [
  {
    name: 'stopped',
    begin: ({ process }) => process.stop(),
    end: ({ process }) => process.start(),
  },
  { name: 'killed', begin: ({ process }) => process.kill(), end: ({ process }) => process.start() },
  {
    name: 'frozen',
    begin: ({ process }) => process.pause(),
    end: ({ process }) => process.resume(),
  },
  { name: 'slowed', begin: ({ proxy }) => proxy.delay(SLOW_MS), end: ({ proxy }) => proxy.pass() },
  { name: 'stalled', begin: ({ proxy }) => proxy.stall(), end: ({ proxy }) => proxy.pass() },
  { name: 'cut off', begin: ({ proxy }) => proxy.cut(), end: ({ proxy }) => proxy.pass() },
];

export const outages: Chaos = {
  name: 'outages',
  promise:
    'R2 NATS, Redis, PostgreSQL and object storage stopped, killed, frozen, slowed, stalled and cut off under writes: 503 ' +
    'or an answer, recovery without a restart, nothing acknowledged lost, equal Merkle roots',
  unit: 'faults',
  counts: { full: 60, short: 4 },
  run: async ({ count, seed, isOver, say }) => {
    const random = new Random(seed);
    await using stack = new AsyncDisposableStack();
    const nats = stack.use(await startNats({ jetstream: true }));
    const redis = stack.use(await startRedis({ durable: true }));
    const postgres = stack.use(await startPostgres());
    const objects = stack.use(await startS3());
    const proxyOf = async (port: number): Promise<FaultProxy> =>
      stack.use(await startFaultProxy(port));
    const neighbours: readonly Neighbour[] = [
      { name: 'PostgreSQL', process: postgres.process, proxy: await proxyOf(postgres.port) },
      { name: 'Redis', process: redis.process, proxy: await proxyOf(redis.port) },
      { name: 'NATS', process: nats.process, proxy: await proxyOf(nats.port) },
      { name: 'object storage', process: objects.process, proxy: await proxyOf(objects.port) },
    ];
    const [postgresPort = 0, redisPort = 0, natsPort = 0, objectsPort = 0] = neighbours.map(
      ({ proxy }) => proxy.port,
    );
    const natsUrl = `nats://127.0.0.1:${natsPort}`;
    const settings = { NATS_URL: natsUrl };
    const { bucket, accessKeyId, secretAccessKey } = objects.access;
    const workspace = {
      ...settings,
      OBJECT_STORAGE_ENDPOINT: `http://127.0.0.1:${objectsPort}`,
      OBJECT_STORAGE_BUCKET: bucket,
      OBJECT_STORAGE_ACCESS_KEY_ID: accessKeyId,
      OBJECT_STORAGE_SECRET_ACCESS_KEY: secretAccessKey,
      OBJECT_STORAGE_TIMEOUT_SECONDS: '1',
    };
    const primary = await startDistributed({
      postgres,
      databaseUrl: (direct) => Object.assign(new URL(direct), { port: postgresPort }).href,
      redisUrl: `redis://127.0.0.1:${redisPort}`,
      name: 'primary',
      settings: { ...ofEachService(settings), workspace },
    });
    stack.defer(() => primary.stop());
    const secondary = await startCluster(natsUrl);
    stack.defer(() => secondary.stop());
    await prepare(primary);
    await primary.v1('POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, secondary, 'secondary');
    const writers = new Writers(primary, 'outage', {
      kinds: [...ALL_KINDS, 'state'],
      pauseMs: PAUSE_MS,
    });
    const broken: string[] = [];
    let slowest = 0;
    let faults = 0;
    for (let round = 0; round < count && !isOver(); round += 1) {
      // Each neighbour in turn, so that a short run meets all of them.
      const neighbour = neighbours[round % neighbours.length];
      const fault = random.pick(FAULTS);
      if (neighbour === undefined) continue;
      const forMs = FAULT_MS.least + random.below(FAULT_MS.most - FAULT_MS.least);
      say(`${neighbour.name} ${fault.name} for ${forMs} ms`);
      await fault.begin(neighbour);
      await delay(forMs);
      await fault.end(neighbour);
      const recoveredMs = await writers.untilAcknowledged(20);
      if (recoveredMs === undefined) {
        broken.push(`no writes after ${neighbour.name} was ${fault.name} for ${forMs} ms`);
        break;
      }
      slowest = Math.max(slowest, recoveredMs);
      faults += 1;
    }
    await writers.stop();
    const { ledger } = writers;
    broken.push(...(await findBrokenPromises(writers, primary, secondary)));
    return {
      broken,
      figures: {
        faults,
        'writes acknowledged': ledger.acknowledged.length,
        'writes with an unknown outcome': ledger.unknown.length,
        'slowest until 20 more were acknowledged, ms': Math.round(slowest),
      },
    };
  },
};
