import {
  type CallerAccess,
  seesWholeOrganization,
} from '../../../identity/access/domain/caller-access.ts';
import type { ProjectGrant } from './team-grants.ts';

export interface ProjectPermissions {
  readonly canRead: boolean;
  readonly canUpdate: boolean;
  readonly canDestroy: boolean;
  readonly canCreateWorkspace: boolean;
  readonly canMoveWorkspace: boolean;
  readonly canReadTeams: boolean;
  readonly canManageTeams: boolean;
  readonly canReadVarsets: boolean;
  readonly canManageVarsets: boolean;
}

export type ProjectPermission = keyof ProjectPermissions;

export interface ProjectPermissionFacts {
  readonly caller: CallerAccess;
  /** Grants of the caller's teams on this project. */
  readonly grants: readonly ProjectGrant[];
  readonly isDefaultProject: boolean;
}

export const decideProjectPermissions = ({
  caller,
  grants,
  isDefaultProject,
}: ProjectPermissionFacts): ProjectPermissions => {
  const { isOwner, access } = caller;
  const managesAll = isOwner || access.manageProjects;
  const some = (holds: (grant: ProjectGrant) => boolean) => grants.some(holds);
  return {
    canRead: seesWholeOrganization(caller) || grants.length > 0,
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
    canReadVarsets:
      seesWholeOrganization(caller) ||
      some(({ projectAccess }) => projectAccess.variableSets !== 'none'),
    canManageVarsets:
      isOwner ||
      access.manageWorkspaces ||
      some(({ projectAccess }) => projectAccess.variableSets === 'write'),
  };
};
