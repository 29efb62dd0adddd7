import { describe, expect, test } from 'vitest';
import { requireNoNewerPrimary } from './software-version.ts';

describe('a cluster of version', () => {
  test.for([
    ['1.0.0', '1.0.1'],
    ['1.2.0', '1.10.0'],
    ['1.2', '1.2.1'],
    ['', '0.1.0'],
  ] as const)('"%s" does not follow a primary of %s', ([here, primary]) => {
    expect(() => requireNoNewerPrimary(primary, here)).toThrow('upgrade the secondary first');
  });

  test.for([
    ['1.0.0', '1.0.0'],
    ['2.0.0', '1.9.9'],
    ['1.2.3-rc.1', '1.2.3'],
    ['0.1.0', ''],
  ] as const)('%s follows a primary of "%s"', ([here, primary]) => {
    expect(() => requireNoNewerPrimary(primary, here)).not.toThrow();
  });
});
