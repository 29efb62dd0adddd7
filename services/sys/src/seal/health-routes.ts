/** `sys/health`, `sys/leader`: what load balancers and operators ask. */

import type { Clock } from '@keelson/clock';
import { edgeResponse, type Route } from '@keelson/edge';
import type { Dialect } from '@keelson/proto/edge/v1/edge';
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
  /** Words of the documents; asked while unsealed only. */
  readonly replicationModes: () => Promise<ReplicationModes>;
  /** Asked while unsealed only. */
  readonly countDamagedPolicies: () => Promise<number>;
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
  drsecondarycode: code('Code of a DR secondary.'),
  performancestandbycode: code('Code of a performance standby.'),
  standbycode: code('Code of a standby.'),
  activecode: code('Code when active.'),
  haunhealthycode: code('Code when the active node cannot be reached.'),
  removedcode: code('Code of a removed node.'),
  standbyok: field.bool({ description: 'A standby answers like an active node.' }),
  perfstandbyok: field.bool({ description: 'A performance standby answers like an active node.' }),
} as const;

export const healthRoutes = (options: HealthRouteOptions): Route[] => {
  const { seal, build, clock } = options;
  const health = async (overrides: HealthOverrides, dialect: Dialect) => {
    const { initialized, sealed, cluster } = await seal.status();
    const modes = sealed ? UNKNOWN : await options.replicationModes();
    const isDrSecondary = modes.dr === 'secondary' || modes.dr === 'bootstrapping';
    const status = decideHealthCode(
      // Every replica is active: reads and writes go to the same store.
      { initialized, sealed, isDrSecondary, isPerformanceStandby: false, isStandby: false },
      overrides,
    );
    const damagedPolicies = sealed ? 0 : await options.countDamagedPolicies();
    const document: JsonObject = {
      initialized,
      sealed,
      standby: false,
      performance_standby: false,
      replication_performance_mode: modes.performance,
      replication_dr_mode: modes.dr,
      server_time_utc: Math.floor(clock.nowMs() / 1000),
      version: dialectRules(dialect).version(build.versions),
      ...(cluster !== undefined && { cluster_name: cluster.name, cluster_id: cluster.id }),
      enterprise: true,
      echo_duration_ms: 0,
      clock_skew_ms: modes.clockSkewMs,
      replication_primary_canary_age_ms: modes.canaryAgeMs,
      ...(damagedPolicies > 0 && { damaged_policies: damagedPolicies }),
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
        handle: ({ fields, dialect }) => health(fields, dialect),
      },
    },
  });

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
          summary: 'Who leads (every replica serves)',
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
