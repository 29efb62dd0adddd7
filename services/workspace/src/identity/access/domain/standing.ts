/** A caller's rights in one organization. */
import type { OrganizationAccess } from '../../model/domain/organization-access.ts';

export interface Standing {
  readonly kind: 'user' | 'team' | 'organization' | 'run';
  readonly isOwner: boolean;
  /** Union of the rights of all its teams. */
  readonly access: OrganizationAccess;
  readonly teamIds: readonly string[];
}

/** Whether the caller sees every project and workspace without a grant on each. */
export const seesWholeOrganization = ({ kind, isOwner, access }: Standing): boolean =>
  kind === 'organization' ||
  isOwner ||
  access.manageProjects ||
  access.manageWorkspaces ||
  access.readWorkspaces;
