import { describe, expect, test } from 'vitest';
import { type ParameterRules, permitsParameters } from './parameter-rules.ts';

const rules = (
  parts: Partial<Record<'allowed' | 'denied', Record<string, unknown[]>>> & { required?: string[] },
): ParameterRules => ({
  required: new Set(parts.required ?? []),
  allowed: parts.allowed && new Map(Object.entries(parts.allowed)),
  denied: parts.denied && new Map(Object.entries(parts.denied)),
});

describe('parameter rules', () => {
  test.for<[string, ParameterRules, Record<string, unknown>, boolean]>([
    ['required and there', rules({ required: ['a'] }), { A: 1 }, true],
    ['required and missing', rules({ required: ['a'] }), { b: 1 }, false],
    ['denied by name', rules({ denied: { a: [] } }), { a: 'x' }, false],
    ['denied by value', rules({ denied: { a: ['x*'] } }), { a: 'xyz' }, false],
    ['another value than the denied', rules({ denied: { a: ['x*'] } }), { a: 'yx' }, true],
    ['denied in any element of a list', rules({ denied: { a: ['x'] } }), { a: ['y', 'x'] }, false],
    ['denied in comma text', rules({ denied: { a: ['x'] } }), { a: 'y, x' }, false],
    ['all denied', rules({ denied: { '*': [] } }), { a: 'x' }, false],
    ['all denied but none sent', rules({ denied: { '*': [] } }), {}, true],
    ['allowed by name', rules({ allowed: { a: [] } }), { a: 'x' }, true],
    ['not among the allowed', rules({ allowed: { a: [] } }), { b: 'x' }, false],
    ['others allowed by *', rules({ allowed: { '*': [], a: ['1'] } }), { b: 'x' }, true],
    [
      '* does not widen a listed name',
      rules({ allowed: { '*': [], a: ['1'] } }),
      { a: '2' },
      false,
    ],
    ['allowed number sent as text', rules({ allowed: { a: ['1'] } }), { a: 1 }, true],
    ['every element allowed', rules({ allowed: { a: ['x', 'y'] } }), { a: ['y', 'x'] }, true],
    ['one element not allowed', rules({ allowed: { a: ['x'] } }), { a: ['x', 'z'] }, false],
    ['whole list allowed', rules({ allowed: { a: [['x', 'y']] } }), { a: ['x', 'y'] }, true],
    ['glob at both ends', rules({ allowed: { a: ['*mid*'] } }), { a: 'amidb' }, true],
    ['empty allowed object', rules({ allowed: {} }), { a: 1 }, true],
  ])('%s', ([, given, parameters, permitted]) => {
    expect(permitsParameters(given, parameters)).toBe(permitted);
  });
});
