import { describe, expect, test } from 'vitest';
import {
  healthOf,
  mainFacts,
  type Status,
  shownBytes,
  shownDuration,
  shownMoment,
  shownValue,
} from '../src/browser/replication/status.ts';
import { hindranceOf } from '../src/browser/session/cluster-health.ts';

test.for([
  [['running', 'stream-wals', 'ready', 'connected'], 'good'],
  [['merkle-diff', 'merkle-sync', 'connecting', 'bootstrapping'], 'busy'],
  [['idle', 'transient_failure', 'shutdown', 'disconnected', '', undefined], 'bad'],
] as const)('%j is %s', ([words, health]) => {
  expect(words.map((word) => healthOf(word))).toEqual(words.map(() => health));
});

test('figures are shown with their units', () => {
  expect(['0', '999', '-4', 1500, 119_000, 600_000, 36_000_000].map(shownDuration)).toEqual([
    '0 ms',
    '999 ms',
    '-4 ms',
    '1.5 s',
    '119.0 s',
    '10 min',
    '10 h',
  ]);
  expect([undefined, '', 'x'].map(shownDuration)).toEqual(['–', '–', '–']);
  expect([999, 1500, 2_500_000, 3_000_000_000, undefined].map(shownBytes)).toEqual([
    '999 B',
    '1.5 kB',
    '2.5 MB',
    '3.0 GB',
    '–',
  ]);
  expect([[], ['a', 'b'], null, '', false, { a: 1 }].map(shownValue)).toEqual([
    '–',
    'a, b',
    '–',
    '–',
    'false',
    '{"a":1}',
  ]);
});

test('what was never done is told so, and no time before 1970 is shown', () => {
  for (const never of ['-62135596800', '0', '', undefined, '1970-01-01T00:00:00Z'])
    expect(shownMoment(never)).toBe('never');
  expect(shownMoment('1795286709')).toContain('2026');
  expect(shownMoment('2026-11-21T18:45:05Z')).toContain('2026');
});

describe('the main facts', () => {
  const factsOf = (status: Status): Readonly<Record<string, string>> =>
    Object.fromEntries(mainFacts(status));

  test('of a secondary begin with how far it is behind', () => {
    const status = { mode: 'secondary', lag_entries: 1, lag_ms: 2100 };
    expect(mainFacts(status)[0]).toEqual(['Behind', '1 entry, 2.1 s']);
  });

  test('tell of damage', () => {
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
] as const)('a cluster that is %j says so before login: %s', ([given, text]) => {
  const open = { initialized: true, sealed: false, replication_dr_mode: 'disabled' };
  const found = hindranceOf({ ...open, ...given });
  expect(found === undefined ? undefined : found.includes(text ?? '')).toBe(
    text === undefined ? undefined : true,
  );
});
