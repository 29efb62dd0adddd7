import { expect, test } from 'vitest';
import { countChanges, hasDrift, readApplyCounts } from './plan-summary.ts';

test('counts changes of managed resources, a replacement as two', () => {
  const change = (...actions: string[]) => ({ change: { actions } });
  expect(
    countChanges({
      resource_changes: [
        change('create'),
        change('update'),
        change('delete', 'create'),
        change('no-op'),
        { mode: 'data', ...change('read', 'create') },
        { change: { actions: ['no-op'], importing: { id: 'x' } } },
        { change: { actions: ['no-op'], importing: null } },
      ],
    }),
  ).toEqual({
    'resource-additions': 2,
    'resource-changes': 1,
    'resource-destructions': 1,
    'resource-imports': 1,
  });
});

test.for([
  ['Apply complete! Resources: 2 added, 1 changed, 0 destroyed.', [2, 1, 0, 0]],
  ['Apply complete! Resources: 3 imported, 1 added, 0 changed, 4 destroyed.', [1, 0, 4, 3]],
  ['Destroy complete! Resources: 5 destroyed.', [0, 0, 5, 0]],
  ['Error: it failed', [0, 0, 0, 0]],
] as const)('reads %j', ([line, [additions, changes, destructions, imports]]) => {
  expect(readApplyCounts(`first\n${line}\n\nOutputs:\n`)).toEqual({
    'resource-additions': additions,
    'resource-changes': changes,
    'resource-destructions': destructions,
    'resource-imports': imports,
  });
});

test('reads the last summary, because a program started by the tool may print one too', () => {
  const said = [5, 2].map((added) => `Apply complete! Resources: ${added} added.`);
  expect(readApplyCounts(said.join('\n'))).toMatchObject({ 'resource-additions': 2 });
});

test('distinguishes drift from changes in the configuration', () => {
  const change = { mode: 'managed', change: { actions: ['update'] } };
  expect(hasDrift({ resource_changes: [change] })).toBe(false);
  expect(hasDrift({ resource_drift: [change] })).toBe(true);
});
