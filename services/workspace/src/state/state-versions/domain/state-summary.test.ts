import { expect, test } from 'vitest';
import { toOutputType, toStateOutput } from './state-summary.ts';

test.for([
  ['string', 'string'],
  ['number', 'number'],
  ['bool', 'bool'],
  [['list', 'string'], 'array'],
  [['set', 'string'], 'array'],
  [['tuple', ['string']], 'array'],
  [['map', 'string'], 'map'],
  [['object', { a: 'string' }], 'map'],
  [undefined, 'string'],
] as const)('an output of type %j has the coarse type %s', ([type, coarse]) => {
  expect(toOutputType(toStateOutput('name', { type, value: null }))).toBe(coarse);
});
