import { nullable, type Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';

/** API tokens: shown once at creation, stored as a hash, refused once they expire. */
export const tokenOwnerKindShape = Type.Enum([
  'user',
  'session',
  'team',
  'organization',
  'audit-trail',
  'agent-pool',
  'run',
  'invitation',
  'email-confirmation',
  'password-reset',
]);
export type TokenOwnerKind = Shaped<typeof tokenOwnerKindShape>;

export const apiTokenShape = Type.Object({
  /** `at-…`. */
  id: Type.String(),
  ownerKind: tokenOwnerKindShape,
  /**
   * `user-…`, also of a session and of the link for a new password; `team-…`; `org-…`, also of a token for an audit
   * trail; `apool-…`, `run-…`; of an invitation its membership, `ou-…`; of the confirmation of a mail address `uem-…`.
   */
  ownerId: Type.String(),
  description: Type.String(),
  /** `user-…` of the creator; null for the first token of a site. */
  createdById: nullable(Type.String()),
  createdAtMs: Type.Number(),
  /** Null if the token does not expire. */
  expiresAtMs: nullable(Type.Number()),
  /** Whether a provider of identities has proved the user of a session. */
  isSingleSignOn: Type.Optional(Type.Boolean()),
  /** Whether a passkey has proved the user of a session. */
  isPasskey: Type.Optional(Type.Boolean()),
  /** Whether the sign-in that has begun a session proved two factors by itself, whatever the account has. */
  hasTwoFactors: Type.Optional(Type.Boolean()),
  /** Generation of the way of signing in that a session, or a link for a new password, belongs to; absent for 0. */
  signInGeneration: Type.Optional(Type.Number()),
  /** Whether an API token was made by somebody who had come with one factor alone, whatever the account has. */
  hasOneFactor: Type.Optional(Type.Boolean()),
});
export type ApiToken = Shaped<typeof apiTokenShape>;

/** As at the vendor since 2025. */
const DEFAULT_YEARS = 2;

/** When a token ends whose creator gives no time: on the same day of a later year, as clients expect. */
export const defaultEndMs = (nowMs: number): number => {
  const time = new Date(nowMs);
  return time.setUTCFullYear(time.getUTCFullYear() + DEFAULT_YEARS);
};

/** For how long a token was made; infinite for one that does not end. */
export const lifetimeOf = ({
  createdAtMs,
  expiresAtMs,
}: Pick<ApiToken, 'createdAtMs' | 'expiresAtMs'>): number =>
  expiresAtMs === null ? Number.POSITIVE_INFINITY : expiresAtMs - createdAtMs;

export const isExpired = (token: ApiToken, nowMs: number): boolean =>
  token.expiresAtMs !== null && token.expiresAtMs <= nowMs;

/** Types of the owners that people manage: an organization by its id (`org-…`), which a new name leaves. */
export const TOKEN_OWNER_TYPES = ['users', 'teams', 'organizations', 'agent-pools'] as const;

export type TokenOwnerType = (typeof TOKEN_OWNER_TYPES)[number];

/** Undefined for a token that nobody manages, and that ends by itself. */
export const OWNER_TYPES: Readonly<Record<TokenOwnerKind, TokenOwnerType | undefined>> = {
  user: 'users',
  team: 'teams',
  organization: 'organizations',
  'audit-trail': 'organizations',
  'agent-pool': 'agent-pools',
  session: undefined,
  run: undefined,
  invitation: undefined,
  'email-confirmation': undefined,
  'password-reset': undefined,
};
