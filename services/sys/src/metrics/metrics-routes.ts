/** `sys/metrics`: the Prometheus metrics of this service; the gateway adds its own. */
import type { Route } from '@keelson/edge';
import type { ReplicationKind } from '@keelson/replication';
import { field, type JsonObject, rawResponse, secretsRoutes } from '@keelson/secrets-api';
import { toMetricsText } from '../replication/metrics-document.ts';

export interface MetricsRouteDependencies {
  readonly replicationStatus: (kind: ReplicationKind) => Promise<JsonObject>;
  /** Number of damaged records of each kind. */
  readonly countDamage: () => Promise<readonly (readonly [string, number])[]>;
}

const toDamageMetrics = (counts: readonly (readonly [string, number])[]): string =>
  [
    '# HELP keelson_damaged_records Records that decisions rest on and that cannot be decrypted.\n',
    '# TYPE keelson_damaged_records gauge\n',
    ...counts.map(([kind, count]) => `keelson_damaged_records{kind="${kind}"} ${count}\n`),
  ].join('');

export const metricsRoutes = ({
  replicationStatus,
  countDamage,
}: MetricsRouteDependencies): Route[] =>
  secretsRoutes({
    path: '/sys/metrics',
    tag: 'metrics',
    fields: {
      format: field.string({
        description: '"prometheus".',
        default: 'prometheus',
        check: (value) =>
          value === 'prometheus' || value === ''
            ? undefined
            : `format must be "prometheus", not "${value}"`,
      }),
    },
    operations: {
      read: {
        summary: 'Metrics of damaged records and replication; the gateway adds its own',
        answer: { mediaType: 'text/plain' },
        handle: async () => {
          const text = [
            toDamageMetrics(await countDamage()),
            toMetricsText({
              performance: await replicationStatus('performance'),
              dr: await replicationStatus('dr'),
            }),
          ].join('');
          return rawResponse(200, 'text/plain; version=0.0.4; charset=utf-8', Buffer.from(text));
        },
      },
    },
  });
