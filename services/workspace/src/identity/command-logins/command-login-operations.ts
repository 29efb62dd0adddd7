/** A user approves the sign-in of a command by a code, which the command exchanges for a token of the user. */
import { randomBytes } from 'node:crypto';
import { COMMAND_LOGIN } from '@keelson/edge';
import { newResourceId, refuseInvalid } from '@keelson/jsonapi';
import type { Principal } from '@keelson/proto/edge/v1/edge';
import {
  type Store,
  type Transaction,
  type TransactOptions,
  unlessDamaged,
} from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { attributeViolation } from '../../base/validation/domain/violation.ts';
import { hashToken } from '../model/token-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { findPrincipalOf } from '../tokens/principal-operations.ts';
import { defaultEnd } from '../tokens/token-expiry-operations.ts';
import { factorOf, type IssuedToken, issueToken } from '../tokens/token-operations.ts';
import {
  addressOfRefusal,
  addressWith,
  CODE_LIFETIME_MS,
  describeLogin,
  faultsOf,
  isFor,
  type LoginRequest,
  MOST_CODES,
  type TokenRequest,
} from './domain/command-login.ts';
import { loginCodes } from './login-code-records.ts';

const CODE_BYTES = 32;

/** The decision of the user. The code in the address is not stored. */
export interface DecidedLogin {
  readonly id: string;
  /** Where the browser brings the code or the refusal. */
  readonly address: string;
  /** Null for a refusal. */
  readonly expiresAtMs: number | null;
}

/** Ends the codes of a user that have expired, and the oldest of the others for which there is no room. */
const makeRoom = async (tx: Transaction, userId: string, nowMs: number): Promise<void> => {
  const waiting: { readonly key: string; readonly expiresAtMs: number }[] = [];
  for (const key of await loginCodes.by.userId.keys(tx, userId)) {
    const code = await loginCodes.find(tx, key);
    if (code === undefined || code.expiresAtMs <= nowMs) await loginCodes.delete(tx, key);
    else waiting.push({ key, expiresAtMs: code.expiresAtMs });
  }
  const oldestFirst = waiting.toSorted((a, b) => a.expiresAtMs - b.expiresAtMs);
  for (const { key } of oldestFirst.slice(0, Math.max(0, waiting.length - MOST_CODES + 1)))
    await loginCodes.delete(tx, key);
};

/**
 * Approves or refuses the sign-in of a command. Users alone have tokens to give.
 * @throws KeelsonError `jsonapi.invalid_attribute`, `workspace.not_found`
 */
export const decideLogin = async (
  { store, clock }: IdentityContext,
  principal: Principal,
  request: LoginRequest,
  isApproved: boolean,
): Promise<DecidedLogin> => {
  if (principal.kind !== 'user') throw notFound('account');
  const faults = faultsOf(request, COMMAND_LOGIN);
  if (faults.length > 0)
    refuseInvalid(faults.map(({ field, text }) => attributeViolation(field, `${field} ${text}`)));
  const id = newResourceId('cl');
  if (!isApproved) return { id, address: addressOfRefusal(request), expiresAtMs: null };
  const text = randomBytes(CODE_BYTES).toString('base64url');
  const nowMs = clock.nowMs();
  const expiresAtMs = nowMs + CODE_LIFETIME_MS;
  await store.transact(async (tx) => {
    await makeRoom(tx, principal.id, nowMs);
    await loginCodes.write(tx, [hashToken(text)], {
      userId: principal.id,
      tokenId: principal.tokenId,
      challenge: request.challenge,
      redirectUri: request.redirectUri,
      expiresAtMs,
    });
  });
  return { id, address: addressWith(request, text), expiresAtMs };
};

/**
 * Exchanges a code for a token of the user who approved. The first request that shows a code ends it, also one that
 * is refused: whoever else has seen the code cannot try again.
 * @returns undefined for a code that is unknown, spent or expired, was made for another command, or whose user or
 * session has ended since
 */
export const exchangeCode = (
  { store, clock, tokenOwners }: IdentityContext,
  given: TokenRequest,
  userAgent: string,
): Promise<IssuedToken | undefined> =>
  store.transact(async (tx) => {
    const key = hashToken(given.code);
    const code = await loginCodes.find(tx, key);
    if (code === undefined) return undefined;
    await loginCodes.delete(tx, key);
    const nowMs = clock.nowMs();
    if (!isFor(code, given, nowMs)) return undefined;
    const principal = await findPrincipalOf(tokenOwners, tx, code.tokenId, nowMs);
    if (principal?.id !== code.userId) return undefined;
    const owner = { kind: 'user', id: code.userId } as const;
    const expiresAtMs = await defaultEnd(tx, owner, nowMs);
    const factor = await factorOf(tx, owner, code.tokenId);
    const input = { description: describeLogin(userAgent, nowMs), expiresAtMs, ...factor };
    return issueToken(tx, owner, input, code.userId, nowMs);
  });

/** Removes codes that no command has shown in time. */
export const removeExpiredCodes = async (
  store: Store,
  nowMs: number,
  options: TransactOptions,
): Promise<void> => {
  for (const key of await loginCodes.keys(store, [])) {
    const code = await unlessDamaged(loginCodes.find(store, key));
    if (code !== undefined && code.expiresAtMs > nowMs) continue;
    await store.transact((tx) => loginCodes.delete(tx, key), options);
  }
};
