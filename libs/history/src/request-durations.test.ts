import { expect, test } from 'vitest';
import { DURATION_BOUNDS_MS, durationSlot, quantileMs } from './request-durations.ts';

const countsOf = (durations: readonly number[]): readonly number[] => {
  const counts = Array.from({ length: DURATION_BOUNDS_MS.length + 1 }, () => 0);
  for (const ms of durations) counts[durationSlot(ms)] = (counts[durationSlot(ms)] ?? 0) + 1;
  return counts;
};

test('a duration belongs to the slot of the next bound', () => {
  expect([0, 5, 5.1, 10, 10_000, 10_001].map(durationSlot)).toEqual([0, 0, 1, 1, 9, 10]);
});

test('quantiles are within the slot of the duration', () => {
  expect(quantileMs(countsOf([]), 0.5)).toBeNull();
  const durations = Array.from({ length: 100 }, (_, at) => at + 1);
  expect(quantileMs(countsOf(durations), 0.5)).toBe(50);
  expect(quantileMs(countsOf(durations), 0.95)).toBe(95);
  expect(quantileMs(countsOf([3]), 0.95)).toBe(5);
});

test('nothing is said about durations beyond the last bound', () => {
  expect(quantileMs(countsOf([60_000, 90_000]), 0.95)).toBe(10_000);
});
