/** `sys/history`: requests and replication of this cluster over the last thirty days. */
import type { Route } from '@keelson/edge';
import { HISTORY_FIELDS, HISTORY_TEXT, toWindow } from '@keelson/history/secrets-api';
import { secretsRoutes } from '@keelson/secrets-api';
import type { ClusterHistory } from './cluster-history.ts';

/** @param grafanaUrl a dashboard with more of them, if there is one */
export const historyRoutes = (
  history: Pick<ClusterHistory, 'report'>,
  grafanaUrl: string | undefined,
): Route[] =>
  secretsRoutes({
    path: '/sys/history',
    tag: 'metrics',
    fields: HISTORY_FIELDS,
    operations: {
      read: {
        summary: 'Requests of this cluster, their durations, and the lag of replication',
        description: `${HISTORY_TEXT} Requests are those of \`/v1\`, \`/api/v2\` and EST. Durations are null without requests. The lag is that of the secondary that is furthest behind, or of this cluster if it is a secondary; null while nothing is replicated. \`grafana_url\` is the setting KEELSON_GRAFANA_URL, absent without it.`,
        handle: async ({ fields }) => ({
          data: {
            ...(await history.report(toWindow(fields.window))),
            ...(grafanaUrl !== undefined && { grafana_url: grafanaUrl }),
          },
        }),
      },
    },
  });
