import { API_PREFIX, type Resource, toMany, toOne, toTimestamp } from '@keelson/jsonapi';
import { type MembershipView, toMembershipStatus } from './membership-list-operations.ts';

export const toMembershipResource = ({
  membership,
  organization,
  user,
}: MembershipView): Resource => ({
  id: membership.id,
  type: 'organization-memberships',
  attributes: {
    status: toMembershipStatus(user),
    email: user.email,
    'created-at': toTimestamp(membership.createdAtMs),
  },
  relationships: {
    organization: toOne('organizations', organization.name),
    user: toOne('users', user.id),
    teams: toMany('teams', membership.teamIds),
  },
  links: { self: `${API_PREFIX}/organization-memberships/${membership.id}` },
});
