import {
  API_PREFIX,
  choice,
  type ResourceOf,
  relatedMany,
  relatedOne,
  resourceSchema,
  timestamp,
  toMany,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { MEMBERSHIP_STATUSES, type MembershipView } from './membership-list-operations.ts';

export const MEMBERSHIP = resourceSchema({
  type: 'organization-memberships',
  attributes: {
    status: choice(MEMBERSHIP_STATUSES),
    email: Type.String({ format: 'email' }),
    'created-at': timestamp(),
  },
  relationships: {
    organization: relatedOne('organizations'),
    user: relatedOne('users'),
    teams: relatedMany('teams'),
  },
  links: ['self'],
});

export const toMembershipResource = ({
  membership,
  organization,
  user,
  status,
}: MembershipView): ResourceOf<typeof MEMBERSHIP> => ({
  id: membership.id,
  type: 'organization-memberships',
  attributes: {
    status,
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
