import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { organizationAccessShape } from './organization-access.ts';

export const teamShape = Type.Object({
  id: Type.String(),
  organizationId: Type.String(),
  name: Type.String(),
  visibility: Type.Enum(['secret', 'organization']),
  ssoTeamId: nullable(Type.String()),
  organizationAccess: organizationAccessShape,
  allowMemberTokenManagement: Type.Boolean(),
  /** `user-…` of the synthetic user that represents the team's tokens. */
  serviceUserId: Type.String(),
  createdAtMs: Type.Number(),
});
export type Team = Shaped<typeof teamShape>;

/** The owners team exists in every organization, has all permissions and is never empty. */
export const OWNERS_TEAM_NAME = 'owners';

/** 1 to 90 letters, digits, spaces, `-`, `_`; no space at either end. */
export const isTeamName = (name: string): boolean =>
  /^[A-Za-z0-9 _-]{1,90}$/.test(name) && name.trim() === name;

export interface TeamAccessInput {
  readonly manageProjects?: boolean;
  readonly manageWorkspaces?: boolean;
  readonly readProjects?: boolean;
  readonly readWorkspaces?: boolean;
}

/**
 * The narrower flag that a request must not set while the wider flag that includes it is granted.
 */
export const findContradiction = (
  given: TeamAccessInput,
  held: TeamAccessInput = {},
): string | undefined => {
  const next = { ...held, ...given };
  if (next.manageProjects === true && given.manageWorkspaces === false) return 'manage-workspaces';
  if (next.readProjects === true && given.readWorkspaces === false) return 'read-workspaces';
  return undefined;
};
