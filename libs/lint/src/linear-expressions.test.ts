import { describe, expect, test } from 'vitest';
import { superLinearity } from './linear-expressions.ts';

describe('more than linear time is reported', () => {
  test.for([
    [String.raw`^(?:\s+|a)*$`, 'exponential time', String.raw`\s+`],
    ['^(a+)+$', 'exponential time', 'a+'],
    [String.raw`^\s*[+-]?\d*\s*$`, 'polynomial time', String.raw`\s*`],
    [String.raw`\{\{\s*([^{}]+?)\s*\}\}`, 'polynomial time', '[^{}]+?'],
    [String.raw`\{\{.*?\}\}`, 'polynomial time', '.*?'],
    [String.raw`\/+$`, 'polynomial time', String.raw`\/+`],
    [String.raw`\/*$`, 'polynomial time', String.raw`\/*`],
  ] as const)('%s', ([pattern, growth, part]) => {
    expect(superLinearity(pattern, 'g')).toMatch(growth);
    expect(superLinearity(pattern, 'g')).toContain(`\`${part}\``);
  });
});

describe('linear time is not reported', () => {
  test.for([
    [String.raw`(?<!\/)\/+$`, ''],
    [String.raw`^[+-]?\d*$`, ''],
    [String.raw`\{\{[^{}]*\}\}`, 'g'],
    ['={1,2}$', ''],
    ['"(?:[^"\\\\\\n]|\\\\[^\\n])*"', 'y'],
  ] as const)('%s', ([pattern, flags]) => expect(superLinearity(pattern, flags)).toBeUndefined());
});
