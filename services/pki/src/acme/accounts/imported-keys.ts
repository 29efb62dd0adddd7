/** Keys of accounts, ready to verify with: to import one costs as much as a signature. */
import type { KeyObject } from 'node:crypto';
import type { Account } from '../domain/account.ts';
import { importPublicJwk } from '../domain/account-key.ts';

/** As long as the store keeps the record, it hands out the same object. */
const imported = new WeakMap<Account, KeyObject>();

export const keyOfAccount = (account: Account): KeyObject => {
  const known = imported.get(account);
  if (known !== undefined) return known;
  const key = importPublicJwk(account.key);
  imported.set(account, key);
  return key;
};
