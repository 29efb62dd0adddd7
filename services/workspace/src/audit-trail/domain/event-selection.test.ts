import { expect, test } from 'vitest';
import { actionOf, type ResourceChange, selectEvents } from './event-selection.ts';

const change = (
  type: ResourceChange['type'],
  id: string,
  kind: ResourceChange['change'],
  ...ancestors: string[]
): ResourceChange => ({ type, id, change: kind, ancestors: [...ancestors, 'org-1'] });

const chosen = (path: string, ...changes: ResourceChange[]) =>
  selectEvents(path, changes).map(({ id, action }) => `${action} ${id}`);

test('the action of a path is that of what stands before it', () => {
  expect(actionOf('/workspaces/:workspace_id/actions/force-unlock')).toEqual({
    type: 'workspace',
    action: 'force-unlock',
  });
  expect(actionOf('/workspaces/:workspace_id/relationships/tags')).toBeUndefined();
});

test('an action is recorded with its name, and without what follows from it', () => {
  const run = change('run', 'run-1', 'update', 'ws-1');
  const lock = change('workspace', 'ws-1', 'update');
  expect(chosen('/runs/:run_id/actions/discard', lock, run)).toEqual(['discard run-1']);
  expect(chosen('/workspaces/:workspace_id/actions/lock', lock)).toEqual(['lock ws-1']);
});

test('what is removed by an action is destroyed', () => {
  const removed = change('workspace', 'ws-1', 'destroy');
  expect(chosen('/workspaces/:workspace_id/actions/safe-delete', removed)).toEqual([
    'destroy ws-1',
  ]);
});

test('what begins or ends hides what changes with it and what belongs to it', () => {
  expect(
    chosen(
      '/teams/:team_id',
      change('team_access', 'tws-1', 'destroy', 'team-1'),
      change('team', 'team-1', 'destroy'),
      change('organization_membership', 'ou-1', 'update'),
    ),
  ).toEqual(['destroy team-1']);
});

test('a change of a part hides that of what it belongs to', () => {
  const variable = change('variable', 'var-1', 'update', 'varset-1');
  const set = change('variable_set', 'varset-1', 'update');
  expect(chosen('/varsets/:varset_id/relationships/vars/:variable_id', set, variable)).toEqual([
    'update var-1',
  ]);
});

test('of several changes all are recorded', () => {
  expect(
    chosen(
      '/teams/:team_id/relationships/users',
      change('organization_membership', 'ou-1', 'update'),
      change('organization_membership', 'ou-2', 'update'),
    ),
  ).toEqual(['update ou-1', 'update ou-2']);
});

test('of a removed organization nothing but itself is left to record', () => {
  expect(
    chosen('/organizations/:organization_name', change('project', 'prj-1', 'destroy'), {
      type: 'organization',
      id: 'org-1',
      change: 'destroy',
      ancestors: [],
    }),
  ).toEqual(['destroy org-1']);
});
