/** Creates, finds and changes accounts, and replaces their keys (RFC 8555 §7.3). */

import type { Clock } from '@keelson/clock';
import { type MountScope } from '@keelson/engine';
import type { Reads, Store } from '@keelson/storage';
import { isCompromisedKey } from '../../keys/compromised-keys.ts';
import { type PublicJwk, thumbprintOf } from '../../keys/domain/jwk-thumbprint.ts';
import type { EabPolicy } from '../config/domain/acme-config.ts';
import {
  parseBinding,
  requireMac,
  unknownBinding,
} from '../eab/domain/external-account-binding.ts';
import { externalAccountRecords } from '../eab/eab-records.ts';
import { AcmeProblem } from '../problems/problem.ts';
import { accountKeyIndex, accountKeyRecords, accountRecords } from './account-records.ts';
import type { Account, AccountBinding } from './domain/account.ts';

export interface AccountParts {
  readonly store: Store;
  readonly clock: Clock;
  /** A new id. */
  readonly newId: () => string;
}

export interface KnownAccount {
  readonly id: string;
  readonly account: Account;
}

/** @throws AcmeProblem `unauthorized` with 401 (RFC 8555 §7.3.6) for an account that was closed */
export const requireOpenAccount = ({ status }: Account): void => {
  if (status !== 'valid')
    throw new AcmeProblem('unauthorized', `the account is ${status}`, { status: 401 });
};

/** @throws AcmeProblem `badPublicKey` for a key that was revoked as compromised */
const requireTrustedKey = async (
  reads: Reads,
  mount: MountScope,
  thumbprint: string,
): Promise<void> => {
  if (await isCompromisedKey(reads, mount, thumbprint))
    throw new AcmeProblem('badPublicKey', 'the key is known to be compromised');
};

export interface NewAccount {
  readonly mount: MountScope;
  readonly directory: string;
  readonly newAccountUrl: string;
  readonly eabPolicy: EabPolicy;
  readonly key: PublicJwk;
  /**
   * The requested contacts and agreement of a new account. Ignored for a key that has an account (RFC 8555
   * §7.3.1).
   * @throws AcmeProblem
   */
  readonly requested: () => Pick<Account, 'contacts' | 'termsAgreed' | 'termsUrl'>;
  /** Whether only to look for an account, without creating one. */
  readonly onlyReturnExisting: boolean;
  /** As the client sent it; undefined if absent. */
  readonly externalAccountBinding: unknown;
}

/**
 * The account of a key; created if there is none.
 * @throws AcmeProblem
 */
export const openAccount = async (
  { store, clock, newId }: AccountParts,
  request: NewAccount,
): Promise<KnownAccount & { readonly isNew: boolean }> => {
  const { mount, directory, key, eabPolicy } = request;
  const thumbprint = thumbprintOf(key);
  const index = accountKeyIndex(directory, thumbprint);
  return store.transact(async (tx) => {
    const existing = await accountKeyRecords(mount).find(tx, index);
    if (existing !== undefined) {
      const account = await accountRecords(mount).find(tx, existing.accountId);
      if (account !== undefined) {
        requireOpenAccount(account);
        return { id: existing.accountId, account, isNew: false };
      }
    }
    if (request.onlyReturnExisting)
      throw new AcmeProblem('accountDoesNotExist', 'there is no account with this key');
    await requireTrustedKey(tx, mount, thumbprint);
    const requested = request.requested();
    let binding: AccountBinding | undefined;
    if (request.externalAccountBinding !== undefined) {
      const { externalAccountBinding, newAccountUrl } = request;
      const presented = parseBinding(externalAccountBinding, newAccountUrl, thumbprint);
      const known = await externalAccountRecords(mount).find(tx, presented.keyId);
      if (known?.directory !== directory) return unknownBinding();
      requireMac(presented, Buffer.from(known.macKey, 'base64url'));
      // In the commit that creates the account, so that a later refusal leaves the key unused.
      externalAccountRecords(mount).delete(tx, presented.keyId);
      binding = {
        keyId: presented.keyId,
        keyType: known.keyType,
        createdAtMs: known.createdAtMs,
        identity: known.identity,
        presented: externalAccountBinding,
      };
    } else if (eabPolicy !== 'not-required')
      throw new AcmeProblem(
        'externalAccountRequired',
        'an external account binding is required for new accounts',
      );
    const id = newId();
    const account: Account = {
      directory,
      key,
      thumbprint,
      ...requested,
      status: 'valid',
      createdAtMs: clock.nowMs(),
      binding,
    };
    accountRecords(mount).write(tx, id, account);
    accountKeyRecords(mount).write(tx, index, { accountId: id });
    return { id, account, isNew: true };
  });
};

const unknownAccount = (): AcmeProblem =>
  new AcmeProblem('accountDoesNotExist', 'there is no such account');

/** Changes an open account. */
const changeAccount = (
  store: Store,
  mount: MountScope,
  id: string,
  change: (account: Account) => Account,
): Promise<Account> =>
  store.transact(async (tx) => {
    const account = await accountRecords(mount).find(tx, id);
    if (account === undefined) throw unknownAccount();
    requireOpenAccount(account);
    const changed = change(account);
    accountRecords(mount).write(tx, id, changed);
    return changed;
  });

/** An owner's changes to an account; undefined members leave the value unchanged. */
export interface AccountChange {
  readonly contacts: readonly string[] | undefined;
  /** URL of the terms of service agreed to by this change. */
  readonly termsUrl: string | undefined;
}

export const updateAccount = (
  { store }: AccountParts,
  mount: MountScope,
  id: string,
  { contacts, termsUrl }: AccountChange,
): Promise<Account> =>
  changeAccount(store, mount, id, (account) => ({
    ...account,
    ...(contacts !== undefined && { contacts }),
    ...(termsUrl !== undefined && { termsAgreed: true, termsUrl }),
  }));

/** RFC 8555 §7.3.6: permanent. */
export const deactivateAccount = (
  { store, clock }: AccountParts,
  mount: MountScope,
  id: string,
): Promise<Account> =>
  changeAccount(store, mount, id, (account) => ({
    ...account,
    status: 'deactivated',
    revokedAtMs: clock.nowMs(),
  }));

export type KeyChangeOutcome =
  | { readonly kind: 'changed'; readonly account: Account }
  /** Another account already has the key. */
  | { readonly kind: 'taken'; readonly accountId: string };

/** RFC 8555 §7.3.5: the old key is invalid from this commit on. */
export const changeAccountKey = (
  { store }: AccountParts,
  mount: MountScope,
  { id, account: seen }: KnownAccount,
  key: PublicJwk,
): Promise<KeyChangeOutcome> =>
  store.transact(async (tx): Promise<KeyChangeOutcome> => {
    const account = await accountRecords(mount).find(tx, id);
    if (account === undefined) throw unknownAccount();
    requireOpenAccount(account);
    // The signing key must still be the account's; another change may have replaced it.
    if (account.thumbprint !== seen.thumbprint)
      throw new AcmeProblem('unauthorized', "the account's key was changed meanwhile");
    const thumbprint = thumbprintOf(key);
    const index = accountKeyIndex(account.directory, thumbprint);
    const taken = await accountKeyRecords(mount).find(tx, index);
    if (taken !== undefined) return { kind: 'taken', accountId: taken.accountId };
    await requireTrustedKey(tx, mount, thumbprint);
    const changed = { ...account, key, thumbprint };
    accountRecords(mount).write(tx, id, changed);
    accountKeyRecords(mount).delete(tx, accountKeyIndex(account.directory, account.thumbprint));
    accountKeyRecords(mount).write(tx, index, { accountId: id });
    return { kind: 'changed', account: changed };
  });
