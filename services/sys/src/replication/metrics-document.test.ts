import { expect, test } from 'vitest';
import { toMetricsText } from './metrics-document.ts';

test('a cluster without replication has nothing to measure', () => {
  const disabled = { mode: 'disabled' };
  expect(toMetricsText({ performance: disabled, dr: disabled })).toBe('');
});

test('a primary measures each secondary, a secondary itself', () => {
  const text = toMetricsText({
    performance: {
      mode: 'secondary',
      secondary_id: 'us"1',
      state: 'stream-wals',
      connection_state: 'ready',
      lag_entries: 3,
      lag_ms: 40,
      resync_records: 5,
      resync_bytes: 600,
      bytes_received: 7000,
    },
    dr: {
      mode: 'primary',
      secondaries: [
        {
          node_id: 'eu',
          lag_entries: 1,
          lag_ms: 2,
          resync_records: 0,
          resync_bytes: 9,
          bytes_shipped: 10,
        },
      ],
    },
  });
  expect(text.endsWith('\n')).toBe(true);
  expect(text.split('\n').filter((line) => !line.startsWith('#'))).toEqual([
    'keelson_replication_lag_entries{kind="performance",secondary="us\\"1"} 3',
    'keelson_replication_lag_entries{kind="dr",secondary="eu"} 1',
    'keelson_replication_lag_milliseconds{kind="performance",secondary="us\\"1"} 40',
    'keelson_replication_lag_milliseconds{kind="dr",secondary="eu"} 2',
    'keelson_replication_resync_records{kind="performance",secondary="us\\"1"} 5',
    'keelson_replication_resync_records{kind="dr",secondary="eu"} 0',
    'keelson_replication_resync_bytes{kind="performance",secondary="us\\"1"} 600',
    'keelson_replication_resync_bytes{kind="dr",secondary="eu"} 9',
    'keelson_replication_shipped_bytes_total{kind="performance",secondary="us\\"1"} 7000',
    'keelson_replication_shipped_bytes_total{kind="dr",secondary="eu"} 10',
    'keelson_replication_streaming{kind="performance",secondary="us\\"1"} 1',
    '',
  ]);
});
