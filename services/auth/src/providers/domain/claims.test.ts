import { expect, test } from 'vitest';
import { findClaim } from './claims.ts';

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
