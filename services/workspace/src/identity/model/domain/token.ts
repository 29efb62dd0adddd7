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

/** Types of the owners that people manage: an organization by its id (`org-…`), which a new name leaves. */
export const TOKEN_OWNER_TYPES = ['users', 'teams', 'organizations', 'agent-pools'] as const;

export type TokenOwnerType = (typeof TOKEN_OWNER_TYPES)[number];

/** undefined: a token that nobody manages, and that ends by itself. */
export const OWNER_TYPES: Readonly<Record<TokenOwnerKind, TokenOwnerType | undefined>> = {
  user: 'users',
  team: 'teams',
  organization: 'organizations',
  'agent-pool': 'agent-pools',
  run: undefined,
  invitation: undefined,
  'email-confirmation': undefined,
};
