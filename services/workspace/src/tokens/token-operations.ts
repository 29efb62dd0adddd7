import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads, Transaction } from '@keelson/storage';
import { findStanding, notFound, requireOrganization } from '../access/access-operations.ts';
import { agentPoolRecords } from '../agents/agent-pool-records.ts';
import { decideOrganizationPermissions } from '../organizations/domain/organization-permissions.ts';
import { organizationRecords } from '../organizations/organization-records.ts';
import type { ServiceContext } from '../service-context.ts';
import { requireTeam } from '../teams/team-access.ts';
import { userRecords } from '../users/user-records.ts';
import { attributeViolation } from '../validation/domain/violation.ts';
import type { ApiToken, TokenOwnerKind } from './domain/token.ts';
import {
  findToken,
  hashToken,
  newTokenText,
  ownedTokens,
  tokenHashes,
  tokenRecords,
} from './token-records.ts';

export interface GivenToken {
  readonly description: string;
  readonly expiresAtMs: number | null;
}

export interface TokenOwner {
  readonly kind: TokenOwnerKind;
  readonly id: string;
}

/** A new token; its text exists nowhere else. */
export interface IssuedToken {
  readonly token: ApiToken;
  readonly text: string;
}

export const issueToken = (
  tx: Transaction,
  owner: TokenOwner,
  given: GivenToken,
  createdById: string | null,
  nowMs: number,
  text = newTokenText(),
): IssuedToken => {
  const token: ApiToken = {
    id: newResourceId('at'),
    ownerKind: owner.kind,
    ownerId: owner.id,
    description: given.description,
    createdById,
    createdAtMs: nowMs,
    expiresAtMs: given.expiresAtMs,
  };
  const hash = hashToken(text);
  tokenRecords.write(tx, [hash], token);
  tokenHashes.write(tx, [token.id], { hash });
  ownedTokens.write(tx, [owner.id, token.id], {});
  return { token, text };
};

export const removeToken = async (
  tx: Transaction,
  ownerId: string,
  tokenId: string,
): Promise<void> => {
  const found = await tokenHashes.find(tx, tokenId);
  if (found !== undefined) tokenRecords.delete(tx, found.hash);
  tokenHashes.delete(tx, tokenId);
  ownedTokens.delete(tx, ownerId, tokenId);
};

export const deleteTokensOf = async (tx: Transaction, ownerId: string): Promise<void> => {
  for (const tokenId of await ownedTokens.keys(tx, [ownerId])) {
    await removeToken(tx, ownerId, tokenId);
  }
};

/** Tokens of one owner, oldest first. */
export const listTokensOf = async (reads: Reads, ownerId: string): Promise<readonly ApiToken[]> => {
  const ids = await ownedTokens.keys(reads, [ownerId]);
  const tokens = await Promise.all(ids.map((id) => findToken(reads, id)));
  return tokens
    .filter((token) => token !== undefined)
    .sort((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
};

/** Whose tokens a request is about. */
export type TokenOwnerAddress =
  | { readonly userId: string }
  | { readonly teamId: string }
  | { readonly agentPoolId: string }
  | { readonly organizationName: string };

/**
 * The owner, if the caller may manage its tokens: users their own, site administrators every user's,
 * owners and team managers a team's, who manages agent pools a pool's, owners an organization's.
 * @throws KeelsonError `workspace.not_found`
 */
export const requireTokenOwner = async (
  reads: Reads,
  principal: Principal,
  address: TokenOwnerAddress,
): Promise<TokenOwner> => {
  if ('userId' in address) {
    const isOwn = principal.kind === 'user' && principal.id === address.userId;
    const user =
      isOwn || principal.siteAdmin ? await userRecords.find(reads, address.userId) : undefined;
    if (user === undefined) throw notFound('user');
    return { kind: 'user', id: user.id };
  }
  if ('teamId' in address) {
    const { team, canManageTokens } = await requireTeam(reads, principal, address.teamId);
    if (!canManageTokens) throw notFound('team');
    return { kind: 'team', id: team.id };
  }
  if ('agentPoolId' in address) {
    const pool = await agentPoolRecords.find(reads, address.agentPoolId);
    const owner = pool && (await organizationRecords.find(reads, pool.organizationId));
    const place = owner && (await findStanding(reads, principal, owner));
    if (pool === undefined || !place || !decideOrganizationPermissions(place).canUpdateAgentPools) {
      throw notFound('agent pool');
    }
    return { kind: 'agent-pool', id: pool.id };
  }
  const { organization, standing } = await requireOrganization(
    reads,
    principal,
    address.organizationName,
  );
  if (!decideOrganizationPermissions(standing).canUpdateApiToken) throw notFound('organization');
  return { kind: 'organization', id: organization.id };
};

/** A team's token without a description is the one of early clients: there is one of it. */
const isUnnamed = ({ description }: Pick<ApiToken, 'description'>): boolean => description === '';

/** An organization has one token; a team's tokens differ by description. */
const makeRoom = async (
  tx: Transaction,
  { kind, id }: TokenOwner,
  { description }: GivenToken,
): Promise<void> => {
  if (kind === 'organization') await deleteTokensOf(tx, id);
  if (kind !== 'team') return;
  for (const token of await listTokensOf(tx, id)) {
    if (token.description !== description) continue;
    if (!isUnnamed(token)) {
      refuseInvalid([
        attributeViolation('description', 'Validation failed: Description has already been taken'),
      ]);
    }
    await removeToken(tx, id, token.id);
  }
};

export const createToken = (
  { store, clock }: ServiceContext,
  principal: Principal,
  address: TokenOwnerAddress,
  given: GivenToken,
): Promise<IssuedToken> =>
  store.transact(async (tx) => {
    const owner = await requireTokenOwner(tx, principal, address);
    await makeRoom(tx, owner, given);
    const createdById = principal.kind === 'user' ? principal.id : null;
    return issueToken(tx, owner, given, createdById, clock.nowMs());
  });

const toAddress = async (reads: Reads, token: ApiToken): Promise<TokenOwnerAddress> => {
  switch (token.ownerKind) {
    case 'user':
      return { userId: token.ownerId };
    case 'team':
      return { teamId: token.ownerId };
    case 'agent-pool':
      return { agentPoolId: token.ownerId };
    case 'run':
      // It ends with the phase that its agent works on, and is nobody's to manage.
      throw notFound('token');
    case 'organization': {
      const organization = await organizationRecords.find(reads, token.ownerId);
      return { organizationName: organization?.name ?? '' };
    }
  }
};

/** A token that the caller may manage. @throws KeelsonError `workspace.not_found` */
export const requireToken = async (
  reads: Reads,
  principal: Principal,
  tokenId: string,
): Promise<ApiToken> => {
  const token = await findToken(reads, tokenId);
  if (token === undefined) throw notFound('token');
  await requireTokenOwner(reads, principal, await toAddress(reads, token));
  return token;
};

export const deleteToken = (
  { store }: ServiceContext,
  principal: Principal,
  tokenId: string,
): Promise<void> =>
  store.transact(async (tx) => {
    const token = await requireToken(tx, principal, tokenId);
    await removeToken(tx, token.ownerId, token.id);
  });

/** Tokens that the path of the one token means: a team's unnamed one, all of another owner. */
const listSingleTokens = async (
  reads: Reads,
  { kind, id }: TokenOwner,
): Promise<readonly ApiToken[]> => {
  const tokens = await listTokensOf(reads, id);
  return kind === 'team' ? tokens.filter(isUnnamed) : tokens;
};

/** The one token of a team or organization. @throws KeelsonError `workspace.not_found` */
export const requireSingleToken = async (
  reads: Reads,
  principal: Principal,
  address: TokenOwnerAddress,
): Promise<ApiToken> => {
  const owner = await requireTokenOwner(reads, principal, address);
  const token = (await listSingleTokens(reads, owner)).at(-1);
  if (token === undefined) throw notFound('token');
  return token;
};

/** Deletes the one token of a team or organization. @throws KeelsonError `workspace.not_found` */
export const deleteSingleToken = (
  { store }: ServiceContext,
  principal: Principal,
  address: TokenOwnerAddress,
): Promise<void> =>
  store.transact(async (tx) => {
    const owner = await requireTokenOwner(tx, principal, address);
    const tokens = await listSingleTokens(tx, owner);
    if (tokens.length === 0) throw notFound('token');
    for (const { id } of tokens) await removeToken(tx, owner.id, id);
  });
