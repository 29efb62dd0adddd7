import { expect, test } from 'vitest';
import { parseSelector, selects } from './namespace-selector.ts';

const expression = (key: string, operator: string, values?: readonly unknown[]) => ({
  matchExpressions: [{ key, operator, ...(values !== undefined && { values }) }],
});

test.for([
  [{}, true],
  [{ matchLabels: { team: 'web' } }, true],
  [{ matchLabels: { team: 'api' } }, false],
  [{ matchLabels: { team: 'web', stage: 'live' } }, false],
  [{ matchLabels: { constructor: 'web' } }, false],
  [expression('team', 'In', ['api', 'web']), true],
  [expression('team', 'NotIn', ['api', 'web']), false],
  [expression('stage', 'NotIn', ['live']), true],
  [expression('team', 'Exists'), true],
  [expression('stage', 'Exists'), false],
  [expression('stage', 'DoesNotExist', []), true],
  [expression('constructor', 'Exists'), false],
  [{ matchLabels: { team: 'web' }, ...expression('team', 'DoesNotExist') }, false],
] as const)('%j selects a namespace of the team web: %j', ([selector, expected]) => {
  const parsed = parseSelector(JSON.stringify(selector));
  expect(parsed && selects(parsed, { team: 'web', tier: '1' })).toBe(expected);
});

test('a namespace without labels is selected only if no label is needed', () => {
  for (const labels of [undefined, null, [], 'team'])
    for (const [operator, expected] of [
      ['Exists', false],
      ['DoesNotExist', true],
    ] as const)
      expect(selects([{ key: 'team', operator, values: [] }], labels)).toBe(expected);
});

test.for([
  '',
  'matchLabels: {team: web}',
  '[]',
  'null',
  '{"matchLabel":{"team":"web"}}',
  '{"matchLabels":[]}',
  '{"matchLabels":{"team":1}}',
  '{"matchExpressions":{}}',
  '{"matchExpressions":[null]}',
  '{"matchExpressions":[{"key":"a","operator":"Like","values":["b"]}]}',
  '{"matchExpressions":[{"key":"a","operator":"In"}]}',
  '{"matchExpressions":[{"key":"a","operator":"Exists","values":["b"]}]}',
  '{"matchExpressions":[{"key":"a","operator":"In","values":[1]}]}',
  '{"matchExpressions":[{"key":"a","operator":"In","value":["b"]}]}',
])('%s is no selector', (text) => expect(parseSelector(text)).toBeUndefined());
