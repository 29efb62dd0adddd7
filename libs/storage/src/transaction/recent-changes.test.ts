import { describe, expect, test } from 'vitest';
import { RecentChanges } from './recent-changes.ts';

describe('recent changes', () => {
  test('know a record and every prefix above it', () => {
    const changes = new RecentChanges(10);
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
    const changes = new RecentChanges(10);
    expect(changes.hasChangedSince('shared/a', 9)).toBe(true);
    changes.add(11, ['shared/a']);
    changes.reset(11);
    expect(changes.hasChangedSince('shared/b', 10)).toBe(true);
    expect(changes.hasChangedSince('shared/a', 11)).toBe(false);
  });

  test('forget the oldest and keep the newest when there are too many', () => {
    const changes = new RecentChanges(0);
    for (let sequence = 1; sequence <= 200_000; sequence += 1)
      changes.add(sequence, [`shared/${sequence}`]);
    expect(changes.hasChangedSince('shared/never', 0)).toBe(true);
    expect(changes.hasChangedSince('shared/200000', 199_999)).toBe(true);
    expect(changes.hasChangedSince('shared/199999', 199_999)).toBe(false);
  });
});
