import type { JsonObject } from '@keelson/secrets-api';
import { type MountRecord, mountPathOf } from '../mounts/domain/mount.ts';
import type { NamespaceTable } from '../namespaces/domain/namespace-table.ts';
import type { PeriodReport, ShownSettings } from './activity-operations.ts';
import {
  type ActiveClient,
  type Counts,
  monthAfter,
  type NamespaceCounts,
  startOfMonth,
  sumOf,
} from './domain/activity-report.ts';

/** How namespaces and mounts are called now. */
export interface Names {
  readonly pathOf: (namespaceId: string) => string;
  readonly mountOf: (accessor: string) => { readonly path: string; readonly type: string };
}

export const namesOf = (table: NamespaceTable, mounts: Iterable<MountRecord>): Names => {
  const known = new Map(
    [...mounts].map((mount) => [mount.accessor, { path: mountPathOf(mount), type: mount.type }]),
  );
  const gone = (path: string) => ({ path, type: '' });
  return {
    pathOf: (id) => table.findById(id)?.path ?? `deleted namespace ${JSON.stringify(id)}`,
    mountOf: (accessor) =>
      known.get(accessor) ??
      gone(
        accessor === ''
          ? 'no mount accessor'
          : `deleted mount; accessor ${JSON.stringify(accessor)}`,
      ),
  };
};

const countsDocument = (counts: Counts): JsonObject => ({
  distinct_entities: counts.entities,
  entity_clients: counts.entities,
  non_entity_tokens: counts.others,
  non_entity_clients: counts.others,
  clients: sumOf(counts),
});

const mountDocument = (accessor: string, counts: Counts, names: Names): JsonObject => {
  const { path, type } = names.mountOf(accessor);
  // Clients of different releases read the path by either name.
  return { path, mount_path: path, mount_type: type, counts: countsDocument(counts) };
};

const namespacesDocument = (found: readonly NamespaceCounts[], names: Names): JsonObject[] =>
  found.map(({ id, counts, mounts }) => ({
    namespace_id: id,
    namespace_path: names.pathOf(id),
    counts: countsDocument(counts),
    mounts: mounts.map((mount) => mountDocument(mount.accessor, mount.counts, names)),
  }));

const timeText = (ms: number): string => new Date(ms).toISOString().replace(/\.000Z$/, 'Z');

const monthDocuments = ({ report }: PeriodReport, names: Names): JsonObject[] =>
  report.months.map(({ month, counts, namespaces, fresh }) => ({
    timestamp: timeText(startOfMonth(month)),
    counts: countsDocument(counts),
    namespaces: namespacesDocument(namespaces, names),
    new_clients: {
      counts: countsDocument(fresh.counts),
      namespaces: namespacesDocument(fresh.namespaces, names),
    },
  }));

/** @param limit of namespaces; 0 means all */
export const activityDocument = (period: PeriodReport, names: Names, limit: number): JsonObject => {
  const { report, first, last } = period;
  const shown = limit === 0 ? report.namespaces : report.namespaces.slice(0, limit);
  return {
    start_time: timeText(startOfMonth(first)),
    end_time: timeText(startOfMonth(monthAfter(last, 1)) - 1000),
    total: countsDocument(report.total),
    by_namespace: namespacesDocument(shown, names),
    months: monthDocuments(period, names),
  };
};

export const monthlyDocument = (period: PeriodReport, names: Names): JsonObject => ({
  ...countsDocument(period.report.total),
  by_namespace: namespacesDocument(period.report.namespaces, names),
  months: monthDocuments(period, names),
});

export const settingsDocument = (settings: ShownSettings): JsonObject => ({
  enabled: settings.enabled === 'default' ? 'default-enabled' : settings.enabled,
  default_report_months: settings.defaultReportMonths,
  retention_months: settings.retentionMonths,
  queries_available: settings.hasReports,
  reporting_enabled: false,
});

export const requestsDocument = (
  found: readonly { readonly month: string; readonly total: number }[],
): JsonObject => ({
  counters: found.map(({ month, total }) => ({
    start_time: timeText(startOfMonth(month)),
    total,
  })),
});

const EXPORTED = [
  'client_id',
  'client_type',
  'namespace_id',
  'namespace_path',
  'mount_accessor',
  'mount_path',
  'mount_type',
  'client_first_usage_time',
] as const;

const exportedClient = (
  client: ActiveClient,
  names: Names,
): Readonly<Record<(typeof EXPORTED)[number], string>> => ({
  client_id: client.id,
  client_type: client.isEntity ? 'entity' : 'non-entity-token',
  namespace_id: client.namespaceId,
  namespace_path: names.pathOf(client.namespaceId),
  mount_accessor: client.mountAccessor,
  mount_path: names.mountOf(client.mountAccessor).path,
  mount_type: names.mountOf(client.mountAccessor).type,
  client_first_usage_time: timeText(Math.floor(client.firstUsedMs / 1000) * 1000),
});

/** RFC 4180. */
const quoted = (text: string): string => `"${text.replaceAll('"', '""')}"`;

/** A line for each client. */
export const exportText = (
  clients: readonly ActiveClient[],
  names: Names,
  format: 'csv' | 'json',
): string => {
  const lines = clients.map((client) => {
    const one = exportedClient(client, names);
    return format === 'json'
      ? JSON.stringify(one)
      : EXPORTED.map((name) => quoted(one[name])).join(',');
  });
  const head = format === 'csv' ? [EXPORTED.join(',')] : [];
  return [...head, ...lines].map((line) => `${line}\n`).join('');
};
