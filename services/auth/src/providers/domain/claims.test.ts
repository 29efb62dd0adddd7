import { expect, test } from 'vitest';
import { findClaim, matchesGlob } from './claims.ts';

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

test.for([
  ['a', 1],
  ['/a', 1],
  ['/list/1/name', 'b'],
  ['/list/length', undefined],
  ['/list/name', undefined],
  ['/text/0', undefined],
  ['/with~1slash/~0', 'tilde'],
  ['with/slash', { '~': 'tilde' }],
  ['/', 'empty'],
  ['nothing', undefined],
  ['constructor', undefined],
  ['/constructor/name', undefined],
  ['__proto__', undefined],
] as const)('the claim %j is %j', ([claim, expected]) => {
  const claims = {
    a: 1,
    list: [{ name: 'a' }, { name: 'b' }],
    text: 'text',
    'with/slash': { '~': 'tilde' },
    '': 'empty',
    nothing: null,
  };
  expect(findClaim(claims, claim)).toEqual(expected);
});
