import { describe, expect, test } from 'vitest';
import { type CallerAccess } from '../../../identity/access/domain/caller-access.ts';
import { decideOrganizationPermissions } from '../../../identity/access/domain/organization-permissions.ts';
import {
  NO_ORGANIZATION_ACCESS,
  ORGANIZATION_TOKEN_ACCESS,
  type OrganizationAccess,
  uniteOrganizationAccess,
} from '../../../identity/model/domain/organization-access.ts';
import { toOrganizationRights } from './organization-rights.ts';
import { decideProjectPermissions } from './project-permissions.ts';
import {
  LEAST_CUSTOM_PROJECT_GRANT,
  LEAST_CUSTOM_RIGHTS,
  toProjectGrant,
  toRightsInProject,
  toWorkspaceRights,
} from './team-grants.ts';
import { decideWorkspacePermissions } from './workspace-permissions.ts';
import {
  ADMIN_RIGHTS,
  FULL_RIGHTS,
  NO_RIGHTS,
  READ_RIGHTS,
  type WorkspaceRights,
  WRITE_RIGHTS,
} from './workspace-rights.ts';

const held = (flags: object): string[] =>
  Object.entries(flags).flatMap(([name, isHeld]) => (isHeld === true ? [name] : []));

const granted = (rights: WorkspaceRights, allowDestroyPlan = true): string[] =>
  held(
    decideWorkspacePermissions({
      rights,
      isOwner: false,
      adminsMayForceDelete: false,
      allowDestroyPlan,
    }),
  ).toSorted();

const SEEN = ['canReadAssessmentResults', 'canReadRun', 'canReadSettings'];
const READ = [...SEEN, 'canReadStateOutputs', 'canReadStateVersions', 'canReadVariable'];
const PLAN = [...READ, 'canQueueRun'];
const WRITE = [
  ...PLAN,
  'canQueueApply',
  'canQueueDestroy',
  'canUpdateVariable',
  'canCreateStateVersions',
  'canLock',
  'canUnlock',
];
const ADMIN = [
  ...WRITE,
  'canUpdate',
  'canDestroy',
  'canForceUnlock',
  'canManageTags',
  'canManageRunTasks',
  'canManageAssessments',
  'canManageEphemeralWorkspaces',
];

describe('access to a workspace', () => {
  test.for([
    ['read', READ],
    ['plan', PLAN],
    ['write', WRITE],
    ['admin', ADMIN],
  ] as const)('at level %s grants what that level has', ([level, permissions]) => {
    const rights = toWorkspaceRights(level, LEAST_CUSTOM_RIGHTS);
    expect(granted(rights)).toEqual([...permissions].toSorted());
    expect(rights.canMove).toBe(false);
  });

  test.for([
    [{}, []],
    [{ runs: 'plan' }, ['canQueueRun']],
    [{ runs: 'apply' }, ['canQueueRun', 'canQueueApply', 'canQueueDestroy']],
    [{ variables: 'read' }, ['canReadVariable']],
    [{ variables: 'write' }, ['canReadVariable', 'canUpdateVariable']],
    [{ stateVersions: 'read-outputs' }, ['canReadStateOutputs']],
    [{ stateVersions: 'read' }, ['canReadStateOutputs', 'canReadStateVersions']],
    [
      { stateVersions: 'write' },
      ['canReadStateOutputs', 'canReadStateVersions', 'canCreateStateVersions'],
    ],
    [{ workspaceLocking: true }, ['canLock', 'canUnlock']],
    [{ runTasks: true }, ['canManageRunTasks']],
  ] as const)(
    'with the custom right %j makes it visible, and grants nothing else',
    ([custom, permissions]) => {
      const rights = toWorkspaceRights('custom', { ...LEAST_CUSTOM_RIGHTS, ...custom });
      expect(granted(rights)).toEqual([...SEEN, ...permissions].toSorted());
    },
  );

  test('allows no destroy run if the workspace forbids them', () => {
    expect(granted(WRITE_RIGHTS, false)).toEqual(
      WRITE.filter((name) => name !== 'canQueueDestroy').toSorted(),
    );
  });
});

const callerWith = (access: Partial<OrganizationAccess> = {}): CallerAccess => ({
  kind: 'user',
  isOwner: false,
  access: uniteOrganizationAccess([{ ...NO_ORGANIZATION_ACCESS, ...access }]),
  teamIds: [],
});

const READ_PROJECT = ['canRead', 'canReadVarsets'];
const MAINTAIN = [...READ_PROJECT, 'canCreateWorkspace', 'canManageVarsets'];
const EVERYTHING = [
  ...MAINTAIN,
  'canUpdate',
  'canDestroy',
  'canMoveWorkspace',
  'canReadTeams',
  'canManageTeams',
];

/** Nobody may delete the default project. */
const STAYING = EVERYTHING.filter((permission) => permission !== 'canDestroy');

describe('access to a project', () => {
  test.for([
    ['read', READ_RIGHTS, READ_PROJECT],
    ['write', WRITE_RIGHTS, READ_PROJECT],
    ['maintain', ADMIN_RIGHTS, MAINTAIN],
    ['admin', FULL_RIGHTS, EVERYTHING],
  ] as const)('at level %s grants what that level has', ([level, rights, permissions]) => {
    const grant = toProjectGrant(level, LEAST_CUSTOM_PROJECT_GRANT);
    expect(toRightsInProject(level, grant)).toEqual(rights);
    const facts = { caller: callerWith(), grants: [grant], isDefaultProject: false };
    expect(held(decideProjectPermissions(facts)).toSorted()).toEqual([...permissions].toSorted());
  });

  test.for([
    [{ projectAccess: { settings: 'update' } }, ['canUpdate'], {}],
    [{ projectAccess: { settings: 'delete' } }, ['canUpdate', 'canDestroy'], {}],
    [{ projectAccess: { teams: 'read' } }, ['canReadTeams'], {}],
    [{ projectAccess: { teams: 'manage' } }, ['canReadTeams', 'canManageTeams'], {}],
    [{ projectAccess: { variableSets: 'read' } }, ['canReadVarsets'], {}],
    [{ projectAccess: { variableSets: 'write' } }, ['canReadVarsets', 'canManageVarsets'], {}],
    [{ workspaceAccess: { create: true } }, ['canCreateWorkspace'], {}],
    [{ workspaceAccess: { move: true } }, ['canMoveWorkspace'], { canMove: true }],
    [{ workspaceAccess: { delete: true } }, [], { canDelete: true }],
    [{ workspaceAccess: { locking: true } }, [], { workspaceLocking: true }],
    [{ workspaceAccess: { runTasks: true } }, [], { runTasks: true }],
    [{ workspaceAccess: { runs: 'apply' } }, [], { runs: 'apply' }],
    [{ workspaceAccess: { variables: 'write' } }, [], { variables: 'write' }],
    [{ workspaceAccess: { stateVersions: 'read' } }, [], { stateVersions: 'read' }],
  ] as const)('with the custom right %j grants nothing else', ([custom, permissions, rights]) => {
    const { projectAccess, workspaceAccess } = LEAST_CUSTOM_PROJECT_GRANT;
    const given = { projectAccess: {}, workspaceAccess: {}, ...custom };
    const grant = toProjectGrant('custom', {
      projectAccess: { ...projectAccess, ...given.projectAccess },
      workspaceAccess: { ...workspaceAccess, ...given.workspaceAccess },
    });
    expect(toRightsInProject('custom', grant)).toEqual({ ...NO_RIGHTS, runs: 'read', ...rights });
    const facts = { caller: callerWith(), grants: [grant], isDefaultProject: false };
    expect(held(decideProjectPermissions(facts)).toSorted()).toEqual(
      ['canRead', ...permissions].toSorted(),
    );
  });
});

describe('access to an organization', () => {
  test.for([
    ['manageProjects', ['manageWorkspaces', 'readProjects', 'readWorkspaces']],
    ['manageWorkspaces', ['readWorkspaces']],
    ['readProjects', ['readWorkspaces']],
    ['readWorkspaces', []],
    ['manageAgentPools', ['readWorkspaces']],
    ['manageOrganizationAccess', ['manageTeams', 'manageMembership']],
    ['manageTeams', ['manageMembership']],
    ['manageMembership', []],
  ] as const)('by %s grants %j', ([flag, implied]) => {
    expect(held(callerWith({ [flag]: true }).access).toSorted()).toEqual(
      [flag, ...implied].toSorted(),
    );
  });

  test.for([
    ['readWorkspaces', ['canTraverse']],
    [
      'manageWorkspaces',
      ['canCreateWorkspace', 'canManageTags', 'canManageVarsets', 'canTraverse'],
    ],
    [
      'manageProjects',
      [
        'canCreateProject',
        'canCreateWorkspace',
        'canManageTags',
        'canManageVarsets',
        'canTraverse',
      ],
    ],
    ['manageAgentPools', ['canTraverse', 'canUpdateAgentPools']],
    ['manageVcsSettings', ['canUpdateOauth', 'canUpdateSshKeys']],
    ['manageMembership', ['canManageUsers']],
    ['manageTeams', ['canAccessViaTeams', 'canCreateTeam', 'canManageUsers']],
    ['manageRunTasks', ['canManageRunTasks', 'canReadRunTasks']],
  ] as const)('by %s is %j', ([flag, permissions]) => {
    const decided = decideOrganizationPermissions(callerWith({ [flag]: true }));
    expect(held(decided).toSorted()).toEqual(permissions);
  });

  test.for([
    [{}, NO_RIGHTS, [], []],
    [{ readWorkspaces: true }, READ_RIGHTS, READ_PROJECT, READ_PROJECT],
    [{ manageWorkspaces: true }, ADMIN_RIGHTS, MAINTAIN, [...READ_PROJECT, 'canManageVarsets']],
    [{ manageProjects: true }, FULL_RIGHTS, STAYING, EVERYTHING],
  ] as const)('with %j reaches every workspace and project', ([access, rights, own, others]) => {
    const caller = callerWith(access);
    expect(toOrganizationRights(caller)).toEqual(rights);
    for (const [isDefaultProject, permissions] of [
      [true, own],
      [false, others],
    ] as const) {
      const facts = { caller, grants: [], isDefaultProject };
      expect(held(decideProjectPermissions(facts)).toSorted()).toEqual([...permissions].toSorted());
    }
  });

  test('by its own token allows administration, but no runs, states or locks', () => {
    const caller: CallerAccess = {
      ...callerWith(),
      kind: 'organization',
      access: ORGANIZATION_TOKEN_ACCESS,
    };
    const never = ['canQueue', 'canCreateState', 'canLock', 'canUnlock'];
    expect(granted(toOrganizationRights(caller))).toEqual(
      ADMIN.filter((name) => !never.some((start) => name.startsWith(start))).toSorted(),
    );
    expect(held(decideOrganizationPermissions(caller)).toSorted()).toEqual([
      'canAccessViaTeams',
      'canCreateProject',
      'canCreateTeam',
      'canCreateWorkspace',
      'canManageTags',
      'canManageUsers',
      'canManageVarsets',
      'canReadAuditTrail',
      'canTraverse',
      'canUpdate',
      'canUpdateAgentPools',
    ]);
  });
});
