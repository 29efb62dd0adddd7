import { expect, test } from 'vitest';
import { pauseAfterMs } from './retry.ts';

test('pauses double up to ten minutes, until the last attempt', () => {
  expect([1, 2, 3, 8, 50, 99, 100].map(pauseAfterMs)).toEqual([
    5000,
    10_000,
    20_000,
    600_000,
    600_000,
    600_000,
    undefined,
  ]);
});
