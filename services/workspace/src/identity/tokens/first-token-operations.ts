/** The first account of a site, which creates all others. */

import { timingSafeEqual } from 'node:crypto';
import type { Clock } from '@keelson/clock';
import { collection, type Store, type Transaction } from '@keelson/storage';
import { Type } from 'typebox';
import { hashToken, tokenRecords } from '../model/token-records.ts';
import { findUserIdByName } from '../model/user-records.ts';
import { addUser } from '../users/user-operations.ts';
import { deleteTokensOf, issueToken, removeToken } from './token-operations.ts';

const ADMIN_USERNAME = 'admin';
const ADMIN_EMAIL = 'admin@keelson.invalid';

/** The bootstrap token that was adopted, so that a later start does not adopt it again. */
const firstTokens = collection('first-token', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: Type.Object({ hash: Type.String() }),
});
const KEY = 'admin';

const ensureAdmin = async (tx: Transaction, nowMs: number) => {
  const found = await findUserIdByName(tx, ADMIN_USERNAME);
  if (found !== undefined) return found;
  const given = { username: ADMIN_USERNAME, email: ADMIN_EMAIL, isSiteAdmin: true };
  return (await addUser(tx, given, nowMs)).id;
};

/**
 * Issues a token for the administrator, who may create organizations and users. It is called at the
 * first start and its result handed to the operator. A repeated call revokes the administrator's
 * other tokens.
 */
export const ensureAdminToken = (store: Store, clock: Clock): Promise<{ token: string }> =>
  store.transact(async (tx) => {
    const nowMs = clock.nowMs();
    const adminId = await ensureAdmin(tx, nowMs);
    await deleteTokensOf(tx, adminId);
    const given = { description: 'first start', expiresAtMs: null };
    const { text } = await issueToken(tx, { kind: 'user', id: adminId }, given, null, nowMs);
    return { token: text };
  });

const isSameHash = (a: string, b: string): boolean =>
  timingSafeEqual(Buffer.from(a), Buffer.from(b));

/**
 * Makes the configured secret a token of the administrator. Every replica may call it at every
 * start: a secret is adopted only once, so that deleting the token remains effective. Adopting a
 * new secret revokes the previous one.
 */
export const adoptBootstrapToken = (store: Store, clock: Clock, secret: string): Promise<void> =>
  store.transact(async (tx) => {
    const hash = hashToken(secret);
    const adopted = await firstTokens.find(tx, KEY);
    if (adopted !== undefined && isSameHash(adopted.hash, hash)) return;
    const former = adopted && (await tokenRecords.find(tx, adopted.hash));
    if (former !== undefined) await removeToken(tx, former.id);
    const nowMs = clock.nowMs();
    const owner = { kind: 'user', id: await ensureAdmin(tx, nowMs) } as const;
    const given = { description: 'bootstrap', expiresAtMs: null };
    await issueToken(tx, owner, given, null, nowMs, secret);
    firstTokens.write(tx, KEY, { hash });
  });
