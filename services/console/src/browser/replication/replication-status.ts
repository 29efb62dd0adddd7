/** The replication status of the administration API, and its conversion to readable text. */

export type Facts = Readonly<Record<string, unknown>>;

export type Status = Facts & {
  readonly mode?: string;
  readonly secondaries?: readonly Facts[];
  readonly primaries?: readonly Facts[];
};

export type Health = 'good' | 'busy' | 'bad';

const GOOD = ['running', 'stream-wals', 'ready', 'connected'];
const BUSY = ['merkle-diff', 'merkle-sync', 'connecting', 'bootstrapping'];

/** Maps a state, connection state or connection status to its health. */
export const healthOf = (word: unknown): Health => {
  if (GOOD.some((one) => one === word)) return 'good';
  return BUSY.some((one) => one === word) ? 'busy' : 'bad';
};

/** @param ms a number, or its decimal text */
export const formatDuration = (ms: unknown): string => {
  const value = Number(ms);
  if (ms === undefined || ms === null || ms === '' || !Number.isFinite(value)) return '–';
  if (Math.abs(value) < 1000) return `${Math.round(value)} ms`;
  const seconds = value / 1000;
  if (Math.abs(seconds) < 120) return `${seconds.toFixed(1)} s`;
  const minutes = seconds / 60;
  return Math.abs(minutes) < 120 ? `${Math.round(minutes)} min` : `${Math.round(minutes / 60)} h`;
};

export const formatBytes = (bytes: unknown): string => {
  const value = Number(bytes);
  if (bytes === undefined || bytes === null || !Number.isFinite(value)) return '–';
  if (value < 1000) return `${value} B`;
  if (value < 1_000_000) return `${(value / 1000).toFixed(1)} kB`;
  return value < 1_000_000_000
    ? `${(value / 1_000_000).toFixed(1)} MB`
    : `${(value / 1_000_000_000).toFixed(1)} GB`;
};

/** @param time RFC 3339, or epoch seconds as text; 0 or less means never */
export const formatMoment = (time: unknown): string => {
  const text = typeof time === 'string' ? time : '';
  const at = /^-?\d+$/.test(text) ? Number(text) * 1000 : Date.parse(text);
  return Number.isFinite(at) && at > 0
    ? new Date(at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
    : 'never';
};

/** Formats any value in one line. */
export const formatValue = (value: unknown): string => {
  if (value === null || value === undefined || value === '') return '–';
  if (Array.isArray(value)) return value.length === 0 ? '–' : value.map(formatValue).join(', ');
  return typeof value === 'object' ? JSON.stringify(value) : String(value as string | number);
};

/** "lag_ms" as "lag ms". */
export const formatFieldName = (name: string): string => name.replaceAll('_', ' ');

const entries = (count: unknown): string =>
  count === 1 ? '1 entry' : `${formatValue(count)} entries`;

/** Replication lag: entries, and the age of the latest message from the primary. */
export const formatLag = (facts: Facts): string =>
  `${entries(facts['lag_entries'])}, ${formatDuration(facts['lag_ms'])}`;

/** Bytes of the log and of all comparisons, and those of the latest comparison separately. */
export const formatTransfer = (facts: Facts, member: 'bytes_shipped' | 'bytes_received'): string =>
  `${formatBytes(facts[member])}, to catch up last: ${formatBytes(facts['resync_bytes'])}`;

/** The most important facts of a cluster's replication status, as label and text. */
export const mainFacts = (status: Status): readonly (readonly [string, string])[] => [
  ...(status.mode === 'primary'
    ? [
        ['Position', formatValue(status['last_wal'])] as const,
        ['Known secondaries', formatValue(status['known_secondaries'])] as const,
        [
          'Cluster address',
          formatValue(status['primary_cluster_addr'] || 'as configured'),
        ] as const,
      ]
    : [
        ['Behind', formatLag(status)] as const,
        ['Position', formatValue(status['last_remote_wal'])] as const,
        ['Follows as', formatValue(status['secondary_id'])] as const,
        ['Primary at', formatValue(status['known_primary_cluster_addrs'])] as const,
        ['Following since', formatMoment(status['last_start'])] as const,
        ['Received', formatTransfer(status, 'bytes_received')] as const,
      ]),
  ['Merkle root', formatValue(status['merkle_root'])],
  [
    'Trees',
    `${status['corrupted_merkle_tree'] === true ? 'DAMAGED' : 'sound'}; checked: ${formatMoment(status['last_corruption_check_epoch'])}; counted again: ${formatMoment(status['last_reindex_epoch'])}`,
  ],
];
