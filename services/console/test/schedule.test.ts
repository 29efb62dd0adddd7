import { expect, test } from 'vitest';
import { scheduleOf, stateOf } from '../src/browser/messages/schedule.ts';

const DAY_MS = 86_400_000;
const NOW_MS = Date.parse('2030-06-15T00:00:00Z');
const at = (days: number): string => new Date(NOW_MS + days * DAY_MS).toISOString();

test.for([
  [-1, 1, 'active'],
  [-1, null, 'active'],
  [0, null, 'active'],
  [1, 2, 'scheduled'],
  [-2, -1, 'over'],
  [-2, 0, 'over'],
] as const)('a message from day %s to day %s is %s', ([from, until, state]) => {
  const end = until === null ? null : at(until);
  expect(stateOf({ start_time: at(from), end_time: end }, NOW_MS)).toBe(state);
});

test('the time line holds the moments around now, and cuts what lies beyond', () => {
  const { fromMs, untilMs, bars } = scheduleOf(
    [
      { start_time: at(2), end_time: at(4) },
      { start_time: at(-400), end_time: null },
      { start_time: at(-20), end_time: at(-10) },
      { start_time: at(9000), end_time: null },
      { start_time: at(-900), end_time: at(-800) },
    ],
    NOW_MS,
  );
  expect([fromMs, untilMs]).toEqual([NOW_MS - 21 * DAY_MS, NOW_MS + 5 * DAY_MS]);
  expect(bars).toEqual([
    { fromMs: NOW_MS + 2 * DAY_MS, untilMs: NOW_MS + 4 * DAY_MS },
    { fromMs, untilMs },
    { fromMs: NOW_MS - 20 * DAY_MS, untilMs: NOW_MS - 10 * DAY_MS },
    undefined,
    undefined,
  ]);
});

test('an empty schedule is the day before and after now', () => {
  expect(scheduleOf([], NOW_MS)).toEqual({
    fromMs: NOW_MS - DAY_MS,
    untilMs: NOW_MS + DAY_MS,
    bars: [],
  });
});
