import { describe, expect, test } from 'vitest';
import { ManualClock } from './clock.ts';

describe('manual clock', () => {
  test('runs due callbacks in order of time, each at its own time', () => {
    const clock = new ManualClock(0);
    const seen: [string, number][] = [];
    clock.after(20, () => seen.push(['second', clock.nowMs()]));
    clock.after(10, () => seen.push(['first', clock.nowMs()]));
    clock.advance(30);
    expect(seen).toEqual([
      ['first', 10],
      ['second', 20],
    ]);
    expect(clock.nowMs()).toBe(30);
  });

  test('runs a timer that a callback sets within the same advance', () => {
    const clock = new ManualClock(0);
    const seen: number[] = [];
    clock.after(10, () => clock.after(10, () => seen.push(clock.nowMs())));
    clock.advance(20);
    expect(seen).toEqual([20]);
  });

  test('does not run a cancelled timer, nor one in the future', () => {
    const clock = new ManualClock(0);
    const seen: string[] = [];
    clock.after(10, () => seen.push('cancelled'))();
    clock.after(31, () => seen.push('future'));
    clock.advance(30);
    expect(seen).toEqual([]);
  });
});
