import { API_PREFIX, type Resource, toMany, toOne } from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { TeamAccessResult } from '../access/team-access.ts';
import { findTeamMembers } from './membership-operations.ts';

/** A team with its members and the reader's permissions on it. */
export const toTeamResource = async (reads: Reads, access: TeamAccessResult): Promise<Resource> => {
  const { team, organization } = access;
  const members = await findTeamMembers(reads, team);
  return {
    id: team.id,
    type: 'teams',
    attributes: {
      name: team.name,
      visibility: team.visibility,
      'sso-team-id': team.ssoTeamId,
      'allow-member-token-management': team.allowMemberTokenManagement,
      'users-count': members.length,
      'organization-access': toKebabKeys(team.organizationAccess),
      permissions: {
        'can-update-membership': access.canManageMembers,
        'can-destroy': access.canUpdate,
        'can-update-organization-access': access.canUpdate,
        'can-update-api-token': access.canManageTokens,
        'can-update-visibility': access.canUpdate,
      },
    },
    relationships: {
      organization: toOne('organizations', organization.name),
      users: toMany(
        'users',
        members.map(({ userId }) => userId),
      ),
      'organization-memberships': toMany(
        'organization-memberships',
        members.map(({ membership }) => membership.id),
      ),
    },
    links: { self: `${API_PREFIX}/teams/${team.id}` },
  };
};
