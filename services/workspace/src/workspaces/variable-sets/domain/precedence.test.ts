import { describe, expect, test } from 'vitest';
import type { Workspace } from '../../model/domain/workspace.ts';
import { decideEffectiveVariables, type LoadedSet } from './precedence.ts';
import type { VariableSet } from './variable-set.ts';

const workspace = { id: 'ws-1', projectId: 'prj-1' } as Workspace;

const content = (id: string, key: string) => ({
  id,
  key,
  value: id,
  description: null,
  category: 'terraform' as const,
  hcl: false,
  sensitive: false,
  versionId: 'vv-1',
  createdAtMs: 0,
});
const own = (key: string) => ({ ...content('own', key), workspaceId: workspace.id });

/** A set with one variable, whose id is the set's name. */
const setOf = (name: string, values: Partial<VariableSet>, key = 'region'): LoadedSet => ({
  set: {
    id: `varset-${name}`,
    organizationId: 'org-1',
    ownerProjectId: null,
    name,
    description: '',
    global: false,
    priority: false,
    workspaceIds: [],
    projectIds: [],
    variableIds: [name],
    createdAtMs: 0,
    updatedAtMs: 0,
    ...values,
  },
  variables: [{ ...content(name, key), variableSetId: `varset-${name}` }],
});

const toWorkspace = { workspaceIds: ['ws-1'] };
const toProject = { projectIds: ['prj-1'] };
const ofProject = { ownerProjectId: 'prj-1' };
const priority = { priority: true };

const idsOf = (sets: readonly LoadedSet[], key = 'region') =>
  decideEffectiveVariables(workspace, [own(key)], sets).map(({ variable }) => variable.id);

/** The documented order, strongest first. */
const DOCUMENTED: readonly LoadedSet[] = [
  setOf('priority, global', { ...priority, global: true }),
  setOf('priority, project, of the organization', { ...priority, ...toProject }),
  setOf('priority, project, of the project', { ...priority, ...toProject, ...ofProject }),
  setOf('priority, workspace, of the organization', { ...priority, ...toWorkspace }),
  setOf('priority, workspace, of the project', { ...priority, ...toWorkspace, ...ofProject }),
  setOf('workspace, of the project', { ...toWorkspace, ...ofProject }),
  setOf('workspace, of the organization', toWorkspace),
  setOf('project, of the project', { ...toProject, ...ofProject }),
  setOf('project, of the organization', toProject),
  setOf('global', { global: true }),
];

describe('variables that reach a workspace', () => {
  test('have the documented order, whatever the order of the sets', () => {
    const names = DOCUMENTED.map(({ set }) => set.name);
    const expected = [...names.slice(0, 5), 'own', ...names.slice(5)];
    expect(idsOf(DOCUMENTED)).toEqual(expected);
    expect(idsOf(DOCUMENTED.toReversed())).toEqual(expected);
  });

  test('of one scope are ordered by name, by code point', () => {
    const sets = ['b', '\u{1F600}', 'a', '\uFF5E', 'B'].map((name) => setOf(name, toWorkspace));
    expect(idsOf(sets)).toEqual(['own', 'B', 'a', 'b', '\uFF5E', '\u{1F600}']);
  });

  test('are used once for each key and category, and show what overwrites what', () => {
    const sets = [
      setOf('strong', { ...priority, ...toWorkspace }),
      setOf('weak', toWorkspace),
      setOf('other', toWorkspace, 'zone'),
    ];
    const found = decideEffectiveVariables(workspace, [own('region')], sets);
    const told = found.map(({ variable, overwriterId, overwrittenIds }) => [
      variable.id,
      overwriterId,
      overwrittenIds,
    ]);
    expect(told).toEqual([
      ['strong', null, ['own', 'weak']],
      ['own', 'strong', []],
      ['other', null, []],
      ['weak', 'strong', []],
    ]);
  });

  test('belong to sets that apply to it', () => {
    const sets = [
      setOf('other workspace', { workspaceIds: ['ws-2'] }),
      setOf('other project', { projectIds: ['prj-2'] }),
      // The workspace has been moved out of the project that owns the set.
      setOf('of another project', { ownerProjectId: 'prj-2', ...toWorkspace }),
    ];
    expect(idsOf(sets)).toEqual(['own']);
  });

  test('have the scope in which their set has the highest precedence', () => {
    const both = { ...toWorkspace, ...toProject };
    const sets = [setOf('z', both), setOf('a', toProject), setOf('m', { ...priority, ...both })];
    expect(idsOf([...sets, setOf('l', { ...priority, ...toWorkspace })])).toEqual([
      'm',
      'l',
      'own',
      'z',
      'a',
    ]);
  });
});
