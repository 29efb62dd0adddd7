/** `sys/health`, `sys/leader`: state for load balancers and operators. */

import type { Clock } from '@keelson/clock';
import { edgeResponse, type Route } from '@keelson/edge';
import type { RequestHead } from '@keelson/proto/edge/v1/edge';
import {
  dialectRules,
  field,
  type JsonObject,
  secretsRoutes,
  topLevel,
} from '@keelson/secrets-api';
import { decideHealthCode, type HealthOverrides } from './domain/health.ts';
import type { Seal } from './seal.ts';
import type { Build } from './seal-document.ts';

const TAG = 'health';

export interface ReplicationModes {
  readonly performance: string;
  readonly dr: string;
  readonly canaryAgeMs: number;
  readonly clockSkewMs: number;
}

const UNKNOWN: ReplicationModes = {
  performance: 'unknown',
  dr: 'unknown',
  canaryAgeMs: 0,
  clockSkewMs: 0,
};

export interface HealthRouteOptions {
  readonly seal: Seal;
  readonly build: Build;
  readonly clock: Clock;
  /** In the terms of the API documents; called only while unsealed. */
  readonly replicationModes: () => Promise<ReplicationModes>;
  /** Whether another cluster was promoted in place of this one. */
  readonly isSuperseded: () => Promise<boolean>;
  /** Number of damaged records of each kind; called only while unsealed. */
  readonly countDamage: () => Promise<readonly (readonly [string, number])[]>;
  /** Faults of the store and its disk, in sentences. */
  readonly storeFaults: () => readonly string[];
  readonly startedAtMs: number;
}

const code = (description: string) =>
  field.integer({
    description,
    invalidText: () => 'bad value for a status code',
    check: (value) =>
      value >= 100 && value <= 599 ? undefined : 'a status code is between 100 and 599',
  });

const FIELDS = {
  uninitcode: code('Code when not initialized.'),
  sealedcode: code('Code when sealed.'),
  incompletecode: code('Code when another service or its store cannot be reached.'),
  drsecondarycode: code('Code of a DR secondary.'),
  performancestandbycode: code('Code of a performance standby.'),
  standbycode: code('Code of a standby.'),
  activecode: code('Code when active.'),
  haunhealthycode: code('Code when the active node cannot be reached.'),
  removedcode: code('Code of a removed node.'),
  standbyok: field.bool({ description: 'A standby answers like an active node.' }),
  perfstandbyok: field.bool({ description: 'A performance standby answers like an active node.' }),
} as const;

/** Names of services that cannot serve requests, separated by commas; set by the gateway. */
const UNAVAILABLE_SERVICES = 'x-unavailable-services';

const text = { type: 'string' } as const;
const flag = { type: 'boolean' } as const;
const count = { type: 'integer' } as const;

const HEALTH = {
  document: {
    initialized: flag,
    sealed: flag,
    standby: flag,
    performance_standby: flag,
    replication_performance_mode: text,
    replication_dr_mode: text,
    replication_superseded: {
      ...flag,
      description: 'Present once another cluster was promoted in place of this one.',
    },
    server_time_utc: { ...count, description: 'Unix time.' },
    version: text,
    cluster_name: text,
    cluster_id: text,
    enterprise: flag,
    echo_duration_ms: { type: 'number' },
    clock_skew_ms: { type: 'number' },
    replication_primary_canary_age_ms: { type: 'number' },
    unavailable_services: { type: 'array', items: text },
    damaged_records: { type: 'object', additionalProperties: count },
    store_faults: {
      type: 'array',
      items: text,
      description:
        'Present while the disk of the store is full, or the store or its disk has another fault.',
    },
  },
} as const;

/** By default; a request may ask for others. */
const HEALTH_STATUSES = [429, 472, 473, 501, 503] as const;

/** The codes that a request may choose are statuses of the same content. */
const withAnyStatus = (route: Route): Route => ({
  ...route,
  operation: () => ({
    ...route.operation(),
    responses: {
      ...(route.operation()['responses'] as object),
      default: {
        description: 'The health under a status that the request chose, or a refusal.',
        content: { 'application/json': {} },
      },
    },
  }),
});

const LEADER = {
  document: {
    ha_enabled: flag,
    is_self: flag,
    active_time: text,
    leader_address: text,
    leader_cluster_address: text,
    performance_standby: flag,
    performance_standby_last_remote_wal: count,
  },
} as const;

export const healthRoutes = (options: HealthRouteOptions): Route[] => {
  const { seal, build, clock } = options;
  const health = async (overrides: HealthOverrides, head: RequestHead) => {
    const { initialized, sealed, cluster } = await seal.lastingStatus();
    const modes = sealed ? UNKNOWN : await options.replicationModes();
    const isSuperseded = !sealed && (await options.isSuperseded());
    const isDrSecondary = modes.dr === 'secondary' || modes.dr === 'bootstrapping';
    const unavailable = (head.headers[UNAVAILABLE_SERVICES] ?? '').split(',').filter(Boolean);
    const status = decideHealthCode(
      {
        initialized,
        sealed,
        isIncomplete: unavailable.length > 0,
        isDrSecondary,
        isSuperseded,
        // Every replica is active, because all of them read and write the same store.
        isPerformanceStandby: false,
        isStandby: false,
      },
      overrides,
    );
    const damage = sealed ? [] : (await options.countDamage()).filter(([, count]) => count > 0);
    const storeFaults = options.storeFaults();
    const document: JsonObject = {
      initialized,
      sealed,
      standby: false,
      performance_standby: false,
      replication_performance_mode: modes.performance,
      replication_dr_mode: modes.dr,
      ...(isSuperseded && { replication_superseded: true }),
      server_time_utc: Math.floor(clock.nowMs() / 1000),
      version: dialectRules(head.dialect).version(build.versions),
      ...(cluster !== undefined && { cluster_name: cluster.name, cluster_id: cluster.id }),
      enterprise: true,
      echo_duration_ms: 0,
      clock_skew_ms: modes.clockSkewMs,
      replication_primary_canary_age_ms: modes.canaryAgeMs,
      ...(!sealed && unavailable.length > 0 && { unavailable_services: unavailable }),
      ...(damage.length > 0 && { damaged_records: Object.fromEntries(damage) }),
      ...(storeFaults.length > 0 && { store_faults: storeFaults }),
    };
    return topLevel(document, status);
  };
  const read = secretsRoutes({
    path: '/sys/health',
    tag: TAG,
    fields: FIELDS,
    operations: {
      read: {
        summary: 'Health of this process',
        answer: { ...HEALTH, statuses: HEALTH_STATUSES },
        handle: ({ fields, head }) => health(fields, head),
      },
    },
  }).map((route) => withAnyStatus(route));

  return [
    ...read,
    ...read.map(
      (route): Route => ({
        ...route,
        method: 'HEAD',
        handle: async (exchange) => {
          const answer = await route.handle(exchange);
          return edgeResponse(answer.head.status, { 'cache-control': 'no-store' });
        },
      }),
    ),
    ...secretsRoutes({
      path: '/sys/leader',
      tag: TAG,
      fields: {},
      operations: {
        read: {
          summary: 'Show the leader (every replica serves requests)',
          answer: LEADER,
          handle: () =>
            topLevel({
              ha_enabled: false,
              is_self: true,
              active_time: new Date(options.startedAtMs).toISOString(),
              leader_address: '',
              leader_cluster_address: '',
              performance_standby: false,
              performance_standby_last_remote_wal: 0,
            }),
        },
      },
    }),
  ];
};
