import { expect, test } from 'vitest';
import example from '../rules.example.json' with { type: 'json' };
import { parseRules } from './rules.ts';

test('the example rules are valid', () => {
  expect(Object.keys(parseRules(JSON.stringify(example)).policies)).toEqual(['web', 'regional']);
});
