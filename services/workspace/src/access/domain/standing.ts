/** What a caller is in one organization, and the rights that follow from it alone. */
import type { OrganizationAccess } from './organization-access.ts';
import {
  FULL_RIGHTS,
  NO_RIGHTS,
  ORGANIZATION_TOKEN_RIGHTS,
  READ_RIGHTS,
  type WorkspaceRights,
} from './workspace-rights.ts';

export interface Standing {
  readonly kind: 'user' | 'team' | 'organization' | 'run';
  readonly isOwner: boolean;
  /** United over all teams. */
  readonly access: OrganizationAccess;
  readonly teamIds: readonly string[];
}

export const toOrganizationRights = ({ kind, isOwner, access }: Standing): WorkspaceRights => {
  if (kind === 'organization') return ORGANIZATION_TOKEN_RIGHTS;
  if (isOwner || access.manageProjects) return FULL_RIGHTS;
  if (access.manageWorkspaces) return { ...FULL_RIGHTS, canMove: false };
  return access.readWorkspaces ? READ_RIGHTS : NO_RIGHTS;
};

/** May see every project and workspace without a grant on it. */
export const seesWholeOrganization = (standing: Standing): boolean =>
  toOrganizationRights(standing).runs !== 'none';
