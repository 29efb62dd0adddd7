import { expect, onTestFinished, test, vi } from 'vitest';
import { newResourceId } from './identifiers.ts';
import { parseTimestampMs, toTimestamp } from './timestamp.ts';

test('ids are a prefix and 16 characters that cannot be confused', () => {
  for (let round = 0; round < 1000; round += 1) {
    expect(newResourceId('ws')).toMatch(/^ws-[1-9A-HJ-NP-Za-km-z]{16}$/);
  }
});

test('ids are made in the order of their time, and are never the same', () => {
  vi.useFakeTimers({ now: Date.UTC(2026, 10, 21) });
  onTestFinished(() => void vi.useRealTimers());
  const ids: string[] = [];
  for (let step = 1; step <= 3000; step += 1) {
    ids.push(newResourceId('ws'));
    vi.advanceTimersByTime(1 + step);
  }
  expect(ids.toSorted()).toEqual(ids);
  const atOnce = Array.from({ length: 10_000 }, () => newResourceId('ws'));
  expect(new Set(atOnce).size).toBe(atOnce.length);
});

test.for([
  ['2030-01-02T03:04:05Z', '2030-01-02T03:04:05.000Z'],
  ['2030-01-02T03:04:05.678+02:00', '2030-01-02T01:04:05.678Z'],
  ['2028-02-29T23:59:59-01:00', '2028-03-01T00:59:59.000Z'],
] as const)('timestamps are shown in UTC with milliseconds: %s', ([given, shown]) => {
  expect(toTimestamp(parseTimestampMs(given) ?? 0)).toBe(shown);
});

test.for([
  '',
  '2030-01-02',
  '2030-13-02T03:04:05Z',
  '1700000000',
  '2030-01-02T03:04:05',
  '2030-02-30T03:04:05Z',
  '2030-02-29T03:04:05+02:00',
  '2030-04-31T03:04:05Z',
  '2030-01-00T03:04:05Z',
  '2030-01-02T24:00:00Z',
  '0000-01-01T00:00:00+01:00',
  '9999-12-31T23:59:59-01:00',
])('refuses a time that is not complete, or never was: %s', (text) => {
  expect(parseTimestampMs(text)).toBeUndefined();
});
