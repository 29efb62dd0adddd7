import { type Standing, seesWholeOrganization } from './standing.ts';
import type { ProjectGrant } from './team-grants.ts';

export interface ProjectPermissions {
  readonly canRead: boolean;
  readonly canUpdate: boolean;
  readonly canDestroy: boolean;
  readonly canCreateWorkspace: boolean;
  readonly canMoveWorkspace: boolean;
  readonly canReadTeams: boolean;
  readonly canManageTeams: boolean;
}

export type ProjectPermission = keyof ProjectPermissions;

export interface ProjectPermissionFacts {
  readonly standing: Standing;
  /** What the caller's teams hold on this project. */
  readonly grants: readonly ProjectGrant[];
  readonly isDefaultProject: boolean;
}

export const decideProjectPermissions = ({
  standing,
  grants,
  isDefaultProject,
}: ProjectPermissionFacts): ProjectPermissions => {
  const { isOwner, access } = standing;
  const managesAll = isOwner || access.manageProjects;
  const some = (holds: (grant: ProjectGrant) => boolean) => grants.some(holds);
  return {
    canRead: seesWholeOrganization(standing) || grants.length > 0,
    canUpdate: managesAll || some(({ projectAccess }) => projectAccess.settings !== 'read'),
    canDestroy:
      !isDefaultProject &&
      (managesAll || some(({ projectAccess }) => projectAccess.settings === 'delete')),
    canCreateWorkspace:
      managesAll ||
      (access.manageWorkspaces && isDefaultProject) ||
      some(({ workspaceAccess }) => workspaceAccess.create),
    canMoveWorkspace: managesAll || some(({ workspaceAccess }) => workspaceAccess.move),
    canReadTeams: managesAll || some(({ projectAccess }) => projectAccess.teams !== 'none'),
    canManageTeams: managesAll || some(({ projectAccess }) => projectAccess.teams === 'manage'),
  };
};
