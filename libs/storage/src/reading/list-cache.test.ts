import { expect, test } from 'vitest';
import { ListCache } from './list-cache.ts';
import { RecentChanges } from './recent-changes.ts';

const CHANGE_BYTES = 1000;

test('a list is valid until something below its prefix changes', () => {
  const changes = new RecentChanges(0, CHANGE_BYTES);
  const lists = new ListCache(changes);
  lists.put('shared/a/', ['1'], 0);
  changes.add(1, ['shared/b/1']);
  expect(lists.find('shared/a/', 1)).toEqual(['1']);
  changes.add(2, ['shared/a/2/x']);
  expect(lists.find('shared/a/', 2)).toBeUndefined();
});

test('a list in use remains cached when older changes no longer are', () => {
  const changes = new RecentChanges(0, CHANGE_BYTES);
  const lists = new ListCache(changes);
  for (const name of ['asked', 'other']) lists.put(`shared/${name}/`, [], 0);
  for (let sequence = 1; sequence <= 50; sequence += 1) {
    changes.add(sequence, [`shared/x/${sequence}`]);
    expect(lists.find('shared/asked/', sequence)).toEqual([]);
  }
  expect(lists.find('shared/other/', 50)).toBeUndefined();
});

test('long lists are not cached, and short ones by use', () => {
  const lists = new ListCache(new RecentChanges(0, CHANGE_BYTES));
  const names = (count: number) => Array.from({ length: count }, (_, at) => `role-${at}`);
  lists.put('shared/long/', names(1000), 0);
  expect(lists.find('shared/long/', 0)).toBeUndefined();
  lists.put('shared/asked/', names(100), 0);
  lists.put('shared/forgotten/', names(100), 0);
  // More than all lists may take together.
  for (let other = 1; other < 1000; other += 1) {
    lists.find('shared/asked/', 0);
    lists.put(`shared/other-${other}/`, names(100), 0);
  }
  expect(lists.find('shared/asked/', 0)).toEqual(names(100));
  expect(lists.find('shared/forgotten/', 0)).toBeUndefined();
});
