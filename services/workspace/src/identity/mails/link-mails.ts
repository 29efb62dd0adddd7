/**
 * Mails about accounts, most of which carry a one-time link. A mail waits as a record until the server has accepted it; the code of its
 * link is made just before it is sent, and removed if it was not.
 */
import { FairQueue } from '@keelson/locks';
import {
  type Reads,
  type RecordCollection,
  type Transaction,
  type TransactOptions,
  unlessDamaged,
} from '@keelson/storage';

import type { Mail } from '../../base/mail/mailer.ts';
import { MESSAGE_RETRIES, pauseAfter } from '../../base/retries.ts';
import type { WaitingMail } from '../model/waiting-mail.ts';
import type { IdentityContext } from '../seams/identity-context.ts';
import {
  type IssuedToken,
  issueToken,
  removeToken,
  type TokenInput,
  type TokenOwner,
} from '../tokens/token-operations.ts';

/** Lifetime of a link. */
export const LINK_DAYS = 7;
const DAY_MS = 24 * 3600 * 1000;

/** Other mails may have come meanwhile. */
const LOOK_AGAIN_MS = 1000;

export interface PreparedMail {
  readonly mail: Mail;
  /** The code of its link; undefined for a mail without one. */
  readonly codeId: string | undefined;
}

/** The mails that wait, in a collection with an index or without. */
interface WaitingMails extends Pick<RecordCollection<WaitingMail>, 'find' | 'keys'> {
  write(tx: Transaction, segments: readonly [string], value: WaitingMail): void | Promise<void>;
  delete(tx: Transaction, id: string): void | Promise<void>;
}

/** One kind of mail. The id of a waiting mail owns the code of its link. */
export interface LinkMails {
  readonly waiting: WaitingMails;
  /** Id of the organization or user that caused the mail. */
  findCause(this: void, reads: Reads, id: string): Promise<string | undefined>;
  /** Undefined when the mail is no longer wanted. */
  prepare(
    tx: Transaction,
    id: string,
    publicUrl: string,
    nowMs: number,
  ): Promise<PreparedMail | undefined>;
  /** Runs in the transaction that records that the mail was sent. */
  onSent?(tx: Transaction, id: string, nowMs: number): Promise<void>;
}

/** The code of a link, which ends with it. @param given in place of `LINK_DAYS`, and in addition */
export const issueCode = (
  tx: Transaction,
  owner: TokenOwner,
  nowMs: number,
  {
    lifetimeMs = LINK_DAYS * DAY_MS,
    ...given
  }: Pick<TokenInput, 'signInGeneration'> & { readonly lifetimeMs?: number } = {},
): Promise<IssuedToken> => {
  const input = { description: 'link', expiresAtMs: nowMs + lifetimeMs, ...given };
  return issueToken(tx, owner, input, null, nowMs);
};

/** Why no mail is sent: the missing settings. Undefined where one is. */
export const obstacleToMail = ({ mailer, publicUrl }: IdentityContext): string | undefined => {
  const missing = [
    ...(mailer === undefined ? ['KEELSON_WORKSPACE_SMTP_URL'] : []),
    ...(publicUrl === undefined ? ['KEELSON_PUBLIC_URL'] : []),
  ];
  return missing.length === 0
    ? undefined
    : `no mail was sent, because this installation has no ${missing.join(' and no ')}`;
};

const sendOne = async (
  { store, clock, mailer, publicUrl }: IdentityContext,
  kind: LinkMails,
  id: string,
  options: TransactOptions,
): Promise<void> => {
  const waiting = await kind.waiting.find(store, id);
  if (mailer === undefined || publicUrl === undefined) return;
  if (waiting === undefined || waiting.dueAtMs > clock.nowMs()) return;
  const prepared = await store.transact(async (tx) => {
    const made = await kind.prepare(tx, id, publicUrl, clock.nowMs());
    if (made === undefined) await kind.waiting.delete(tx, id);
    return made;
  }, options);
  if (prepared === undefined) return;
  const isSent = await mailer.send(prepared.mail).then(
    () => true,
    () => false,
  );
  await store.transact(async (tx) => {
    const current = await kind.waiting.find(tx, id);
    if (isSent) await kind.onSent?.(tx, id, clock.nowMs());
    else if (prepared.codeId !== undefined) await removeToken(tx, prepared.codeId);
    if (current === undefined) return;
    const attempts = current.attempts + 1;
    const pauseMs = isSent ? undefined : pauseAfter(MESSAGE_RETRIES, attempts);
    if (pauseMs === undefined) await kind.waiting.delete(tx, id);
    else
      await kind.waiting.write(tx, [id], {
        ...current,
        attempts,
        dueAtMs: clock.nowMs() + pauseMs,
      });
  }, options);
};

/**
 * Sends the mails of one kind that are due; those who caused them take turns. @returns true if a second was not
 * enough: the next call begins with a mail of each of them, and includes those that came meanwhile
 */
export const sendMails = async (
  context: IdentityContext,
  kind: LinkMails,
  options: TransactOptions,
): Promise<boolean> => {
  const { store, clock } = context;
  const waiting = new FairQueue<string>();
  for (const id of await kind.waiting.keys(store, [])) {
    waiting.push((await unlessDamaged(kind.findCause(store, id))) ?? '', id);
  }
  const untilMs = clock.nowMs() + LOOK_AGAIN_MS;
  for (let id = waiting.take(); id !== undefined; id = waiting.take()) {
    await unlessDamaged(sendOne(context, kind, id, options));
    if (clock.nowMs() > untilMs) return true;
  }
  return false;
};
