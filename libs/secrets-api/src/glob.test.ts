import { expect, test } from 'vitest';
import { matchesGlob } from './glob.ts';

test.for([
  ['', '', true],
  ['', 'a', false],
  ['*', '', true],
  ['**', 'any', true],
  ['a*', 'a', true],
  ['a*', 'ba', false],
  ['*a', 'ba', true],
  ['*a', 'ab', false],
  ['ab*bc', 'abc', false],
  ['ab*bc', 'abbc', true],
  ['a*b*c', 'a-c-b-c', true],
  ['a*b*c', 'a-c-b', false],
  ['a?c', 'abc', false],
  ['[ab]', 'a', false],
  ['release-*', 'release-1\nmain', true],
] as const)('the pattern %j and the text %j: %j', ([pattern, text, expected]) => {
  expect(matchesGlob(pattern, text)).toBe(expected);
});
