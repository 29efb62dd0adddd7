/** The access that a caller has to one organization, from which its permissions there are decided. */
import type { OrganizationAccess } from '../../model/domain/organization-access.ts';

export interface CallerAccess {
  /** The owner of the token that the caller uses. */
  readonly kind: 'user' | 'team' | 'organization' | 'run';
  /** Whether it is a member of the team of owners. */
  readonly isOwner: boolean;
  /** Union of the rights of all its teams in the organization. */
  readonly access: OrganizationAccess;
  /** Its teams, whose grants on projects and workspaces it has. */
  readonly teamIds: readonly string[];
}

/** Whether the caller sees every project and workspace without a grant on each. */
export const seesWholeOrganization = ({ kind, isOwner, access }: CallerAccess): boolean =>
  kind === 'organization' ||
  isOwner ||
  access.manageProjects ||
  access.manageWorkspaces ||
  access.readWorkspaces;
