/** All tokens of a site, for its administrators. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { readableOnly } from '@keelson/storage';
import {
  type ApiToken,
  isExpired,
  OWNER_TYPES,
  type TokenOwnerType,
} from '../model/domain/token.ts';
import { findToken, tokenHashes } from '../model/token-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { requireSiteAdmin } from './user-administration-operations.ts';

export const TOKEN_SORTS = ['created-at', 'expired-at'] as const;

export interface TokenQuery {
  /** undefined: every type. */
  readonly ownerType: TokenOwnerType | undefined;
  readonly ownerId: string | undefined;
  /** undefined: expired and valid tokens. */
  readonly hasExpired: boolean | undefined;
  readonly sort: { readonly by: (typeof TOKEN_SORTS)[number]; readonly isDescending: boolean };
}

const ORDERS: Readonly<Record<(typeof TOKEN_SORTS)[number], (token: ApiToken) => number>> = {
  'created-at': ({ createdAtMs }) => createdAtMs,
  // Tokens that never expire come last.
  'expired-at': ({ expiresAtMs }) => expiresAtMs ?? Number.MAX_VALUE,
};

/** Tokens of users, teams, organizations and agent pools. The codes of links and tokens of runs end by themselves. */
export const listAllTokens = async (
  { store, clock }: IdentityContext,
  principal: Principal,
  { ownerType, ownerId, hasExpired, sort }: TokenQuery,
): Promise<readonly ApiToken[]> => {
  await requireSiteAdmin(store, principal);
  const ids = await tokenHashes.keys(store, []);
  const found = await Promise.all(ids.map((id) => findToken(readableOnly(store), id)));
  const nowMs = clock.nowMs();
  const order = ORDERS[sort.by];
  const sign = sort.isDescending ? -1 : 1;
  return found
    .filter((token) => token !== undefined)
    .filter((token) => {
      const type = OWNER_TYPES[token.ownerKind];
      return (
        type !== undefined &&
        (ownerType === undefined || type === ownerType) &&
        (ownerId === undefined || token.ownerId === ownerId) &&
        (hasExpired === undefined || isExpired(token, nowMs) === hasExpired)
      );
    })
    .sort((a, b) => sign * (order(a) - order(b)) || (a.id < b.id ? -1 : 1));
};
