/** Sessions: tokens of users who have signed in, which end soon. */
import type { Reads, Transaction } from '@keelson/storage';
import { findSignInSettings } from '../model/credential-records.ts';
import { type ApiToken, isExpired } from '../model/domain/token.ts';
import { endLinksOf } from './account-link-operations.ts';
import {
  type IssuedToken,
  issueToken,
  listTokensOf,
  removeToken,
  type TokenInput,
} from './token-operations.ts';

/** Sessions of one user; the oldest ends when there is one too many. */
const MOST_SESSIONS = 50;
const LONGEST_DESCRIPTION = 255;
const MINUTE_MS = 60_000;

/** Sessions of a user that have not ended, oldest first. */
export const listSessionsOf = async (
  reads: Reads,
  userId: string,
  nowMs: number,
): Promise<readonly ApiToken[]> =>
  (await listTokensOf(reads, { kind: 'session', id: userId })).filter(
    (token) => !isExpired(token, nowMs),
  );

/**
 * @param userAgent as the client states it, by which users know their sessions
 * @param proof how the user has signed in, if not with a password
 */
export const issueSession = async (
  tx: Transaction,
  userId: string,
  userAgent: string,
  nowMs: number,
  proof: Pick<TokenInput, 'isSingleSignOn' | 'isPasskey' | 'hasTwoFactors'> = {},
): Promise<IssuedToken> => {
  const { sessionMinutes } = await findSignInSettings(tx);
  const known = await listTokensOf(tx, { kind: 'session', id: userId });
  const current = known.filter((token) => !isExpired(token, nowMs));
  const tooMany = current.slice(0, Math.max(0, current.length - MOST_SESSIONS + 1));
  for (const token of known)
    if (isExpired(token, nowMs) || tooMany.includes(token)) await removeToken(tx, token.id);
  const given = {
    description: userAgent.slice(0, LONGEST_DESCRIPTION),
    expiresAtMs: nowMs + sessionMinutes * MINUTE_MS,
    ...proof,
  };
  return issueToken(tx, { kind: 'session', id: userId }, given, userId, nowMs);
};

/**
 * Ends the sessions of a user, and the links for a new password and for another mail address: the stored user may
 * change. @param keptId of the session that goes on
 */
export const endSessionsOf = async (
  tx: Transaction,
  userId: string,
  keptId?: string,
): Promise<void> => {
  for (const { id } of await listTokensOf(tx, { kind: 'session', id: userId }))
    if (id !== keptId) await removeToken(tx, id);
  await endLinksOf(tx, userId);
};
