import { describe, expect, test } from 'vitest';
import { clusterNodes } from '../src/browser/replication/cluster-nodes.ts';
import {
  formatBytes,
  formatDuration,
  formatMoment,
  formatValue,
  healthOf,
  mainFacts,
  type Status,
} from '../src/browser/replication/replication-status.ts';
import { hindranceOf } from '../src/browser/session/cluster-health.ts';

test.for([
  [['running', 'stream-wals', 'ready', 'connected'], 'good'],
  [['merkle-diff', 'merkle-sync', 'connecting', 'bootstrapping'], 'busy'],
  [['idle', 'transient_failure', 'shutdown', 'disconnected', '', undefined], 'bad'],
] as const)('%j is %s', ([words, health]) => {
  expect(words.map((word) => healthOf(word))).toEqual(words.map(() => health));
});

test('figures are shown with their units', () => {
  expect(['0', '999', '-4', 1500, 119_000, 600_000, 36_000_000].map(formatDuration)).toEqual([
    '0 ms',
    '999 ms',
    '-4 ms',
    '1.5 s',
    '119.0 s',
    '10 min',
    '10 h',
  ]);
  expect([undefined, '', 'x'].map(formatDuration)).toEqual(['–', '–', '–']);
  expect([999, 1500, 2_500_000, 3_000_000_000, undefined].map(formatBytes)).toEqual([
    '999 B',
    '1.5 kB',
    '2.5 MB',
    '3.0 GB',
    '–',
  ]);
  expect([[], ['a', 'b'], null, '', false, { a: 1 }].map(formatValue)).toEqual([
    '–',
    'a, b',
    '–',
    '–',
    'false',
    '{"a":1}',
  ]);
});

test('what was never done is shown as such, and never as a time in 1970', () => {
  for (const never of ['-62135596800', '0', '', undefined, '1970-01-01T00:00:00Z'])
    expect(formatMoment(never)).toBe('never');
  expect(formatMoment('1795286709')).toContain('2026');
  expect(formatMoment('2026-11-21T18:45:05Z')).toContain('2026');
});

describe('the main facts', () => {
  const factsOf = (status: Status): Readonly<Record<string, string>> =>
    Object.fromEntries(mainFacts(status));

  test('of a secondary begin with how far it is behind', () => {
    const status = { mode: 'secondary', lag_entries: 1, lag_ms: 2100 };
    expect(mainFacts(status)[0]).toEqual(['Behind', '1 entry, 2.1 s']);
  });

  test('report damage', () => {
    expect(factsOf({ mode: 'primary', corrupted_merkle_tree: true })['Trees']).toContain('DAMAGED');
    expect(factsOf({ mode: 'primary', corrupted_merkle_tree: false })['Trees']).toContain('sound');
  });
});

test.for([
  [{}, undefined],
  [{ initialized: false, sealed: true }, 'not initialized'],
  [{ sealed: true }, 'sealed'],
  [{ replication_dr_mode: 'secondary' }, 'DR secondary'],
  [{ replication_dr_mode: 'bootstrapping' }, 'DR secondary'],
  [{ replication_dr_mode: 'primary' }, undefined],
  [{ replication_performance_mode: 'bootstrapping' }, 'filled by its primary'],
  [{ replication_performance_mode: 'secondary' }, undefined],
] as const)('a cluster that is %j says so before login: %s', ([given, text]) => {
  const open = {
    initialized: true,
    sealed: false,
    replication_dr_mode: 'disabled',
    replication_performance_mode: 'disabled',
  };
  const found = hindranceOf({ ...open, ...given });
  expect(found === undefined ? undefined : found.includes(text ?? '')).toBe(
    text === undefined ? undefined : true,
  );
});

describe('the clusters that are drawn', () => {
  test('are a primary and its secondaries, with how far these are behind', () => {
    const { primary, secondaries } = clusterNodes({
      mode: 'primary',
      state: 'running',
      ssct_generation_counter: 3,
      secondaries: [
        { node_id: 'west', connection_status: 'connected', lag_entries: 1, lag_ms: 20 },
      ],
    });
    expect(primary).toMatchObject({ name: 'This cluster', role: 'primary, generation 3' });
    expect(secondaries).toMatchObject([{ name: 'west', health: 'good', behind: '1 entry, 20 ms' }]);
  });

  test('are its primary and this cluster, where it follows one', () => {
    const { primary, secondaries } = clusterNodes({
      mode: 'bootstrapping',
      state: 'merkle-sync',
      connection_state: 'ready',
      primaries: [{ cluster_address: 'https://one:8201' }],
    });
    expect(primary).toMatchObject({ name: 'https://one:8201', health: 'good' });
    expect(secondaries).toMatchObject([{ role: 'secondary, being filled', health: 'busy' }]);
  });
});
