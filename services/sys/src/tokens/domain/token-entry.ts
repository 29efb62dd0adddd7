import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/**
 * The stored entry of a token. It has a salted hash of the token, never the token itself. Entries of batch
 * tokens are not stored; they travel encrypted inside the token.
 */
export const tokenNamespaceShape = Type.Object({ id: Type.String(), path: Type.String() });
export type TokenNamespace = Shaped<typeof tokenNamespaceShape>;

export const tokenTypeShape = Type.Enum(['service', 'batch']);
export type TokenType = Shaped<typeof tokenTypeShape>;

/** An entity of the namespace in which the client signed in. */
export const entityRefShape = Type.Object({ id: Type.String(), namespaceId: Type.String() });
export type EntityRef = Shaped<typeof entityRefShape>;

export const tokenEntryShape = Type.Object({
  /** Salted hash of the token (hex), unique across all namespaces. */
  hash: Type.String(),
  /** "" for batch tokens. */
  accessor: Type.String(),
  namespace: tokenNamespaceShape,
  type: tokenTypeShape,
  /** In lower case, sorted, without duplicates. */
  policies: Type.Array(Type.String()),
  meta: Type.Record(Type.String(), Type.String()),
  displayName: Type.String(),
  /** Path of the request that created the token. */
  path: Type.String(),
  role: Type.String(),
  /** Undefined if the token is an orphan. Otherwise it ends with its parent. */
  parent: Type.Optional(Type.Object({ hash: Type.String(), namespaceId: Type.String() })),
  /** Undefined unless a login made the token; it ends with the mount of the method. */
  login: Type.Optional(
    Type.Object({
      mountUuid: Type.String(),
      /** The method receives it when the token is renewed. */
      dataBase64: Type.String(),
      /** Absent for a method without roles. */
      role: Type.Optional(Type.String()),
    }),
  ),
  /** The entity of the login, the alias or the parent by which the token was made, if any. The token ends with it. */
  entity: Type.Optional(entityRefShape),
  createdAtMs: Type.Number(),
  creationTtlSeconds: Type.Number(),
  /** Undefined if the token never expires. */
  expiresAtMs: Type.Optional(Type.Number()),
  explicitMaxTtlSeconds: Type.Number(),
  periodSeconds: Type.Number(),
  renewable: Type.Boolean(),
  /** Undefined if it was never renewed. */
  lastRenewalMs: Type.Optional(Type.Number()),
  /** Remaining requests. 0 means no limit, and SPENT that none are left. */
  usesLeft: Type.Number(),
  boundCidrs: Type.Array(Type.String()),
});
export type TokenEntry = Shaped<typeof tokenEntryShape>;

/** The token has served its last request; it is refused, and removed later. */
export const SPENT = -1;

export const isExpired = (token: TokenEntry, nowMs: number): boolean =>
  token.expiresAtMs !== undefined && token.expiresAtMs <= nowMs;

export const isUsable = (token: TokenEntry, nowMs: number): boolean =>
  token.usesLeft !== SPENT && !isExpired(token, nowMs);

/** Remaining whole seconds, rounded up; 0 when the token does not expire. */
export const ttlSeconds = (token: TokenEntry, nowMs: number): number =>
  token.expiresAtMs === undefined ? 0 : Math.max(0, Math.ceil((token.expiresAtMs - nowMs) / 1000));
