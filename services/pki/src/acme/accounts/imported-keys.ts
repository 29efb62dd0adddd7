/** Keys of accounts, ready to be used: to import one costs as much as a signature, to export it two thirds. */
import type { KeyObject } from 'node:crypto';
import type { Account } from '../domain/account.ts';
import { importPublicJwk } from '../domain/account-key.ts';

export interface ImportedKey {
  readonly key: KeyObject;
  /** SubjectPublicKeyInfo. */
  readonly der: Uint8Array;
}

/** As long as the store keeps the record, it hands out the same object. */
const imported = new WeakMap<Account, ImportedKey>();

export const keyOfAccount = (account: Account): ImportedKey => {
  const known = imported.get(account);
  if (known !== undefined) return known;
  const key = importPublicJwk(account.key);
  const made = { key, der: key.export({ type: 'spki', format: 'der' }) };
  imported.set(account, made);
  return made;
};
