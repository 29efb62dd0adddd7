import { expect, test } from 'vitest';
import { DEFAULT_ROTATION, isRotationDue } from './rotation-config.ts';

test('the key is due for rotation after max_operations encryptions', () => {
  const config = { ...DEFAULT_ROTATION, maxOperations: 1_000_000 };
  const isDue = (encryptions: number) =>
    isRotationDue(config, { encryptions, installedAtMs: 0 }, 0);
  expect([isDue(999_999), isDue(1_000_000)]).toEqual([false, true]);
});
