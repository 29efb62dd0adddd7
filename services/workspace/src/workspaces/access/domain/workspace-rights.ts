/**
 * Rights on one workspace. A caller's rights are the union of the rights that each of its teams has through
 * the organization, the project and the workspace; the highest level applies.
 */
export const RUNS_RIGHTS = ['none', 'read', 'plan', 'apply'] as const;
export const VARIABLES_RIGHTS = ['none', 'read', 'write'] as const;
export const STATE_RIGHTS = ['none', 'read-outputs', 'read', 'write'] as const;
export const MOCKS_RIGHTS = ['none', 'read'] as const;

export interface WorkspaceRights {
  readonly runs: (typeof RUNS_RIGHTS)[number];
  readonly variables: (typeof VARIABLES_RIGHTS)[number];
  readonly stateVersions: (typeof STATE_RIGHTS)[number];
  readonly sentinelMocks: (typeof MOCKS_RIGHTS)[number];
  readonly workspaceLocking: boolean;
  readonly runTasks: boolean;
  /** Settings, tags, consumers, force-unlock. */
  readonly isAdmin: boolean;
  readonly canDelete: boolean;
  readonly canMove: boolean;
}

export const NO_RIGHTS: WorkspaceRights = {
  runs: 'none',
  variables: 'none',
  stateVersions: 'none',
  sentinelMocks: 'none',
  workspaceLocking: false,
  runTasks: false,
  isAdmin: false,
  canDelete: false,
  canMove: false,
};

export const READ_RIGHTS: WorkspaceRights = {
  ...NO_RIGHTS,
  runs: 'read',
  variables: 'read',
  stateVersions: 'read',
};

export const PLAN_RIGHTS: WorkspaceRights = { ...READ_RIGHTS, runs: 'plan' };

export const WRITE_RIGHTS: WorkspaceRights = {
  ...NO_RIGHTS,
  runs: 'apply',
  variables: 'write',
  stateVersions: 'write',
  sentinelMocks: 'read',
  workspaceLocking: true,
};

export const ADMIN_RIGHTS: WorkspaceRights = {
  ...WRITE_RIGHTS,
  runTasks: true,
  isAdmin: true,
  canDelete: true,
  canMove: false,
};

/** All rights, including moving the workspace between projects. */
export const FULL_RIGHTS: WorkspaceRights = { ...ADMIN_RIGHTS, canMove: true };

/**
 * An organization token creates, configures and deletes workspaces. It starts no runs, writes no states and
 * takes no locks: these require a user or a team.
 */
export const ORGANIZATION_TOKEN_RIGHTS: WorkspaceRights = {
  ...FULL_RIGHTS,
  runs: 'read',
  stateVersions: 'read',
  workspaceLocking: false,
};

const higher = <T extends string>(order: readonly T[], a: T, b: T): T =>
  order.indexOf(a) >= order.indexOf(b) ? a : b;

const uniteTwo = (a: WorkspaceRights, b: WorkspaceRights): WorkspaceRights => ({
  runs: higher(RUNS_RIGHTS, a.runs, b.runs),
  variables: higher(VARIABLES_RIGHTS, a.variables, b.variables),
  stateVersions: higher(STATE_RIGHTS, a.stateVersions, b.stateVersions),
  sentinelMocks: higher(MOCKS_RIGHTS, a.sentinelMocks, b.sentinelMocks),
  workspaceLocking: a.workspaceLocking || b.workspaceLocking,
  runTasks: a.runTasks || b.runTasks,
  isAdmin: a.isAdmin || b.isAdmin,
  canDelete: a.canDelete || b.canDelete,
  canMove: a.canMove || b.canMove,
});

export const uniteRights = (grants: readonly WorkspaceRights[]): WorkspaceRights =>
  grants.reduce(uniteTwo, NO_RIGHTS);
