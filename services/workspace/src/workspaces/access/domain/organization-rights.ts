import type { CallerAccess } from '../../../identity/access/domain/caller-access.ts';
import {
  FULL_RIGHTS,
  NO_RIGHTS,
  ORGANIZATION_TOKEN_RIGHTS,
  READ_RIGHTS,
  type WorkspaceRights,
} from './workspace-rights.ts';

/** The rights on every workspace that the caller's organization rights imply. */
export const toOrganizationRights = ({ kind, isOwner, access }: CallerAccess): WorkspaceRights => {
  if (kind === 'organization') return ORGANIZATION_TOKEN_RIGHTS;
  if (isOwner || access.manageProjects) return FULL_RIGHTS;
  if (access.manageWorkspaces) return { ...FULL_RIGHTS, canMove: false };
  return access.readWorkspaces ? READ_RIGHTS : NO_RIGHTS;
};
