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
import type { ApiToken } from '../model/domain/token.ts';

export const SESSION = resourceSchema({
  type: 'sessions',
  description: 'A user who has signed in. Its token is used as an API token, and ends soon.',
  attributes: {
    'user-agent': orNull(Type.String({ description: 'The browser or program, as it states it.' })),
    'created-at': timestamp(),
    'last-used-at': orNull(
      timestamp('At most an hour before the last use on this cluster; null before the first.'),
    ),
    'expires-at': orNull(timestamp('When the session ends, unless it is ended before.')),
    'is-current': Type.Boolean({ description: 'Whether the request was made in this session.' }),
    token: orNull(
      Type.String({ description: 'The text; null except in the answer to the sign-in.' }),
    ),
  },
  relationships: { user: relatedOne('users') },
});

export const toSessionResource = (
  token: ApiToken,
  {
    text = null,
    lastUsedAtMs = null,
    isCurrent,
  }: {
    /** Shown only to whoever has just signed in. */
    readonly text?: string | null;
    readonly lastUsedAtMs?: number | null;
    readonly isCurrent: boolean;
  },
): ResourceOf<typeof SESSION> => ({
  id: token.id,
  type: 'sessions',
  attributes: {
    'user-agent': token.description || null,
    'created-at': toTimestamp(token.createdAtMs),
    'last-used-at': lastUsedAtMs === null ? null : toTimestamp(lastUsedAtMs),
    'expires-at': token.expiresAtMs === null ? null : toTimestamp(token.expiresAtMs),
    'is-current': isCurrent,
    token: text,
  },
  relationships: { user: toOne('users', token.ownerId) },
});
