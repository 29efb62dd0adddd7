/** Sessions: tokens of users who have signed in, which end soon. */
import { KeelsonError } from '@keelson/errors';
import type { Reads, Transaction } from '@keelson/storage';
import { findSignInWays } from '../model/credential-records.ts';
import {
  generationOf,
  isSessionOpen,
  type SignInMarks,
  type SignInWays,
  sessionEndMs,
} from '../model/domain/session-life.ts';
import type { ApiToken } from '../model/domain/token.ts';
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

/** Sessions of a user that have not ended, oldest first, with the end that they have by now. */
export const listSessionsOf = async (
  reads: Reads,
  userId: string,
  nowMs: number,
): Promise<readonly ApiToken[]> => {
  const ways = await findSignInWays(reads);
  return (await listTokensOf(reads, { kind: 'session', id: userId }))
    .filter((token) => isSessionOpen(token, ways, nowMs))
    .map((token) => ({ ...token, expiresAtMs: sessionEndMs(token, ways) }));
};

/** @throws KeelsonError for a way that was switched off while somebody signed in */
const requireGeneration = (marks: SignInMarks, ways: SignInWays): number => {
  const generation = generationOf(marks, ways);
  if (generation !== undefined) return generation;
  if (marks.isSingleSignOn === true) throw new KeelsonError('workspace.sso_off');
  throw new KeelsonError(
    marks.isPasskey === true ? 'workspace.passkeys_off' : 'workspace.passwords_off',
  );
};

/**
 * @param userAgent as the client states it, by which users know their sessions
 * @param proof how the user has signed in, if not with a password
 * @throws KeelsonError where the site does not let people sign in so
 */
export const issueSession = async (
  tx: Transaction,
  userId: string,
  userAgent: string,
  nowMs: number,
  proof: Pick<TokenInput, 'isSingleSignOn' | 'isPasskey' | 'hasTwoFactors'> = {},
): Promise<IssuedToken> => {
  const ways = await findSignInWays(tx);
  const known = await listTokensOf(tx, { kind: 'session', id: userId });
  const current = known.filter((token) => isSessionOpen(token, ways, nowMs));
  const going = current.slice(Math.max(0, current.length - MOST_SESSIONS + 1));
  for (const token of known) if (!going.includes(token)) await removeToken(tx, token.id);
  const given = {
    description: userAgent.slice(0, LONGEST_DESCRIPTION),
    expiresAtMs: nowMs + ways.settings.sessionMinutes * MINUTE_MS,
    signInGeneration: requireGeneration(proof, ways),
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
