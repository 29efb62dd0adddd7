/** The caller's permissions in an organization; pages offer only the actions that these allow. */
import { useDocument } from '../api/queries.ts';
import type { OneDocument } from '../api/workspaces-api.ts';

export type OrganizationPermission =
  | 'can-create-project'
  | 'can-create-team'
  | 'can-create-workspace'
  | 'can-manage-users'
  | 'can-manage-varsets'
  | 'can-update-agent-pools'
  | 'can-update-oauth';

/** @returns false for every permission until the organization has been read */
export const useOrganizationPermissions = (
  organization: string,
): ((permission: OrganizationPermission) => boolean) => {
  const { data } = useDocument<
    OneDocument<{ readonly permissions: Readonly<Record<OrganizationPermission, boolean>> }>
  >(`organizations/${encodeURIComponent(organization)}`);
  return (permission) => data?.data.attributes.permissions[permission] === true;
};
