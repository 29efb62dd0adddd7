import { expect, test } from 'vitest';
import { toMetricsText } from './metrics-document.ts';

const HEARD = '2026-11-21T12:00:00Z';
const HEARD_SECONDS = Date.parse(HEARD) / 1000;

const samplesOf = (text: string): readonly string[] =>
  text.split('\n').filter((line) => !line.startsWith('#') && line !== '');

test('a cluster without replication has no metrics', () => {
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
      corrupted_merkle_tree: true,
      primaries: [{ last_heartbeat: HEARD }],
      lag_entries: 3,
      lag_ms: 40,
      resync_records: 5,
      resync_bytes: 600,
      bytes_received: 7000,
    },
    dr: {
      mode: 'primary',
      corrupted_merkle_tree: false,
      secondaries: [
        {
          node_id: 'eu',
          connection_status: 'disconnected',
          last_heartbeat: HEARD,
          lag_entries: 1,
          lag_ms: 61_500,
          resync_records: 0,
          resync_bytes: 9,
          bytes_shipped: 10,
        },
      ],
    },
  });
  expect(text.endsWith('\n')).toBe(true);
  const us = '{kind="performance",secondary="us\\"1"}';
  const eu = '{kind="dr",secondary="eu"}';
  expect(samplesOf(text)).toEqual(
    [
      `lag_entries${us} 3`,
      `lag_entries${eu} 1`,
      `lag_seconds${us} 0.04`,
      `lag_seconds${eu} 61.5`,
      `last_heartbeat_timestamp_seconds${us} ${HEARD_SECONDS}`,
      `last_heartbeat_timestamp_seconds${eu} ${HEARD_SECONDS}`,
      `connected${eu} 0`,
      `streaming${us} 1`,
      `shipped_bytes_total${us} 7000`,
      `shipped_bytes_total${eu} 10`,
      `resync_records${us} 5`,
      `resync_records${eu} 0`,
      `resync_bytes${us} 600`,
      `resync_bytes${eu} 9`,
      'corrupted_merkle_tree{kind="performance"} 1',
      'corrupted_merkle_tree{kind="dr"} 0',
    ].map((sample) => `keelson_replication_${sample}`),
  );
});

test('unknown values are left out, never zero', () => {
  const text = toMetricsText({
    dr: {
      mode: 'secondary',
      secondary_id: 'eu',
      state: 'idle',
      connection_state: 'connecting',
      corrupted_merkle_tree: false,
      primaries: [],
      lag_entries: 0,
      lag_ms: null,
      resync_records: 0,
      resync_bytes: 0,
      bytes_received: 0,
    },
  });
  expect(text).not.toContain('lag_seconds');
  expect(text).not.toContain('heartbeat');
  expect(samplesOf(text)).toContain('keelson_replication_streaming{kind="dr",secondary="eu"} 0');
});

test('names are in base units, and each family has one type and help', () => {
  const secondary = { node_id: 'a', connection_status: 'connected', last_heartbeat: HEARD };
  const text = toMetricsText({
    dr: { mode: 'primary', secondaries: [{ ...secondary, lag_ms: 1, lag_entries: 0 }] },
  });
  const families = text.split('\n').filter((line) => line.startsWith('# TYPE '));
  expect(new Set(families).size).toBe(families.length);
  for (const family of families) {
    const [, , name = '', type] = family.split(' ');
    expect(name.endsWith('_total')).toBe(type === 'counter');
    expect(name).not.toMatch(/milli|_ms|kilo/);
    expect(text).toContain(`# HELP ${name} `);
  }
});
