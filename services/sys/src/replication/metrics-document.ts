/** Replication for Prometheus, from the status documents: text exposition format 0.0.4. */
import type { JsonObject } from '@keelson/secrets-api';

interface Measure {
  readonly name: string;
  readonly help: string;
  /** Member of a status document, or of an element of its `secondaries`. */
  readonly member: string;
}

const MEASURES: readonly Measure[] = [
  {
    name: 'lag_entries',
    help: 'Log entries of the primary that the secondary has not applied, as far as known.',
    member: 'lag_entries',
  },
  {
    name: 'lag_milliseconds',
    help: 'Age of the newest canary of the primary that the secondary has applied.',
    member: 'lag_ms',
  },
  {
    name: 'resync_records',
    help: 'Records that the newest comparison of the trees made the secondary fetch.',
    member: 'resync_records',
  },
  {
    name: 'resync_bytes',
    help: 'Bytes of the newest comparison of the trees.',
    member: 'resync_bytes',
  },
];
const SHIPPED = 'Bytes that the secondary received since its process started.';

const escape = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const labels = (kind: string, secondary: string): string =>
  `{kind="${kind}",secondary="${escape(secondary)}"}`;

interface Row {
  readonly labels: string;
  readonly document: JsonObject;
  readonly bytes: unknown;
}

const rowsOf = (kind: string, status: JsonObject): readonly Row[] => {
  if (status['mode'] === 'primary')
    return (status['secondaries'] as readonly JsonObject[]).map((document) => ({
      labels: labels(kind, String(document['node_id'])),
      document,
      bytes: document['bytes_shipped'],
    }));
  if (status['mode'] === 'disabled') return [];
  return [
    {
      labels: labels(kind, String(status['secondary_id'])),
      document: status,
      bytes: status['bytes_received'],
    },
  ];
};

/** @param statuses by kind */
export const toMetricsText = (statuses: Readonly<Record<string, JsonObject>>): string => {
  const kinds = Object.entries(statuses);
  const rows = kinds.flatMap(([kind, status]) => rowsOf(kind, status));
  const lines: string[] = [];
  const write = (
    name: string,
    type: string,
    help: string,
    values: readonly (readonly [string, unknown])[],
  ): void => {
    if (values.length === 0) return;
    const full = `keelson_replication_${name}`;
    lines.push(`# HELP ${full} ${help}`, `# TYPE ${full} ${type}`);
    for (const [label, value] of values) lines.push(`${full}${label} ${Number(value)}`);
  };
  for (const { name, help, member } of MEASURES)
    write(
      name,
      'gauge',
      help,
      rows.map((row) => [row.labels, row.document[member]]),
    );
  write(
    'shipped_bytes_total',
    'counter',
    SHIPPED,
    rows.map((row) => [row.labels, row.bytes]),
  );
  write(
    'streaming',
    'gauge',
    '1 while this secondary follows its primary from the stream.',
    kinds
      .filter(([, { mode }]) => mode === 'secondary' || mode === 'bootstrapping')
      .map(([kind, status]) => [
        labels(kind, String(status['secondary_id'])),
        status['state'] === 'stream-wals' && status['connection_state'] === 'ready' ? 1 : 0,
      ]),
  );
  return lines.length === 0 ? '' : `${lines.join('\n')}\n`;
};
