import type { OrganizationAccess } from './organization-access.ts';

export interface Team {
  readonly id: string;
  readonly organizationId: string;
  readonly name: string;
  readonly visibility: 'secret' | 'organization';
  readonly ssoTeamId: string | null;
  readonly organizationAccess: OrganizationAccess;
  readonly allowMemberTokenManagement: boolean;
  /** `user-…` of the synthetic user that represents the team's tokens. */
  readonly serviceUserId: string;
  readonly createdAtMs: number;
}

/** The owners team exists in every organization, has all permissions and is never empty. */
export const OWNERS_TEAM_NAME = 'owners';

/** 1 to 90 letters, digits, spaces, `-`, `_`; no space at either end. */
export const isTeamName = (name: string): boolean =>
  /^[A-Za-z0-9 _-]{1,90}$/.test(name) && name.trim() === name;

export interface GivenTeamAccess {
  readonly manageProjects?: boolean;
  readonly manageWorkspaces?: boolean;
  readonly readProjects?: boolean;
  readonly readWorkspaces?: boolean;
}

/**
 * The narrower flag that a request must not set while the wider flag that includes it is granted.
 */
export const findContradiction = (
  given: GivenTeamAccess,
  held: GivenTeamAccess = {},
): string | undefined => {
  const next = { ...held, ...given };
  if (next.manageProjects === true && given.manageWorkspaces === false) return 'manage-workspaces';
  if (next.readProjects === true && given.readWorkspaces === false) return 'read-workspaces';
  return undefined;
};
