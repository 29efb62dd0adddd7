import { expect, test } from 'vitest';
import { DEFAULT_WORKSPACE_SETTINGS } from '../../model/domain/workspace.ts';
import { decideRunPermissions, type RunAccessFacts } from './run-access.ts';

const settings = { ...DEFAULT_WORKSPACE_SETTINGS, runtimeVersion: '1.11.4' };
const target = { id: 'ws-2', organizationId: 'org-1', projectId: 'prj-1', settings };
const own = { ...target, id: 'ws-1' };
const facts: RunAccessFacts = {
  grant: { workspaceId: 'ws-1', organizationId: 'org-1', stateVersions: 'read' },
  projectId: 'prj-1',
  target,
  consumerIds: [],
};
const projectWide = { ...settings, projectRemoteState: true };
const organizationWide = { ...settings, globalRemoteState: true };
const applying = { ...facts.grant, stateVersions: 'write' } as const;

test.for([
  ['its own workspace while it plans', { target: own }, 'read'],
  ['its own workspace while it applies', { target: own, grant: applying }, 'write'],
  ['another workspace', {}, 'none'],
  ['another workspace that names its own', { consumerIds: ['ws-3', 'ws-1'] }, 'read'],
  ['one that shares with its project', { target: { ...target, settings: projectWide } }, 'read'],
  [
    'one that shares with another project',
    { target: { ...target, settings: projectWide, projectId: 'prj-2' } },
    'none',
  ],
  [
    'one that shares with another project, and names its own',
    {
      target: { ...target, settings: projectWide, projectId: 'prj-2' },
      consumerIds: ['ws-1'],
    },
    'none',
  ],
  ['one that shares with all', { target: { ...target, settings: organizationWide } }, 'read'],
  [
    'one that shares with all while it applies',
    { target: { ...target, settings: organizationWide }, grant: applying },
    'read',
  ],
  [
    'one that shares with all of another organization',
    { target: { ...target, settings: organizationWide, organizationId: 'org-2' } },
    'none',
  ],
] as const)(
  'the token of a run has the documented access to the state of %s',
  ([, given, state]) => {
    const { canReadStateVersions, canCreateStateVersions, ...others } = decideRunPermissions({
      ...facts,
      ...given,
    });
    expect([canReadStateVersions, canCreateStateVersions]).toEqual([
      state !== 'none',
      state === 'write',
    ]);
    expect([others.canQueueRun, others.canReadVariable, others.canLock]).toEqual([
      false,
      false,
      false,
    ]);
  },
);
