import { expect, test } from 'vitest';
import { MESSAGE_RETRIES, pauseAfter, REPOSITORY_RETRIES } from './retries.ts';

test('messages are tried six times in less than three hours', () => {
  const pauses = [1, 2, 3, 4, 5, 6].map((attempts) => pauseAfter(MESSAGE_RETRIES, attempts));
  expect(pauses).toEqual([10_000, 60_000, 360_000, 2_160_000, 7_200_000, undefined]);
});

test('repository work is tried every ten minutes in the end, for about sixteen hours', () => {
  const pauses = Array.from({ length: 100 }, (_, index) =>
    pauseAfter(REPOSITORY_RETRIES, index + 1),
  );
  expect(pauses.slice(0, 3)).toEqual([5_000, 10_000, 20_000]);
  expect(pauses.slice(7, 99)).toEqual(Array.from({ length: 92 }, () => 600_000));
  expect(pauses[99]).toBeUndefined();
  const hours = pauses.reduce<number>((sum, pause) => sum + (pause ?? 0), 0) / 3_600_000;
  expect(Math.round(hours)).toBe(16);
});
