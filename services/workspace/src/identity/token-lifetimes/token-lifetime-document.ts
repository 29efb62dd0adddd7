import { choice, type ResourceOf, resourceSchema, timestamp, toTimestamp } from '@keelson/jsonapi';
import { Type } from 'typebox';
import { LIMITED_TOKEN_TYPES, type TokenLifetime } from '../model/domain/token-lifetime.ts';

export const TOKEN_LIFETIME = resourceSchema({
  type: 'organization-token-ttl-policies',
  description:
    'How long one kind of tokens may live that give access to an organization, while its max-ttl-enabled is true.',
  attributes: {
    'token-type': choice(LIMITED_TOKEN_TYPES),
    'max-ttl-ms': Type.Integer({ description: 'From creation to expired-at, in milliseconds.' }),
    'created-at': timestamp(),
    'updated-at': timestamp(),
  },
});

export const toTokenLifetimeResource = (
  organizationId: string,
  { tokenType, maxTtlMs, createdAtMs, updatedAtMs }: TokenLifetime,
): ResourceOf<typeof TOKEN_LIFETIME> => ({
  id: `${organizationId}-${tokenType}`,
  type: 'organization-token-ttl-policies',
  attributes: {
    'token-type': tokenType,
    'max-ttl-ms': maxTtlMs,
    'created-at': toTimestamp(createdAtMs),
    'updated-at': toTimestamp(updatedAtMs),
  },
});
