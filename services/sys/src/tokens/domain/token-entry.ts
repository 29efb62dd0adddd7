/**
 * A token as it is kept: everything but the token itself, of which only a salted hash exists. A batch
 * token is never kept; its entry travels encrypted inside the token.
 */
export interface TokenNamespace {
  readonly id: string;
  readonly path: string;
}

export type TokenType = 'service' | 'batch';

export interface TokenEntry {
  /** Salted hash of the token (hex), unique over all namespaces. */
  readonly hash: string;
  /** "" for batch tokens. */
  readonly accessor: string;
  readonly namespace: TokenNamespace;
  readonly type: TokenType;
  /** Lower case, sorted, without repetitions. */
  readonly policies: readonly string[];
  readonly meta: Readonly<Record<string, string>>;
  readonly displayName: string;
  /** Path of the request that made it. */
  readonly path: string;
  readonly role: string;
  /** undefined: orphan. The token dies with its parent. */
  readonly parent: { readonly hash: string; readonly namespaceId: string } | undefined;
  readonly createdAtMs: number;
  readonly creationTtlSeconds: number;
  /** undefined: never. */
  readonly expiresAtMs: number | undefined;
  readonly explicitMaxTtlSeconds: number;
  readonly periodSeconds: number;
  readonly renewable: boolean;
  /** undefined: never renewed. */
  readonly lastRenewalMs: number | undefined;
  /** Requests left; 0: no limit, SPENT: none. */
  readonly usesLeft: number;
  readonly boundCidrs: readonly string[];
}

/** The token has served its last request; it is refused and waits to be removed. */
export const SPENT = -1;

export const isExpired = (token: TokenEntry, nowMs: number): boolean =>
  token.expiresAtMs !== undefined && token.expiresAtMs <= nowMs;

export const isUsable = (token: TokenEntry, nowMs: number): boolean =>
  token.usesLeft !== SPENT && !isExpired(token, nowMs);

/** Whole seconds left, rounded up as a client would count them; 0 when it does not expire. */
export const ttlSeconds = (token: TokenEntry, nowMs: number): number =>
  token.expiresAtMs === undefined ? 0 : Math.max(0, Math.ceil((token.expiresAtMs - nowMs) / 1000));
