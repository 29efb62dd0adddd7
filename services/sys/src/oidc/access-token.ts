/**
 * Access tokens for `userinfo`. One is its own entry, encrypted by the barrier like a batch token, but not one: nothing
 * but `userinfo` can open it.
 */
import { hasCode } from '@keelson/errors';
import type { Barrier } from '@keelson/storage';
import type { EntityRef } from '../tokens/domain/token-entry.ts';
import { MAX_TOKEN_LENGTH } from '../tokens/domain/token-text.ts';

export interface AccessGrant {
  readonly namespaceId: string;
  readonly provider: string;
  readonly clientId: string;
  readonly entity: EntityRef;
  readonly scopes: readonly string[];
  readonly expiresAtMs: number;
}

/** Format of the entry. One of another format is refused. */
const FORMAT = 1;
const PREFIX = 'oidc.';
/** Associated data, so that no other encrypted bytes can be used as an access token. */
const PURPOSE = 'oidc-access-token';

export const sealAccessToken = (barrier: Barrier, grant: AccessGrant): string => {
  const content = Buffer.from(JSON.stringify({ format: FORMAT, grant }));
  return PREFIX + Buffer.from(barrier.encrypt(PURPOSE, content)).toString('base64url');
};

/** Undefined for everything that is not an access token of this cluster or its set, and for one that has expired. */
export const openAccessToken = (
  barrier: Barrier,
  token: string,
  nowMs: number,
): AccessGrant | undefined => {
  if (!token.startsWith(PREFIX) || token.length > MAX_TOKEN_LENGTH) return undefined;
  let content: Uint8Array;
  try {
    content = barrier.decrypt(PURPOSE, Buffer.from(token.slice(PREFIX.length), 'base64url'));
  } catch (error) {
    if (hasCode(error, 'barrier.damaged_value', 'barrier.unknown_term')) return undefined;
    throw error;
  }
  const { format, grant } = JSON.parse(Buffer.from(content).toString()) as {
    readonly format: number;
    readonly grant: AccessGrant;
  };
  return format === FORMAT && grant.expiresAtMs > nowMs ? grant : undefined;
};
