import { describe, expect, test } from 'vitest';
import { isBelow, matchesPatterns } from './path-patterns.ts';

describe('a pattern', () => {
  test.for([
    ['**/*.tf', 'main.tf', true],
    ['**/*.tf', 'a/b/main.tf', true],
    ['*.tf', 'a/main.tf', false],
    ['/modules/**', 'modules/a/b', true],
    ['modules/**', 'module/a', false],
    ['a?.tf', 'ab.tf', true],
    ['a?.tf', 'a/.tf', false],
    ['a.tf', 'abtf', false],
    ['a+(b).tf', 'a+(b).tf', true],
    ['**/x/**/*.tf', 'x/main.tf', true],
    // Brackets have no meaning of their own, closed or not.
    ['[', '[', true],
    ['[', 'a', false],
    ['modules[1]/*.tf', 'modules[1]/main.tf', true],
    ['modules[1]/*.tf', 'modules1/main.tf', false],
    ['a[', 'a[', true],
    ['{a,b}.tf', '{a,b}.tf', true],
    ['{a,b}.tf', 'a.tf', false],
  ] as const)('"%s" matches "%s": %s', ([pattern, path, matches]) =>
    expect(matchesPatterns([path], [pattern])).toBe(matches),
  );

  test('takes linear time, however it is written', () => {
    const pattern = `${'*a'.repeat(300)}b`;
    expect(matchesPatterns(['a'.repeat(4000)], [pattern])).toBe(false);
  });
});

test.for([
  ['network', 'network/main.tf', true],
  ['/network/', 'network/main.tf', true],
  ['network', 'network2/main.tf', false],
  ['./network', 'network', true],
  ['/', 'anything', true],
] as const)('the folder "%s" contains "%s": %s', ([folder, path, holds]) =>
  expect(isBelow([path], [folder])).toBe(holds),
);
