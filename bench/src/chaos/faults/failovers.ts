/** R2 where each service that a cluster depends on runs on several machines: one is lost or replaced under writes. */
import { setTimeout as delay } from 'node:timers/promises';
import { RedisLeaseStore, toRedisConnection } from '@keelson/locks/redis';
import { ofEachService, startDistributed } from '@keelson/testkit/distributed-cluster';
import {
  startGatewayProxy,
  startNatsCluster,
  startPatroni,
  startPgBouncer,
  startPostgresProxy,
  startSentinelGroup,
} from '@keelson/testkit/high-availability';
import { attach, callsOf, startCluster } from '@keelson/testkit/replication-cluster';
import type { Chaos } from '../chaos.ts';
import { ALL_KINDS, findBrokenPromises, prepare, Writers } from './written.ts';

/** Within which writes are acknowledged again. */
const RECOVERED_WITHIN_MS = 15_000;
/** Time in which the load balancer notices that a gateway is back, before the next one is stopped. */
const NOTICED_WITHIN_MS = 2000;
/** Pause between writes, which bounds their number, as every write is checked at the end. */
const PAUSE_MS = 5;
/** Writes that are acknowledged before and after each change. */
const MORE = 40;

interface Change {
  readonly name: string;
  /** Whether clients may see a refusal or lose a connection. */
  readonly isNoticed: boolean;
  /** Resolves when the change is made, and what else must go on does. */
  readonly make: () => Promise<void>;
  /** Repairs what was lost, once writes go on. */
  readonly repair: () => Promise<void>;
}

const startDependencies = async (stack: AsyncDisposableStack) => {
  const patroni = stack.use(await startPatroni());
  const proxy = stack.use(await startPostgresProxy(patroni.nodes));
  const pooler = stack.use(await startPgBouncer(proxy.port));
  const redis = stack.use(await startSentinelGroup());
  const nats = stack.use(await startNatsCluster());
  return { patroni, pooler, redis, nats };
};

/** workspace knows all servers of PostgreSQL, the others reach it through PgBouncer and HAProxy. */
const startServices = async (
  stack: AsyncDisposableStack,
  { patroni, pooler, redis, nats }: Awaited<ReturnType<typeof startDependencies>>,
) => {
  const settings = {
    NATS_URL: nats.url,
    NATS_REPLICAS: String(nats.servers.length),
    REDIS_SENTINELS: redis.sentinels.join(),
  };
  const cluster = await startDistributed({
    postgres: patroni,
    databaseUrl: (direct, service) =>
      service === 'workspace' ? direct : direct.replace(/@[^/]*/, `@127.0.0.1:${pooler.port}`),
    redisUrl: redis.url,
    name: 'primary',
    replicas: { gateway: 2 },
    settings: ofEachService(settings),
  });
  stack.defer(() => cluster.stop());
  const front = stack.use(await startGatewayProxy(cluster.urls));
  const url = `http://127.0.0.1:${front.port}`;
  return {
    ...cluster,
    ...callsOf(
      () => url,
      () => cluster.token,
      cluster.apiToken,
    ),
  };
};

export const failovers: Chaos = {
  name: 'failovers',
  promise:
    'R2 PostgreSQL (Patroni, PgBouncer), Redis (sentinels), NATS (three servers) and gateways (HAProxy): one is ' +
    'switched over, lost or restarted under writes: nothing acknowledged lost, writes again within 15 s; no request ' +
    'lost by a restart of gateways',
  unit: 'faults',
  counts: { full: 50, short: 5 },
  isApart: true,
  run: async ({ count, patienceMs, isOver, say }) => {
    await using stack = new AsyncDisposableStack();
    const dependencies = await startDependencies(stack);
    const { patroni, redis, nats } = dependencies;
    const primary = await startServices(stack, dependencies);
    const secondary = await startCluster(nats.url);
    stack.defer(() => secondary.stop());
    await prepare(primary);
    await primary.v1('POST', 'sys/replication/dr/primary/enable');
    await attach('dr', primary, secondary, 'secondary');
    const writers = new Writers(primary, 'failover', { kinds: ALL_KINDS, pauseMs: PAUSE_MS });
    const leases = new RedisLeaseStore({
      connection: toRedisConnection({ redisUrl: redis.url, redisSentinels: redis.sentinels }),
    });
    stack.defer(() => leases.close());
    const nothing = async (): Promise<void> => undefined;
    let lost: { start(): Promise<void> } | undefined;
    const restart = async (): Promise<void> => lost?.start();
    let turn = 0;
    const changes: readonly Change[] = [
      {
        name: 'PostgreSQL switched over',
        isNoticed: true,
        make: () => patroni.switchOver(),
        repair: nothing,
      },
      {
        name: 'PostgreSQL primary lost',
        isNoticed: true,
        make: async () => {
          const { process } = await patroni.healthy();
          lost = process;
          await process.kill();
        },
        repair: async () => {
          await restart();
          await patroni.healthy();
        },
      },
      {
        name: 'Redis master lost',
        isNoticed: false,
        make: async () => {
          const { process } = await redis.master();
          lost = process;
          await process.kill();
          const startedAtMs = performance.now();
          const lease = await leases.acquire(
            'trial',
            { ttlMs: 1000 },
            new AbortController().signal,
          );
          slowestLeaseMs = Math.max(slowestLeaseMs, performance.now() - startedAtMs);
          await lease.release();
        },
        repair: restart,
      },
      {
        name: 'NATS server lost',
        isNoticed: false,
        make: async () => {
          const server = nats.servers[turn % nats.servers.length];
          turn += 1;
          lost = server?.process;
          await server?.process.kill();
        },
        repair: restart,
      },
      {
        name: 'gateways restarted in turn',
        isNoticed: false,
        make: async () => {
          for (const gateway of primary.processes.gateway) {
            await gateway.restart();
            await delay(NOTICED_WITHIN_MS);
          }
        },
        repair: nothing,
      },
    ];
    const broken: string[] = [];
    let slowestLeaseMs = 0;
    const slowest = new Map<string, number>();
    for (let round = 0; round < count && !isOver(); round += 1) {
      const change = changes[round % changes.length];
      if (change === undefined) break;
      writers.isDisturbed = false;
      await writers.untilAcknowledged(MORE);
      say(change.name);
      const unknownBefore = writers.ledger.unknown.length;
      writers.isDisturbed = change.isNoticed;
      writers.takeLongestPauseMs();
      await change.make();
      const recoveredMs = await writers.untilAcknowledged(MORE);
      const longestMs = writers.takeLongestPauseMs();
      if (recoveredMs === undefined) {
        broken.push(`no writes after: ${change.name}`);
        break;
      }
      slowest.set(change.name, Math.max(slowest.get(change.name) ?? 0, longestMs));
      if (longestMs > Math.max(RECOVERED_WITHIN_MS, patienceMs))
        broken.push(`${change.name}: no write for ${Math.round(longestMs)} ms`);
      if (!change.isNoticed && writers.ledger.unknown.length > unknownBefore)
        broken.push(`${change.name}: writes were not answered`);
      await change.repair();
    }
    await writers.stop();
    if (slowestLeaseMs > Math.max(RECOVERED_WITHIN_MS, patienceMs))
      broken.push(`no lease for ${Math.round(slowestLeaseMs)} ms`);
    const { ledger } = writers;
    broken.push(...(await findBrokenPromises(writers, primary, secondary)));
    return {
      broken,
      figures: {
        'writes acknowledged': ledger.acknowledged.length,
        'writes with an unknown outcome': ledger.unknown.length,
        'longest until a lease, ms': Math.round(slowestLeaseMs),
        ...Object.fromEntries(
          [...slowest].map(([name, ms]) => [
            `longest without a write, ms: ${name}`,
            Math.round(ms),
          ]),
        ),
      },
    };
  },
};
