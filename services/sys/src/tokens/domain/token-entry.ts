/**
 * The stored entry of a token. It has a salted hash of the token, never the token itself. Entries of batch
 * tokens are not stored; they travel encrypted inside the token.
 */
export interface TokenNamespace {
  readonly id: string;
  readonly path: string;
}

export type TokenType = 'service' | 'batch';

export interface TokenEntry {
  /** Salted hash of the token (hex), unique across all namespaces. */
  readonly hash: string;
  /** "" for batch tokens. */
  readonly accessor: string;
  readonly namespace: TokenNamespace;
  readonly type: TokenType;
  /** In lower case, sorted, without duplicates. */
  readonly policies: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
  readonly displayName: string;
  /** Path of the request that created the token. */
  readonly path: string;
  readonly role: string;
  /** undefined: the token is an orphan. Otherwise it ends with its parent. */
  readonly parent: { readonly hash: string; readonly namespaceId: string } | undefined;
  readonly createdAtMs: number;
  readonly creationTtlSeconds: number;
  /** undefined: the token never expires. */
  readonly expiresAtMs: number | undefined;
  readonly explicitMaxTtlSeconds: number;
  readonly periodSeconds: number;
  readonly renewable: boolean;
  /** undefined: never renewed. */
  readonly lastRenewalMs: number | undefined;
  /** Remaining requests. 0: no limit, SPENT: none left. */
  readonly usesLeft: number;
  readonly boundCidrs: readonly string[];
}

/** The token has served its last request; it is refused, and removed later. */
export const SPENT = -1;

export const isExpired = (token: TokenEntry, nowMs: number): boolean =>
  token.expiresAtMs !== undefined && token.expiresAtMs <= nowMs;

export const isUsable = (token: TokenEntry, nowMs: number): boolean =>
  token.usesLeft !== SPENT && !isExpired(token, nowMs);

/** Remaining whole seconds, rounded up; 0 when the token does not expire. */
export const ttlSeconds = (token: TokenEntry, nowMs: number): number =>
  token.expiresAtMs === undefined ? 0 : Math.max(0, Math.ceil((token.expiresAtMs - nowMs) / 1000));
