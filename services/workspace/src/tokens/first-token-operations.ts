/** The first account of a site: someone has to be able to make the others. */
import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { jsonRecords, type Store, type Transaction } from '@keelson/storage';
import { addUser } from '../users/user-operations.ts';
import { usernames } from '../users/user-records.ts';
import { deleteTokensOf, issueToken, removeToken } from './token-operations.ts';
import { hashToken, tokenRecords } from './token-records.ts';

const ADMIN_USERNAME = 'admin';
const ADMIN_EMAIL = 'admin@keelson.invalid';

/** What the first start did, so that a later one does not do it again. */
const firstTokens = jsonRecords<{ readonly hash: string }>('shared/first-token/');
const KEY = 'admin';

const ensureAdmin = async (tx: Transaction, nowMs: number) => {
  const found = await usernames.find(tx, ADMIN_USERNAME);
  if (found !== undefined) return found.id;
  const given = { username: ADMIN_USERNAME, email: ADMIN_EMAIL, isSiteAdmin: true };
  return (await addUser(tx, given, nowMs)).id;
};

/**
 * A token of the administrator, who may create organizations and users. Called at the first start,
 * when its text is handed to the operator; called again it ends the administrator's other tokens.
 */
export const ensureAdminToken = (store: Store, clock: Clock): Promise<{ token: string }> =>
  store.transact(async (tx) => {
    const nowMs = clock.nowMs();
    const adminId = await ensureAdmin(tx, nowMs);
    await deleteTokensOf(tx, adminId);
    const given = { description: 'first start', expiresAtMs: null };
    const { text } = issueToken(tx, { kind: 'user', id: adminId }, given, null, nowMs);
    return { token: text };
  });

const isSameHash = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(a), Buffer.from(b));

/**
 * Makes the configured secret a token of the administrator. Any replica may do it at every start: the
 * secret is taken once, and deleting the token later stays in force. Another one ends the one before.
 */
export const adoptBootstrapToken = (store: Store, clock: Clock, secret: string): Promise<void> =>
  store.transact(async (tx) => {
    const hash = hashToken(secret);
    const adopted = await firstTokens.find(tx, KEY);
    if (adopted !== undefined && isSameHash(adopted.hash, hash)) return;
    const former = adopted && (await tokenRecords.find(tx, adopted.hash));
    if (former !== undefined) await removeToken(tx, former.ownerId, former.id);
    const nowMs = clock.nowMs();
    const owner = { kind: 'user', id: await ensureAdmin(tx, nowMs) } as const;
    const given = { description: 'bootstrap', expiresAtMs: null };
    issueToken(tx, owner, given, null, nowMs, secret);
    firstTokens.write(tx, KEY, { hash });
  });
