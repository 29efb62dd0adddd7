/** `sys/internal/counters`: clients of the cluster by month, namespace and mount, and other counts. */
import type { Route } from '@keelson/edge';
import { field, rawResponse, secretsRoutes } from '@keelson/secrets-api';
import {
  activityDocument,
  exportText,
  monthlyDocument,
  namesOf,
  requestsDocument,
  settingsDocument,
} from './activity-document.ts';
import {
  type ActivityReportContext,
  changeActivitySettings,
  countAllEntities,
  countServiceTokens,
  exportClients,
  readActivitySettings,
  reportMonth,
  reportPeriod,
  requestsByMonth,
} from './activity-operations.ts';

const TAG = 'counters';
const BASE = '/sys/internal/counters';

const PERIOD = {
  start_time: field.time({
    description:
      'Time in the first month, RFC 3339 or epoch seconds; default_report_months before the last one if it is not given.',
  }),
  end_time: field.time({
    description: 'Time in the last month; that before the present one if it is not given.',
  }),
} as const;

const namesIn = async ({ namespaces, mounts }: ActivityReportContext) =>
  namesOf(await namespaces(), (await mounts()).all());

const counter = (name: string, total: number) => ({
  data: { counters: { [name]: { total } } },
});

const activityRoutes = (context: ActivityReportContext): Route[] => [
  ...secretsRoutes({
    path: `${BASE}/activity`,
    tag: TAG,
    fields: {
      ...PERIOD,
      limit_namespaces: field.integer({
        description: 'Number of namespaces in by_namespace, those with most clients; 0 for all.',
        default: 0,
        check: (limit) => (limit >= 0 ? undefined : 'limit_namespaces cannot be negative'),
      }),
      current_billing_period: field.bool({
        description: 'Whether the period ends now.',
        default: false,
      }),
    },
    operations: {
      read: {
        summary: 'Clients of a period, by namespace, mount and month',
        handle: async ({ namespace, fields }) => {
          const period = await reportPeriod(context, namespace.path, {
            startMs: fields.start_time?.epochMs,
            endMs: fields.end_time?.epochMs,
            untilNow: fields.current_billing_period,
          });
          const names = await namesIn(context);
          return { data: activityDocument(period, names, fields.limit_namespaces) };
        },
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/activity/monthly`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Clients of this month until now',
        handle: async ({ namespace }) => ({
          data: monthlyDocument(await reportMonth(context, namespace.path), await namesIn(context)),
        }),
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/activity/export`,
    tag: TAG,
    fields: {
      ...PERIOD,
      format: field.string({
        description: '"json", one document in each line, or "csv".',
        default: 'json',
        check: (format) =>
          format === 'json' || format === 'csv' ? undefined : 'format is "json" or "csv"',
      }),
    },
    operations: {
      read: {
        summary: 'The clients of a period',
        answer: { mediaType: 'text/plain' },
        handle: async ({ namespace, fields }) => {
          const clients = await exportClients(context, namespace.path, {
            startMs: fields.start_time?.epochMs,
            endMs: fields.end_time?.epochMs,
            untilNow: false,
          });
          const format = fields.format === 'csv' ? 'csv' : 'json';
          const text = exportText(clients, await namesIn(context), format);
          return rawResponse(200, 'text/plain; charset=utf-8', Buffer.from(text), {
            'cache-control': 'no-store',
            'content-disposition': `attachment; filename="activity_export.${format}"`,
          });
        },
      },
    },
  }),
];

const settingsRoutes = (context: ActivityReportContext): Route[] =>
  secretsRoutes({
    path: `${BASE}/config`,
    tag: TAG,
    hasSettings: true,
    fields: {
      enabled: field.string({
        description:
          '"enable", "disable" or "default", which counts. Clients of this month are discarded when counting ends.',
        maxLength: 16,
      }),
      default_report_months: field.integer({
        description: 'Months of a report whose start_time is not given; 12 at first.',
      }),
      retention_months: field.integer({
        description: 'Months for which clients are kept; 24 at first.',
      }),
    },
    operations: {
      read: {
        summary: 'Read whether clients are counted',
        handle: async () => ({ data: settingsDocument(await readActivitySettings(context)) }),
      },
      update: {
        summary: 'Set whether clients are counted; parameters that are not given stay as they are',
        handle: async ({ fields }) => {
          await changeActivitySettings(context, fields);
          return undefined;
        },
      },
    },
  });

export const counterRoutes = (context: ActivityReportContext): Route[] => [
  ...activityRoutes(context),
  ...settingsRoutes(context),
  ...secretsRoutes({
    path: `${BASE}/entities`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Number of entities in all namespaces',
        handle: async () => counter('entities', await countAllEntities(context)),
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/tokens`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Number of service tokens in all namespaces',
        handle: async () => counter('service_tokens', await countServiceTokens(context)),
      },
    },
  }),
  ...secretsRoutes({
    path: `${BASE}/requests`,
    tag: TAG,
    fields: {},
    operations: {
      read: {
        summary: 'Requests with a token, by month',
        handle: async () => ({ data: requestsDocument(await requestsByMonth(context)) }),
      },
    },
  }),
];
