import {
  orNull,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import type { InvitationView } from './invitation-acceptance-operations.ts';

export const INVITATION = resourceSchema({
  type: 'invitations',
  description: 'An open invitation, as its link shows it; its id is that of the membership.',
  attributes: {
    email: Type.String({ format: 'email' }),
    username: Type.String({ description: 'Name of the account that accepting opens.' }),
    'invited-by': orNull(
      Type.String({ description: 'Null where a token of the organization or a team invited.' }),
    ),
    'expires-at': orNull(timestamp('When the link ends.')),
  },
  relationships: { organization: relatedOne('organizations') },
});

export const toInvitationResource = ({
  view: { membership, organization, user },
  invitedBy,
  code,
}: InvitationView): ResourceOf<typeof INVITATION> => ({
  id: membership.id,
  type: 'invitations',
  attributes: {
    email: user.email,
    username: user.username,
    'invited-by': invitedBy,
    'expires-at': code.expiresAtMs === null ? null : toTimestamp(code.expiresAtMs),
  },
  relationships: { organization: toOne('organizations', organization.name) },
});
