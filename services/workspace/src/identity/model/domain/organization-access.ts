import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** Access of a team to the whole organization. All flags default to false. */
export const ORGANIZATION_ACCESS_FLAGS = [
  'accessSecretTeams',
  'delegatePolicyOverrides',
  'manageAgentPools',
  'manageMembership',
  'manageModules',
  'manageOrganizationAccess',
  'managePolicies',
  'managePolicyOverrides',
  'manageProjects',
  'manageProviders',
  'manageRunTasks',
  'manageTeams',
  'manageVcsSettings',
  'manageWorkspaces',
  'readProjects',
  'readWorkspaces',
] as const;

export const organizationAccessFlagShape = Type.Enum(ORGANIZATION_ACCESS_FLAGS);
export type OrganizationAccessFlag = Shaped<typeof organizationAccessFlagShape>;
export const organizationAccessShape = Type.Record(organizationAccessFlagShape, Type.Boolean());
export type OrganizationAccess = Shaped<typeof organizationAccessShape>;

const filled = (value: (flag: OrganizationAccessFlag) => boolean): OrganizationAccess =>
  Object.fromEntries(
    ORGANIZATION_ACCESS_FLAGS.map((flag) => [flag, value(flag)]),
  ) as OrganizationAccess;

export const NO_ORGANIZATION_ACCESS = filled(() => false);
export const FULL_ORGANIZATION_ACCESS = filled(() => true);

/** Organization tokens administer workspaces, projects and teams; they hold no keys and run nothing. */
export const ORGANIZATION_TOKEN_ACCESS: OrganizationAccess = {
  ...NO_ORGANIZATION_ACCESS,
  manageWorkspaces: true,
  manageProjects: true,
  manageTeams: true,
  manageMembership: true,
  manageOrganizationAccess: true,
  manageAgentPools: true,
};

const IMPLIED: readonly (readonly [OrganizationAccessFlag, OrganizationAccessFlag])[] = [
  ['manageProjects', 'manageWorkspaces'],
  ['manageProjects', 'readProjects'],
  ['manageWorkspaces', 'readWorkspaces'],
  ['readProjects', 'readWorkspaces'],
  ['manageAgentPools', 'readWorkspaces'],
  ['manageOrganizationAccess', 'manageTeams'],
  ['manageTeams', 'manageMembership'],
];

/** The union of several grants, including the flags that others imply. */
export const uniteOrganizationAccess = (
  grants: readonly OrganizationAccess[],
): OrganizationAccess => {
  const united = { ...filled((flag) => grants.some((grant) => grant[flag])) };
  for (const [flag, implied] of IMPLIED) if (united[flag]) united[implied] = true;
  return united;
};
