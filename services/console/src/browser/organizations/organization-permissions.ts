/** The caller's permissions in an organization; pages offer only the actions that these allow. */
import { useDocument } from '../api/queries.ts';
import type { ResourceAttributes } from '../api/resource-attributes.ts';
import type { OneDocument } from '../api/workspaces-api.ts';

export type OrganizationPermission = keyof ResourceAttributes['organizations']['permissions'];

/** @returns false for every permission until the organization has been read */
export const useOrganizationPermissions = (
  organization: string,
): ((permission: OrganizationPermission) => boolean) => {
  const { data } = useDocument<OneDocument<ResourceAttributes['organizations']>>(
    `organizations/${encodeURIComponent(organization)}`,
  );
  return (permission) => data?.data.attributes.permissions[permission] === true;
};
