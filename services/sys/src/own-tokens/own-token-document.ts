/** Documents of the tokens of whoever has signed in. */
import type { JsonObject } from '@keelson/secrets-api';
import { mountPathOf } from '../mounts/domain/mount.ts';
import type { OwnToken, OwnTokens } from './own-token-operations.ts';

const toTimestamp = (epochMs: number): string => new Date(epochMs).toISOString();

const tokenDocument = ({ token, mount, lastUseMs, isCurrent }: OwnToken): JsonObject => ({
  accessor: token.accessor,
  display_name: token.displayName,
  path: token.path,
  mount_path: mount === undefined ? '' : mountPathOf(mount),
  namespace_path: token.namespace.path,
  policies: token.policies,
  issue_time: toTimestamp(token.createdAtMs),
  last_use_time: toTimestamp(lastUseMs),
  expire_time: token.expiresAtMs === undefined ? null : toTimestamp(token.expiresAtMs),
  is_current: isCurrent,
});

/** A list of objects: accessors as names of members would be readable in audit logs. */
export const ownTokensDocument = ({ tokens, nextBeforeMs }: OwnTokens): JsonObject => ({
  tokens: tokens.map(tokenDocument),
  next: nextBeforeMs === undefined ? null : toTimestamp(nextBeforeMs),
});
