import { describe, expect, test } from 'vitest';
import { nextBackupMs, removableBackups } from './backup-schedule.ts';

const HOUR = 3_600_000;

describe('the next backup', () => {
  test.for([
    ['the first is due at once', undefined, undefined, 0],
    ['after a success, an interval later', 100, undefined, 100 + HOUR],
    ['after a failure, five minutes later', undefined, 200, 200 + 300_000],
    ['after a failure since the success, the later of both', 100, HOUR, HOUR + 300_000],
    ['an earlier failure does not matter', 200, 100, 200 + HOUR],
  ] as const)('%s', ([, succeededAtMs, failedAtMs, expected]) =>
    expect(nextBackupMs({ everyMs: HOUR }, { succeededAtMs, failedAtMs })).toBe(expected),
  );

  test('a failure with a shorter interval than the pause is repeated after the interval', () =>
    expect(nextBackupMs({ everyMs: 60_000 }, { succeededAtMs: undefined, failedAtMs: 0 })).toBe(
      60_000,
    ));
});

describe('retention', () => {
  const backups = [3, 1, 4, 2].map((hour) => ({ key: `${hour}`, takenAtMs: hour * HOUR }));
  const removed = (keep: number, keepMs?: number, nowMs = 5 * HOUR) =>
    removableBackups(backups, { keep, keepMs }, nowMs).map(({ key }) => key);

  test('keeps the newest by number', () => expect(removed(2)).toEqual(['1', '2']));
  test('keeps those that are young enough', () => expect(removed(9, 2 * HOUR)).toEqual(['1', '2']));
  test('applies both limits', () => expect(removed(3, 1.5 * HOUR)).toEqual(['1', '2', '3']));
  test('never removes the newest', () => {
    expect(removed(1, 1, 1000 * HOUR)).toEqual(['1', '2', '3']);
    expect(removableBackups([], { keep: 1, keepMs: 1 }, 0)).toEqual([]);
  });
});
