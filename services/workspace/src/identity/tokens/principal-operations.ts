import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { type ApiToken, isExpired } from '../model/domain/token.ts';
import { findToken, hashToken, tokenRecords } from '../model/token-records.ts';
import type { TokenOwners } from '../seams/token-owners.ts';

const MAX_TOKEN_LENGTH = 512;

const toCurrentPrincipal = async (
  owners: TokenOwners,
  reads: Reads,
  token: ApiToken | undefined,
  nowMs: number,
): Promise<Principal | undefined> =>
  token === undefined || isExpired(token, nowMs)
    ? undefined
    : owners[token.ownerKind].findPrincipal(reads, token, nowMs);

/** The principal that a token authenticates; undefined when it is unknown, expired or without an owner. */
export const findPrincipal = async (
  owners: TokenOwners,
  reads: Reads,
  text: string,
  nowMs: number,
): Promise<Principal | undefined> => {
  if (text === '' || text.length > MAX_TOKEN_LENGTH) return undefined;
  return toCurrentPrincipal(owners, reads, await tokenRecords.find(reads, hashToken(text)), nowMs);
};

/** Identifies the principal by the id (`at-…`) of the token that an earlier request used. */
export const findPrincipalOf = async (
  owners: TokenOwners,
  reads: Reads,
  tokenId: string,
  nowMs: number,
): Promise<Principal | undefined> =>
  toCurrentPrincipal(owners, reads, await findToken(reads, tokenId), nowMs);
