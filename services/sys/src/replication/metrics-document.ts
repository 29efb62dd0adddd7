/** Replication metrics for Prometheus, made from the status documents: text exposition format 0.0.4. */
import type { JsonObject } from '@keelson/secrets-api';

/** A secondary as seen by its primary, or by itself. */
interface Row {
  readonly labels: string;
  readonly document: JsonObject;
  /** Status of the cluster at the other end; undefined before the first heartbeat. */
  readonly peer: JsonObject | undefined;
  readonly isSeenByPrimary: boolean;
}

interface Measure {
  readonly name: string;
  readonly type: 'counter' | 'gauge';
  readonly help: string;
  /** Undefined if unknown, or not measured on this side. */
  readonly value: (row: Row) => number | undefined;
}

/** Reads a number of a status document, where unknown values are null. */
const numberOf = (value: unknown): number | undefined =>
  typeof value === 'number' ? value : undefined;

const secondsOf = (milliseconds: number | undefined): number | undefined =>
  milliseconds === undefined ? undefined : milliseconds / 1000;

const flag = (isSo: boolean): number => (isSo ? 1 : 0);

const MEASURES: readonly Measure[] = [
  {
    name: 'lag_entries',
    type: 'gauge',
    help: 'Log entries of the primary that the secondary has not applied, as far as known.',
    value: ({ document }) => numberOf(document['lag_entries']),
  },
  {
    name: 'lag_seconds',
    type: 'gauge',
    help: 'Age of the newest canary of the primary that the secondary has applied, as far as known.',
    value: ({ document }) => secondsOf(numberOf(document['lag_ms'])),
  },
  {
    name: 'last_heartbeat_timestamp_seconds',
    type: 'gauge',
    help: 'When the other side was heard of last.',
    value: ({ peer }) => secondsOf(peer && Date.parse(String(peer['last_heartbeat']))),
  },
  {
    name: 'connected',
    type: 'gauge',
    help: '1 while the primary hears of the secondary; on the primary.',
    value: ({ document, isSeenByPrimary }) =>
      isSeenByPrimary ? flag(document['connection_status'] === 'connected') : undefined,
  },
  {
    name: 'streaming',
    type: 'gauge',
    help: '1 while the secondary follows its primary from the stream; on the secondary.',
    value: ({ document, isSeenByPrimary }) =>
      isSeenByPrimary
        ? undefined
        : flag(document['state'] === 'stream-wals' && document['connection_state'] === 'ready'),
  },
  {
    name: 'shipped_bytes_total',
    type: 'counter',
    help: 'Bytes that the secondary received since it began to follow its primary.',
    value: ({ document, isSeenByPrimary }) =>
      numberOf(document[isSeenByPrimary ? 'bytes_shipped' : 'bytes_received']),
  },
  {
    name: 'resync_records',
    type: 'gauge',
    help: 'Records that the newest comparison of the trees made the secondary fetch.',
    value: ({ document }) => numberOf(document['resync_records']),
  },
  {
    name: 'resync_bytes',
    type: 'gauge',
    help: 'Bytes of the newest comparison of the trees.',
    value: ({ document }) => numberOf(document['resync_bytes']),
  },
];

const escape = (text: string): string =>
  text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');

const labels = (kind: string, secondary: unknown): string =>
  `{kind="${kind}",secondary="${escape(String(secondary))}"}`;

const listOf = (status: JsonObject, member: string): readonly JsonObject[] =>
  status[member] as readonly JsonObject[];

const rowsOf = (kind: string, status: JsonObject): readonly Row[] => {
  if (status['mode'] === 'disabled') return [];
  if (status['mode'] === 'primary')
    return listOf(status, 'secondaries').map((document) => ({
      labels: labels(kind, document['node_id']),
      document,
      peer: document,
      isSeenByPrimary: true,
    }));
  return [
    {
      labels: labels(kind, status['secondary_id']),
      document: status,
      peer: listOf(status, 'primaries')[0],
      isSeenByPrimary: false,
    },
  ];
};

const familyText = (
  { name, type, help }: Pick<Measure, 'name' | 'type' | 'help'>,
  samples: readonly (readonly [string, number | undefined])[],
): string => {
  const full = `keelson_replication_${name}`;
  const lines = samples.flatMap(([labelled, value]) =>
    value === undefined ? [] : [`${full}${labelled} ${value}\n`],
  );
  return lines.length === 0
    ? ''
    : [`# HELP ${full} ${help}\n`, `# TYPE ${full} ${type}\n`, ...lines].join('');
};

const TREES = {
  name: 'corrupted_merkle_tree',
  type: 'gauge',
  help: '1 when the last check found records that are not what the Merkle trees say.',
} as const;

const NATS = {
  name: 'nats_connected',
  type: 'gauge',
  help: '1 while NATS is reached: its own by a primary, that of its primary by a secondary.',
} as const;

/** @param statuses by replication kind */
export const toMetricsText = (statuses: Readonly<Record<string, JsonObject>>): string => {
  const kinds = Object.entries(statuses).filter(([, { mode }]) => mode !== 'disabled');
  const rows = kinds.flatMap(([kind, status]) => rowsOf(kind, status));
  return [
    ...MEASURES.map((measure) =>
      familyText(
        measure,
        rows.map((row) => [row.labels, measure.value(row)]),
      ),
    ),
    familyText(
      NATS,
      kinds.flatMap(([kind, { nats_connected: isConnected }]) =>
        isConnected === undefined
          ? []
          : [[`{kind="${kind}"}`, flag(isConnected === true)] as const],
      ),
    ),
    familyText(
      TREES,
      kinds.map(([kind, status]) => [
        `{kind="${kind}"}`,
        flag(status['corrupted_merkle_tree'] === true),
      ]),
    ),
  ].join('');
};
