import { describe, expect, test } from 'vitest';
import { RecentChanges } from './recent-changes.ts';

const MANY_BYTES = 1_000_000;

describe('recent changes', () => {
  test('contain a record and every prefix above it', () => {
    const changes = new RecentChanges(10, MANY_BYTES);
    changes.add(11, ['shared/a/b']);
    for (const key of ['shared/a/b', 'shared/a/', 'shared/', ''])
      expect([changes.hasChangedSince(key, 10), changes.hasChangedSince(key, 11)]).toEqual([
        true,
        false,
      ]);
    expect(changes.hasChangedSince('shared/a', 10)).toBe(false);
    expect(changes.hasChangedSince('shared/b/', 10)).toBe(false);
  });

  test('count everything from before they began as changed', () => {
    const changes = new RecentChanges(10, MANY_BYTES);
    expect(changes.hasChangedSince('shared/a', 9)).toBe(true);
    changes.add(11, ['shared/a']);
    changes.reset(11);
    expect(changes.hasChangedSince('shared/b', 10)).toBe(true);
    expect(changes.hasChangedSince('shared/a', 11)).toBe(false);
  });

  test('drop the oldest and keep the newest when they take too much memory', () => {
    const changes = new RecentChanges(0, MANY_BYTES);
    for (let sequence = 1; sequence <= 20_000; sequence += 1)
      changes.add(sequence, [`shared/${sequence}`]);
    expect(changes.hasChangedSince('shared/never', 0)).toBe(true);
    expect(changes.hasChangedSince('shared/never', 16_000)).toBe(false);
    expect(changes.hasChangedSince('shared/20000', 19_999)).toBe(true);
    expect(changes.hasChangedSince('shared/19999', 19_999)).toBe(false);
  });

  test('of long paths are fewer', () => {
    const changes = new RecentChanges(0, MANY_BYTES);
    const long = 'x'.repeat(1000);
    for (let sequence = 1; sequence <= 2000; sequence += 1)
      changes.add(sequence, [`shared/${long}${sequence}`]);
    expect(changes.hasChangedSince('shared/never', 1000)).toBe(true);
    expect(changes.hasChangedSince('shared/never', 1600)).toBe(false);
  });

  test('repeated for one record take no more memory', () => {
    const changes = new RecentChanges(0, MANY_BYTES);
    for (let sequence = 1; sequence <= 20_000; sequence += 1) changes.add(sequence, ['shared/a']);
    expect(changes.hasChangedSince('shared/never', 0)).toBe(false);
  });
});
