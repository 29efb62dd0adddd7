import type { WorkspaceRights } from './workspace-rights.ts';

export interface PermissionFacts {
  readonly rights: WorkspaceRights;
  readonly isOwner: boolean;
  /** Organization setting `allow-force-delete-workspaces`. */
  readonly adminsMayForceDelete: boolean;
  readonly allowDestroyPlan: boolean;
}

/** The `can-*` permissions shown with a workspace; requests are decided by the same ones. */
export interface WorkspacePermissions {
  readonly canUpdate: boolean;
  readonly canDestroy: boolean;
  readonly canForceDelete: boolean;
  readonly canLock: boolean;
  readonly canUnlock: boolean;
  readonly canForceUnlock: boolean;
  readonly canQueueRun: boolean;
  readonly canQueueApply: boolean;
  readonly canQueueDestroy: boolean;
  readonly canReadRun: boolean;
  readonly canReadSettings: boolean;
  readonly canReadVariable: boolean;
  readonly canUpdateVariable: boolean;
  readonly canReadStateVersions: boolean;
  readonly canReadStateOutputs: boolean;
  readonly canCreateStateVersions: boolean;
  readonly canManageTags: boolean;
  readonly canManageRunTasks: boolean;
  readonly canManageAssessments: boolean;
  readonly canReadAssessmentResults: boolean;
  readonly canManageEphemeralWorkspaces: boolean;
}

export type WorkspacePermission = keyof WorkspacePermissions;

export const decideWorkspacePermissions = ({
  rights,
  isOwner,
  adminsMayForceDelete,
  allowDestroyPlan,
}: PermissionFacts): WorkspacePermissions => {
  const { runs, variables, stateVersions, isAdmin } = rights;
  const isVisible = runs !== 'none';
  return {
    canUpdate: isAdmin,
    canDestroy: rights.canDelete,
    canForceDelete: rights.canDelete && (isOwner || (isAdmin && adminsMayForceDelete)),
    canLock: rights.workspaceLocking,
    canUnlock: rights.workspaceLocking,
    canForceUnlock: isAdmin,
    canQueueRun: runs === 'plan' || runs === 'apply',
    canQueueApply: runs === 'apply',
    canQueueDestroy: runs === 'apply' && allowDestroyPlan,
    canReadRun: isVisible,
    canReadSettings: isVisible,
    canReadVariable: variables !== 'none',
    canUpdateVariable: variables === 'write',
    canReadStateVersions: stateVersions === 'read' || stateVersions === 'write',
    canReadStateOutputs: stateVersions !== 'none',
    canCreateStateVersions: stateVersions === 'write',
    canManageTags: isAdmin,
    canManageRunTasks: rights.runTasks,
    canManageAssessments: isAdmin,
    canReadAssessmentResults: isVisible,
    canManageEphemeralWorkspaces: isAdmin,
  };
};
