import type { Shaped } from '@keelson/storage/shape';
import { Type } from 'typebox';
import { type ApiToken, lifetimeOf, type TokenOwnerKind } from './token.ts';

/** Kinds of tokens whose lifetime an organization limits. */
export const LIMITED_TOKEN_TYPES = ['organization', 'team', 'user', 'audit_trails'] as const;
export type LimitedTokenType = (typeof LIMITED_TOKEN_TYPES)[number];

export const tokenLifetimeShape = Type.Object({
  tokenType: Type.Enum([...LIMITED_TOKEN_TYPES]),
  maxTtlMs: Type.Number(),
  createdAtMs: Type.Number(),
  updatedAtMs: Type.Number(),
});
/** The longest lifetime of one kind of tokens. */
export type TokenLifetime = Shaped<typeof tokenLifetimeShape>;

export const SHORTEST_LIMIT_MS = 60_000;
/** A hundred years. */
export const LONGEST_LIMIT_MS = 3_153_600_000_000;

const DAY_MS = 86_400_000;
/** As clients count years. */
const YEAR_MS = 365 * DAY_MS;

/** Two years, until an organization sets another limit. */
const DEFAULT_LIMIT_MS = 2 * YEAR_MS;

/**
 * Days of leap years within a limit, which clients state in years of 365 days. A token ends on a day of the calendar, and
 * a limit of two years must not refuse one that was made for two years.
 */
const leapDaysMs = (limitMs: number): number =>
  limitMs < YEAR_MS ? 0 : Math.ceil(limitMs / (4 * YEAR_MS)) * DAY_MS;

/** The part of an organization that decides its limits. */
export interface LimitingOrganization {
  readonly createdAtMs: number;
  readonly settings: { readonly maxTtlEnabled: boolean };
  readonly tokenLifetimes?: readonly TokenLifetime[] | undefined;
}

/** The limits of all kinds, whether or not they are in effect. */
export const lifetimesOf = ({
  createdAtMs,
  tokenLifetimes = [],
}: LimitingOrganization): readonly TokenLifetime[] =>
  LIMITED_TOKEN_TYPES.map(
    (tokenType) =>
      tokenLifetimes.find((lifetime) => lifetime.tokenType === tokenType) ?? {
        tokenType,
        maxTtlMs: DEFAULT_LIMIT_MS,
        createdAtMs,
        updatedAtMs: createdAtMs,
      },
  );

/** The longest lifetime of tokens of a kind; infinite while the organization does not limit them. */
export const longestLifetimeMs = (
  organization: LimitingOrganization,
  type: LimitedTokenType,
): number => {
  if (!organization.settings.maxTtlEnabled) return Number.POSITIVE_INFINITY;
  const stored = organization.tokenLifetimes?.find(({ tokenType }) => tokenType === type);
  const limitMs = stored?.maxTtlMs ?? DEFAULT_LIMIT_MS;
  return limitMs + leapDaysMs(limitMs);
};

/** The kind of limit that holds for the tokens of an owner; undefined for those that end by themselves. */
export const LIMITS_OF_OWNERS: Readonly<Partial<Record<TokenOwnerKind, LimitedTokenType>>> = {
  organization: 'organization',
  'audit-trail': 'audit_trails',
  team: 'team',
  user: 'user',
};

/** Whether a token was made for a longer time than an organization allows now. */
export const livesTooLong = (
  token: Pick<ApiToken, 'ownerKind' | 'createdAtMs' | 'expiresAtMs'>,
  organization: LimitingOrganization,
): boolean => {
  const type = LIMITS_OF_OWNERS[token.ownerKind];
  return type !== undefined && lifetimeOf(token) > longestLifetimeMs(organization, type);
};

/** The limits after some have been replaced. */
export const replaceLifetimes = (
  organization: LimitingOrganization,
  given: ReadonlyMap<LimitedTokenType, number>,
  nowMs: number,
): readonly TokenLifetime[] =>
  lifetimesOf(organization).map((lifetime) => {
    const maxTtlMs = given.get(lifetime.tokenType);
    return maxTtlMs === undefined ? lifetime : { ...lifetime, maxTtlMs, updatedAtMs: nowMs };
  });
