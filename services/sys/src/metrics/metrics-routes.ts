/** `sys/metrics`: what this service tells Prometheus; the gateway adds what it counts itself. */
import type { Route } from '@keelson/edge';
import type { ReplicationKind } from '@keelson/replication';
import { field, type JsonObject, rawResponse, secretsRoutes } from '@keelson/secrets-api';
import type { PolicyBook } from '../policies/policy-book.ts';
import { toMetricsText } from '../replication/metrics-document.ts';

export interface MetricsRouteDependencies {
  readonly replicationStatus: (kind: ReplicationKind) => Promise<JsonObject>;
  readonly policies: () => Promise<PolicyBook>;
}

const toPolicyMetrics = ({ damaged }: PolicyBook): string =>
  [
    '# HELP keelson_damaged_policies Policies whose records cannot be decrypted.\n',
    '# TYPE keelson_damaged_policies gauge\n',
    `keelson_damaged_policies ${damaged.size}\n`,
  ].join('');

export const metricsRoutes = ({ replicationStatus, policies }: MetricsRouteDependencies): Route[] =>
  secretsRoutes({
    path: '/sys/metrics',
    tag: 'metrics',
    fields: { format: field.string({ description: '"prometheus".', default: 'prometheus' }) },
    operations: {
      read: {
        summary: 'Metrics of policies and replication; the gateway adds its own',
        handle: async () => {
          const text = [
            toPolicyMetrics(await policies()),
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
