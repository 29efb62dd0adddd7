import {
  optionalRelationship,
  orNull,
  type ResourceOf,
  relatedOne,
  resourceSchema,
  timestamp,
  toOne,
  toTimestamp,
} from '@keelson/jsonapi';
import { Type } from 'typebox';
import { type ApiToken, OWNER_TYPES, TOKEN_OWNER_TYPES } from '../model/domain/token.ts';

export const AUTHENTICATION_TOKEN = resourceSchema({
  type: 'authentication-tokens',
  attributes: {
    description: orNull(Type.String()),
    'created-at': timestamp(),
    'last-used-at': orNull(
      timestamp('At most an hour before the last use on this cluster; null before the first.'),
    ),
    'expired-at': orNull(timestamp('Null for a token that does not end.')),
    token: orNull(
      Type.String({ description: 'The text; null except in the answer to the creation.' }),
    ),
  },
  relationships: {
    'created-by': relatedOne('users'),
    team: optionalRelationship(relatedOne('teams')),
    owner: optionalRelationship(relatedOne(TOKEN_OWNER_TYPES)),
  },
});

/** @param text shown only in the response to the creation */
export const toTokenResource = (
  token: ApiToken,
  text: string | null,
  lastUsedAtMs: number | null = null,
): ResourceOf<typeof AUTHENTICATION_TOKEN> => {
  const ownerType = OWNER_TYPES[token.ownerKind];
  return {
    id: token.id,
    type: 'authentication-tokens',
    attributes: {
      description: token.description || null,
      'created-at': toTimestamp(token.createdAtMs),
      'last-used-at': lastUsedAtMs === null ? null : toTimestamp(lastUsedAtMs),
      'expired-at': token.expiresAtMs === null ? null : toTimestamp(token.expiresAtMs),
      token: text,
    },
    relationships: {
      'created-by': toOne('users', token.createdById),
      ...(token.ownerKind === 'team' ? { team: toOne('teams', token.ownerId) } : {}),
      ...(ownerType !== undefined && { owner: toOne(ownerType, token.ownerId) }),
    },
  };
};
