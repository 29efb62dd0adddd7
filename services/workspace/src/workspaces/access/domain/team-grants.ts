/** Grants of teams on one workspace or one project, and the rights they give. */
import {
  ADMIN_RIGHTS,
  FULL_RIGHTS,
  NO_RIGHTS,
  PLAN_RIGHTS,
  READ_RIGHTS,
  type WorkspaceRights,
  WRITE_RIGHTS,
} from './workspace-rights.ts';

export const WORKSPACE_ACCESS_LEVELS = ['read', 'plan', 'write', 'admin', 'custom'] as const;
export type WorkspaceAccessLevel = (typeof WORKSPACE_ACCESS_LEVELS)[number];

export const PROJECT_ACCESS_LEVELS = ['read', 'write', 'maintain', 'admin', 'custom'] as const;
export type ProjectAccessLevel = (typeof PROJECT_ACCESS_LEVELS)[number];

/** The rights that a custom grant sets one by one. */
export type CustomWorkspaceRights = Pick<
  WorkspaceRights,
  'runs' | 'variables' | 'stateVersions' | 'sentinelMocks' | 'workspaceLocking' | 'runTasks'
>;

/** The rights of a new custom grant: the lowest that let the team see the workspace. */
export const LEAST_CUSTOM_RIGHTS: CustomWorkspaceRights = {
  runs: 'read',
  variables: 'none',
  stateVersions: 'none',
  sentinelMocks: 'none',
  workspaceLocking: false,
  runTasks: false,
};

const LEVEL_RIGHTS: Readonly<Record<Exclude<WorkspaceAccessLevel, 'custom'>, WorkspaceRights>> = {
  read: READ_RIGHTS,
  plan: PLAN_RIGHTS,
  write: WRITE_RIGHTS,
  admin: ADMIN_RIGHTS,
};

export const toWorkspaceRights = (
  access: WorkspaceAccessLevel,
  custom: CustomWorkspaceRights,
): WorkspaceRights => (access === 'custom' ? { ...NO_RIGHTS, ...custom } : LEVEL_RIGHTS[access]);

/** A team's rights on the project itself. */
export interface ProjectAccess {
  readonly settings: 'read' | 'update' | 'delete';
  readonly teams: 'none' | 'read' | 'manage';
  readonly variableSets: 'none' | 'read' | 'write';
}

/** Rights of a custom project grant on the workspaces in the project. */
export interface ProjectWorkspaceAccess {
  readonly runs: WorkspaceRights['runs'];
  readonly sentinelMocks: WorkspaceRights['sentinelMocks'];
  readonly stateVersions: WorkspaceRights['stateVersions'];
  readonly variables: WorkspaceRights['variables'];
  readonly create: boolean;
  readonly locking: boolean;
  readonly delete: boolean;
  readonly move: boolean;
  readonly runTasks: boolean;
}

export interface ProjectGrant {
  readonly projectAccess: ProjectAccess;
  readonly workspaceAccess: ProjectWorkspaceAccess;
}

const READ_GRANT: ProjectGrant = {
  projectAccess: { settings: 'read', teams: 'none', variableSets: 'read' },
  workspaceAccess: {
    runs: 'read',
    sentinelMocks: 'none',
    stateVersions: 'read',
    variables: 'read',
    create: false,
    locking: false,
    delete: false,
    move: false,
    runTasks: false,
  },
};

const WRITE_GRANT: ProjectGrant = {
  projectAccess: { settings: 'read', teams: 'none', variableSets: 'read' },
  workspaceAccess: {
    ...READ_GRANT.workspaceAccess,
    runs: 'apply',
    sentinelMocks: 'read',
    stateVersions: 'write',
    variables: 'write',
    locking: true,
  },
};

const MAINTAIN_GRANT: ProjectGrant = {
  projectAccess: { settings: 'read', teams: 'none', variableSets: 'write' },
  workspaceAccess: { ...WRITE_GRANT.workspaceAccess, create: true, delete: true, runTasks: true },
};

const ADMIN_GRANT: ProjectGrant = {
  projectAccess: { settings: 'delete', teams: 'manage', variableSets: 'write' },
  workspaceAccess: { ...MAINTAIN_GRANT.workspaceAccess, move: true },
};

export const LEAST_CUSTOM_PROJECT_GRANT: ProjectGrant = {
  projectAccess: { settings: 'read', teams: 'none', variableSets: 'none' },
  workspaceAccess: { ...READ_GRANT.workspaceAccess, stateVersions: 'none', variables: 'none' },
};

const LEVEL_GRANTS: Readonly<Record<Exclude<ProjectAccessLevel, 'custom'>, ProjectGrant>> = {
  read: READ_GRANT,
  write: WRITE_GRANT,
  maintain: MAINTAIN_GRANT,
  admin: ADMIN_GRANT,
};

export const toProjectGrant = (access: ProjectAccessLevel, custom: ProjectGrant): ProjectGrant =>
  access === 'custom' ? custom : LEVEL_GRANTS[access];

/** Rights on every workspace of the project; the levels maintain and admin give full control of them. */
export const toRightsInProject = (
  access: ProjectAccessLevel,
  { workspaceAccess }: ProjectGrant,
): WorkspaceRights => {
  if (access === 'admin') return FULL_RIGHTS;
  if (access === 'maintain') return ADMIN_RIGHTS;
  const { create: _, locking, delete: canDelete, move: canMove, ...rights } = workspaceAccess;
  return { ...NO_RIGHTS, ...rights, workspaceLocking: locking, canDelete, canMove };
};
