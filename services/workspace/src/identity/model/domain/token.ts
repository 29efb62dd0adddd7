/** API tokens: shown once at creation, stored as a hash, refused once they expire. */
export type TokenOwnerKind =
  | 'user'
  | 'team'
  | 'organization'
  | 'agent-pool'
  | 'run'
  | 'invitation'
  | 'email-confirmation';

export interface ApiToken {
  /** `at-…`. */
  readonly id: string;
  readonly ownerKind: TokenOwnerKind;
  /**
   * `user-…`, `team-…`, `org-…`, `apool-…`, `run-…`; of an invitation its membership, `ou-…`; of the
   * confirmation of a mail address `uem-…`.
   */
  readonly ownerId: string;
  readonly description: string;
  /** `user-…` of the creator; null for the first token of a site. */
  readonly createdById: string | null;
  readonly createdAtMs: number;
  /** null: the token does not expire. */
  readonly expiresAtMs: number | null;
}

export const isExpired = (token: ApiToken, nowMs: number): boolean =>
  token.expiresAtMs !== null && token.expiresAtMs <= nowMs;
