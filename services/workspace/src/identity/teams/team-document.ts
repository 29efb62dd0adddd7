import {
  API_PREFIX,
  choice,
  flags,
  orNull,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  toMany,
  toOne,
} from '@keelson/jsonapi';
import type { Reads } from '@keelson/storage';
import { Type } from 'typebox';
import { toKebabKeys } from '../../base/validation/attribute-names.ts';
import type { TeamAccessResult } from '../access/team-access.ts';
import { findTeamMembers } from './membership-operations.ts';

export const TEAM = resourceSchema({
  type: 'teams',
  attributes: {
    name: Type.String(),
    visibility: choice(['secret', 'organization'], {
      description: 'Secret: only its members and those who manage teams see it.',
    }),
    'sso-team-id': orNull(Type.String()),
    'allow-member-token-management': Type.Boolean(),
    'users-count': Type.Integer(),
    'organization-access': flags([
      'access-secret-teams',
      'delegate-policy-overrides',
      'manage-agent-pools',
      'manage-membership',
      'manage-modules',
      'manage-organization-access',
      'manage-policies',
      'manage-policy-overrides',
      'manage-projects',
      'manage-providers',
      'manage-run-tasks',
      'manage-teams',
      'manage-vcs-settings',
      'manage-workspaces',
      'read-projects',
      'read-workspaces',
    ]),
    permissions: flags(
      [
        'can-destroy',
        'can-update-api-token',
        'can-update-membership',
        'can-update-organization-access',
        'can-update-visibility',
      ],
      { description: 'Permissions of the caller.' },
    ),
  },
  relationships: {
    organization: relatedOne('organizations'),
    users: relatedMany('users'),
    'organization-memberships': relatedMany('organization-memberships'),
  },
  links: ['self'],
});

/** A team with its members and the reader's permissions on it. */
export const toTeamResource = async (
  reads: Reads,
  access: TeamAccessResult,
): Promise<ResourceOf<typeof TEAM>> => {
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
