/** API tokens: shown once when made, kept as a hash, refused from the moment they expire. */
export type TokenOwnerKind = 'user' | 'team' | 'organization' | 'agent-pool' | 'run';

export interface ApiToken {
  /** `at-…`. */
  readonly id: string;
  readonly ownerKind: TokenOwnerKind;
  /** `user-…`, `team-…`, `org-…`, `apool-…`, `run-…`. */
  readonly ownerId: string;
  readonly description: string;
  /** `user-…` of who made it, null for the first one of a site. */
  readonly createdById: string | null;
  readonly createdAtMs: number;
  /** null: never. */
  readonly expiresAtMs: number | null;
}

export const isExpired = (token: ApiToken, nowMs: number): boolean =>
  token.expiresAtMs !== null && token.expiresAtMs <= nowMs;
