import { type CallerAccess, seesWholeOrganization } from './caller-access.ts';

export interface OrganizationPermissions {
  readonly canUpdate: boolean;
  readonly canDestroy: boolean;
  readonly canAccessViaTeams: boolean;
  readonly canCreateTeam: boolean;
  readonly canCreateWorkspace: boolean;
  readonly canCreateProject: boolean;
  readonly canManageUsers: boolean;
  readonly canManageTags: boolean;
  readonly canManageRunTasks: boolean;
  readonly canManageVarsets: boolean;
  readonly canReadAuditTrail: boolean;
  readonly canReadRunTasks: boolean;
  readonly canUpdateAgentPools: boolean;
  readonly canUpdateApiToken: boolean;
  readonly canUpdateOauth: boolean;
  readonly canUpdateSshKeys: boolean;
  readonly canTraverse: boolean;
}

export const decideOrganizationPermissions = (caller: CallerAccess): OrganizationPermissions => {
  const { isOwner, access, kind } = caller;
  return {
    canUpdate: isOwner || kind === 'organization',
    canDestroy: isOwner,
    canAccessViaTeams: isOwner || access.manageTeams,
    canCreateTeam: isOwner || access.manageTeams,
    canCreateWorkspace: isOwner || access.manageWorkspaces,
    canCreateProject: isOwner || access.manageProjects,
    canManageUsers: isOwner || access.manageMembership,
    canManageTags: isOwner || access.manageWorkspaces,
    canManageRunTasks: isOwner || access.manageRunTasks,
    canManageVarsets: isOwner || access.manageWorkspaces,
    canReadAuditTrail: isOwner || kind === 'organization',
    canReadRunTasks: isOwner || access.manageRunTasks,
    canUpdateAgentPools: isOwner || access.manageAgentPools,
    canUpdateApiToken: isOwner,
    canUpdateOauth: isOwner || access.manageVcsSettings,
    canUpdateSshKeys: isOwner || access.manageVcsSettings,
    canTraverse: seesWholeOrganization(caller) || caller.teamIds.length > 0,
  };
};
