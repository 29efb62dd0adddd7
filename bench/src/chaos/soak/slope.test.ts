import { describe, expect, test } from 'vitest';
import { Random } from '../random.ts';
import { type Sample, slopeOf } from './slope.ts';

const samples = (count: number, megabytesAt: (seconds: number) => number): readonly Sample[] =>
  Array.from({ length: count }, (_, index) => ({
    atSeconds: index * 10,
    value: megabytesAt(index * 10),
  }));

/** From -1 to 1. */
const noise = (random: Random): number => random.below(2001) / 1000 - 1;

describe('the slope of memory', () => {
  test('of noise has zero within its interval', () => {
    const random = new Random(7);
    const { perHour, within } = slopeOf(samples(120, () => 80 + noise(random))) ?? {
      perHour: Number.NaN,
      within: Number.NaN,
    };
    expect(Math.abs(perHour)).toBeLessThanOrEqual(within);
  });

  test('of a leak beneath noise is above zero, and the gain is reported', () => {
    const random = new Random(7);
    const leaking = slopeOf(samples(120, (seconds) => 80 + (seconds / 3600) * 12 + noise(random)));
    const { perHour, within, gained } = leaking ?? { perHour: 0, within: 0, gained: 0 };
    expect(perHour - within).toBeGreaterThan(0);
    expect(perHour).toBeCloseTo(12, -1);
    expect(gained).toBeCloseTo((perHour * 1190) / 3600);
  });

  test('of too few samples is not reported', () => {
    expect(slopeOf(samples(23, () => 80))).toBeUndefined();
  });
});
