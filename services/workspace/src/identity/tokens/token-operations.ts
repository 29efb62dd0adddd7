import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import { type Reads, readableOnly, type Transaction } from '@keelson/storage';
import { byCreation } from '../../base/creation-order.ts';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { comesWithOneFactor } from '../access/second-factor-access.ts';
import type { ApiToken, TokenOwnerKind } from '../model/domain/token.ts';
import { findToken, hashToken, newTokenText, tokenRecords } from '../model/token-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { type DecidedEnd, decideEnd } from './token-expiry-operations.ts';

export interface TokenInput {
  readonly description: string;
  readonly expiresAtMs: number | null;
  /** See `ApiToken`. */
  readonly isSingleSignOn?: true;
  readonly isPasskey?: true;
  readonly hasTwoFactors?: true;
  readonly hasOneFactor?: true;
  readonly signInGeneration?: number;
}

export interface TokenOwner {
  readonly kind: TokenOwnerKind;
  readonly id: string;
}

/** A token as its creator asks for it. */
export interface TokenRequest {
  readonly description: string;
  /** Null if it is not to expire; undefined if its end is left open. */
  readonly expiresAtMs: number | null | undefined;
}

/** A new token. Its text is not stored, so that this is the only copy. */
export interface IssuedToken {
  readonly token: ApiToken;
  readonly text: string;
}

export const issueToken = async (
  tx: Transaction,
  owner: TokenOwner,
  given: TokenInput,
  createdById: string | null,
  nowMs: number,
  text = newTokenText(),
): Promise<IssuedToken> => {
  const token: ApiToken = {
    id: newResourceId('at'),
    ownerKind: owner.kind,
    ownerId: owner.id,
    description: given.description,
    createdById,
    createdAtMs: nowMs,
    expiresAtMs: given.expiresAtMs,
    ...(given.isSingleSignOn && { isSingleSignOn: true }),
    ...(given.isPasskey && { isPasskey: true }),
    ...(given.hasTwoFactors && { hasTwoFactors: true }),
    ...(given.hasOneFactor && { hasOneFactor: true }),
    ...(given.signInGeneration !== undefined && { signInGeneration: given.signInGeneration }),
  };
  await tokenRecords.write(tx, [hashToken(text)], token);
  return { token, text };
};

export const removeToken = async (tx: Transaction, tokenId: string): Promise<void> => {
  for (const hash of await tokenRecords.by.id.keys(tx, tokenId))
    await tokenRecords.delete(tx, hash);
};

export const deleteTokensOf = async (tx: Transaction, ownerId: string): Promise<void> => {
  for (const hash of await tokenRecords.by.ownerId.keys(tx, ownerId)) {
    await tokenRecords.delete(tx, hash);
  }
};

/** Tokens of one owner, oldest first. */
export const listTokensOf = async (
  reads: Reads,
  { kind, id }: TokenOwner,
): Promise<readonly ApiToken[]> =>
  (await tokenRecords.by.ownerId.records(readableOnly(reads), id))
    .filter(({ ownerKind }) => ownerKind === kind)
    .toSorted(byCreation);

/**
 * The owner named in a request.
 * @throws KeelsonError `workspace.not_found`
 */
export type FindTokenOwner = (reads: Reads) => Promise<TokenOwner>;

/**
 * The owner, if the caller may manage its tokens. Users manage their own tokens, site
 * administrators those of every user, owners and team managers those of a team, managers of agent
 * pools those of a pool, and owners those of an organization.
 * @throws KeelsonError `workspace.not_found`
 */
export const requireTokenOwner = async (
  { tokenOwners }: IdentityContext,
  reads: Reads,
  principal: Principal,
  find: FindTokenOwner,
): Promise<TokenOwner> => {
  const owner = await find(reads);
  await tokenOwners[owner.kind].requireManager(reads, principal, owner.id);
  return owner;
};

/** Early clients create a team token without a description; a team has at most one of these. */
const isUnnamed = ({ description }: Pick<ApiToken, 'description'>): boolean => description === '';

/** An organization has one token of each kind; the tokens of a team differ by description. */
const makeRoom = async (
  tx: Transaction,
  owner: TokenOwner,
  { description }: TokenRequest,
): Promise<void> => {
  const existing = await listTokensOf(tx, owner);
  if (owner.kind === 'organization' || owner.kind === 'audit-trail')
    for (const { id } of existing) await removeToken(tx, id);
  if (owner.kind !== 'team') return;
  for (const token of existing) {
    if (token.description !== description) continue;
    if (!isUnnamed(token)) {
      refuseInvalid([
        attributeViolation('description', 'Validation failed: Description has already been taken'),
      ]);
    }
    await removeToken(tx, token.id);
  }
};

/** A token of a user proves what that proves with which it was made. */
export const factorOf = async (
  reads: Reads,
  { kind }: TokenOwner,
  madeById: string,
): Promise<{ readonly hasOneFactor?: true; readonly hasTwoFactors?: true }> => {
  if (kind !== 'user') return {};
  if ((await findToken(reads, madeById))?.hasTwoFactors === true) return { hasTwoFactors: true };
  return (await comesWithOneFactor(reads, madeById)) ? { hasOneFactor: true } : {};
};

export const createToken = (
  context: IdentityContext,
  principal: Principal,
  find: FindTokenOwner,
  given: TokenRequest,
): Promise<IssuedToken & Pick<DecidedEnd, 'warnings'>> =>
  context.store.transact(async (tx) => {
    const owner = await requireTokenOwner(context, tx, principal, find);
    const nowMs = context.clock.nowMs();
    const { expiresAtMs, warnings } = await decideEnd(tx, owner, given.expiresAtMs, nowMs);
    await makeRoom(tx, owner, given);
    const createdById = principal.kind === 'user' ? principal.id : null;
    const input = { ...given, expiresAtMs, ...(await factorOf(tx, owner, principal.tokenId)) };
    const issued = await issueToken(tx, owner, input, createdById, nowMs);
    return { ...issued, warnings };
  });

/** A token that the caller may manage. @throws KeelsonError `workspace.not_found` */
export const requireToken = async (
  { tokenOwners }: IdentityContext,
  reads: Reads,
  principal: Principal,
  tokenId: string,
): Promise<ApiToken> => {
  const token = await findToken(reads, tokenId);
  if (token === undefined) throw notFound('token');
  await tokenOwners[token.ownerKind].requireManager(reads, principal, token.ownerId);
  return token;
};

export const deleteToken = (
  context: IdentityContext,
  principal: Principal,
  tokenId: string,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const token = await requireToken(context, tx, principal, tokenId);
    await removeToken(tx, token.id);
  });

/**
 * The tokens behind an owner's single-token path: the team's token without a description, or all
 * tokens of another owner.
 */
const listSingleTokens = async (reads: Reads, owner: TokenOwner): Promise<readonly ApiToken[]> => {
  const tokens = await listTokensOf(reads, owner);
  return owner.kind === 'team' ? tokens.filter(isUnnamed) : tokens;
};

/**
 * The single token of a team or organization.
 * @throws KeelsonError `workspace.not_found`
 */
export const requireSingleToken = async (
  context: IdentityContext,
  principal: Principal,
  find: FindTokenOwner,
): Promise<ApiToken> => {
  const owner = await requireTokenOwner(context, context.store, principal, find);
  const token = (await listSingleTokens(context.store, owner)).at(-1);
  if (token === undefined) throw notFound('token');
  return token;
};

/**
 * Deletes the single token of a team or organization.
 * @throws KeelsonError `workspace.not_found`
 */
export const deleteSingleToken = (
  context: IdentityContext,
  principal: Principal,
  find: FindTokenOwner,
): Promise<void> =>
  context.store.transact(async (tx) => {
    const owner = await requireTokenOwner(context, tx, principal, find);
    const tokens = await listSingleTokens(tx, owner);
    if (tokens.length === 0) throw notFound('token');
    for (const { id } of tokens) await removeToken(tx, id);
  });
