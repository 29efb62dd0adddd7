/** A new password by the link of a mail, for users who have forgotten theirs or have none yet. */
import type { Principal } from '@keelson/proto/edge/v1/edge';
import type { Reads } from '@keelson/storage';
import { notFound } from '../../base/not-found.ts';
import { issueCode, type LinkMails, obstacleToMail } from '../mails/link-mails.ts';
import { findSignInSettings, passwordMails } from '../model/credential-records.ts';
import { type ApiToken, isExpired } from '../model/domain/token.ts';
import { removePasskeysOf } from '../model/passkey-records.ts';
import { findToken } from '../model/token-records.ts';
import { toEmailKey, type User, userRecords } from '../model/user-records.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import { listTokensOf, removeToken } from '../tokens/token-operations.ts';
import { hashFor, requirePasswordsEnabled, storePassword } from './password-operations.ts';

const LINK_MINUTES = 60;
const MINUTE_MS = 60_000;
/** Between two mails to one user: strangers can ask for them. */
const PAUSE_MS = 10 * MINUTE_MS;
/** Addresses that wait to be looked up. In a flood of more, those that come are ignored. */
const MOST_WAITING = 1000;

/**
 * Asks for a link. The answer and its time are the same for every address: who has it is looked up later, and nothing
 * but its digest is stored.
 */
export const requestReset = async (context: IdentityContext, address: string): Promise<void> => {
  await requirePasswordsEnabled(context.store);
  const { store, clock } = context;
  const canMail = obstacleToMail(context) === undefined;
  const key = toEmailKey(address);
  // Outside the transaction, which requests at the same time would else repeat again and again.
  const isFull =
    (await passwordMails.keys(store, [], { limit: MOST_WAITING })).length === MOST_WAITING;
  await store.transact(async (tx) => {
    const known = await passwordMails.find(tx, key);
    // A write in any case: a secondary, which may be set up otherwise, hands the request on to its primary here.
    if (!canMail) return passwordMails.delete(tx, key);
    // One that waits is written again, so that the time does not say so.
    if (known !== undefined || !isFull)
      passwordMails.write(tx, [key], known ?? { attempts: 0, dueAtMs: clock.nowMs() });
  });
};

export interface ResetView {
  readonly user: User;
  readonly code: ApiToken;
}

/** @throws KeelsonError `workspace.not_found` unless the caller has followed a link */
export const requireReset = async (
  reads: Reads,
  { kind, id, tokenId }: Principal,
): Promise<ResetView> => {
  const code = kind === 'password-reset' ? await findToken(reads, tokenId) : undefined;
  const user = code && (await userRecords.find(reads, id));
  if (code === undefined || user === undefined) throw notFound('password reset');
  return { user, code };
};

/**
 * Stores the new password, and ends the link and every session.
 * @param given whether the passkeys of the account are lost, too
 */
export const resetPassword = async (
  context: IdentityContext,
  principal: Principal,
  password: string,
  { removesPasskeys }: { readonly removesPasskeys: boolean },
): Promise<void> => {
  const { user } = await requireReset(context.store, principal);
  const hash = await hashFor(user, password);
  await context.store.transact(async (tx) => {
    // The first of several requests at once ends the link.
    const current = (await requireReset(tx, principal)).user;
    await storePassword(context, tx, current, hash);
    if (removesPasskeys) await removePasskeysOf(tx, current.id);
  });
};

const findReceiver = async (reads: Reads, key: string): Promise<User | undefined> => {
  const user = await userRecords.by.email.find(reads, key);
  // The link of an invitation opens an account that nobody has used yet.
  const isOpen = user !== undefined && user.isSuspended !== true && user.isInvited !== true;
  return isOpen && (await findSignInSettings(reads)).passwordsEnabled ? user : undefined;
};

/** Mails with links for a new password, by the digest of the address. */
export const PASSWORD_MAILS: LinkMails = {
  waiting: passwordMails,
  findCause: (_reads, key) => Promise.resolve(key),
  prepare: async (tx, key, publicUrl, nowMs) => {
    const user = await findReceiver(tx, key);
    if (user === undefined) return undefined;
    const owner = { kind: 'password-reset', id: user.id } as const;
    const former = await listTokensOf(tx, owner);
    const isRecent = (token: ApiToken): boolean =>
      !isExpired(token, nowMs) && nowMs < token.createdAtMs + PAUSE_MS;
    if (former.some(isRecent)) return undefined;
    for (const { id } of former) await removeToken(tx, id);
    const { token, text } = await issueCode(tx, owner, nowMs, {
      lifetimeMs: LINK_MINUTES * MINUTE_MS,
      signInGeneration: (await findSignInSettings(tx)).passwordGeneration ?? 0,
    });
    return {
      codeId: token.id,
      mail: {
        to: [user.email],
        subject: 'A new password',
        text: [
          `Somebody has asked for a new password of the account ${user.username} at ${publicUrl}.`,
          'If it was not you, ignore this mail: the password stays as it is.',
          '',
          `The link works once, within ${LINK_MINUTES} minutes:`,
          '',
          // After "#", so that neither servers nor proxies on the way see or log the code.
          `${publicUrl}/app/new-password#${text}`,
          '',
        ].join('\n'),
      },
    };
  },
};
