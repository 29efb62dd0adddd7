/** All tokens of a site, for its administrators. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import {
  type ApiToken,
  isExpired,
  OWNER_TYPES,
  type TokenOwnerType,
} from '../model/domain/token.ts';
import { tokenRecords } from '../model/token-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { findLastUse } from '../tokens/token-use-operations.ts';
import { requireSiteAdmin } from './user-administration-operations.ts';

export const TOKEN_SORTS = ['created-at', 'expired-at', 'last-used-at'] as const;

export interface TokenQuery {
  /** Undefined means every type. */
  readonly ownerType: TokenOwnerType | undefined;
  readonly ownerId: string | undefined;
  /** Undefined means expired and valid tokens. */
  readonly hasExpired: boolean | undefined;
  readonly sort: { readonly by: (typeof TOKEN_SORTS)[number]; readonly isDescending: boolean };
}

interface UsedToken {
  readonly token: ApiToken;
  readonly lastUsedAtMs: number | null;
}

const ORDERS: Readonly<Record<(typeof TOKEN_SORTS)[number], (used: UsedToken) => number>> = {
  'created-at': ({ token }) => token.createdAtMs,
  // Tokens that never expire come last.
  'expired-at': ({ token }) => token.expiresAtMs ?? Number.MAX_VALUE,
  // Tokens that were never used come first.
  'last-used-at': ({ lastUsedAtMs }) => lastUsedAtMs ?? 0,
};

/** Tokens of users, teams, organizations and agent pools. The codes of links and tokens of runs end by themselves. */
export const listAllTokens = async (
  { store, clock }: IdentityContext,
  principal: Principal,
  { ownerType, ownerId, hasExpired, sort }: TokenQuery,
): Promise<readonly ApiToken[]> => {
  await requireSiteAdmin(store, principal);
  const { entries } = await tokenRecords.readableEntries(store);
  const nowMs = clock.nowMs();
  const order = ORDERS[sort.by];
  const sign = sort.isDescending ? -1 : 1;
  const wanted = entries
    .map(([, token]) => token)
    .filter((token) => {
      const type = OWNER_TYPES[token.ownerKind];
      return (
        type !== undefined &&
        (ownerType === undefined || type === ownerType) &&
        (ownerId === undefined || token.ownerId === ownerId) &&
        (hasExpired === undefined || isExpired(token, nowMs) === hasExpired)
      );
    });
  const used = await Promise.all(
    wanted.map(async (token) => ({ token, lastUsedAtMs: await findLastUse(store, token.id) })),
  );
  return used
    .sort((a, b) => sign * (order(a) - order(b)) || (a.token.id < b.token.id ? -1 : 1))
    .map(({ token }) => token);
};
