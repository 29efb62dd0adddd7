/**
 * | field    | when it was drawn | entered | stored by now | sent    | conflict |
 * | -------- | ----------------- | ------- | ------------- | ------- | -------- |
 * | alone    | a                 | b       | a             | b       | no       |
 * | other    | a                 | –       | c             | –       | no       |
 * | same     | a                 | b       | b             | –       | no       |
 * | both     | a                 | b       | c             | b       | yes      |
 * | ticked   | false             | true    | false         | true    | no       |
 * | returned | a                 | a       | c             | a       | yes      |
 */
import { expect, test } from 'vitest';
import { compare } from '../src/browser/editing/three-way.ts';

test('stores what a person has entered, unless it is stored, and asks where somebody else has changed it', () => {
  const base = { alone: 'a', other: 'a', same: 'a', both: 'a', ticked: false, returned: 'a' };
  const mine = { alone: 'b', same: 'b', both: 'b', ticked: true, returned: 'a' };
  const theirs = { alone: 'a', other: 'c', same: 'b', both: 'c', ticked: false, returned: 'c' };
  expect(compare(base, mine, theirs)).toEqual({
    changed: { alone: 'b', both: 'b', ticked: true, returned: 'a' },
    conflicts: ['both', 'returned'],
  });
});
