import type { StoredFilter } from '@keelson/replication';
import { expect, test } from 'vitest';
import { effectiveFilter, followMove } from './filter-catalog.ts';

const filter = (mode: 'allow' | 'deny', ...paths: string[]): StoredFilter => ({
  mode,
  paths,
  generation: 'one',
  moved: {},
});

test('a listed mount stays listed when it is moved, and moved again', () => {
  const once = followMove(filter('allow', 'a/'), 'uuid', 'a/', 'b/');
  expect(once?.moved).toEqual({ uuid: 'b/' });
  expect(once && effectiveFilter({ ...once, generation: 'two' }).paths).toEqual(['a/', 'b/']);
  const twice = once && followMove({ ...once, generation: 'two' }, 'uuid', 'b/', 'team/c/');
  expect(twice?.moved).toEqual({ uuid: 'team/c/' });
});

test.for([
  ['out of a denied namespace', filter('deny', 'team/'), 'team/a/', 'a/', true],
  ['into one', filter('deny', 'team/'), 'a/', 'team/a/', true],
  ['within one', filter('deny', 'team/'), 'team/a/', 'team/b/', false],
  ['where nothing is denied', filter('deny', 'team/'), 'a/', 'b/', false],
  ['into an allowed namespace', filter('allow', 'team/'), 'a/', 'team/a/', true],
] as const)('a mount that moves %s changes the filter: %s', ([, given, from, to, changes]) => {
  expect(followMove(given, 'uuid', from, to) !== undefined).toBe(changes);
});
