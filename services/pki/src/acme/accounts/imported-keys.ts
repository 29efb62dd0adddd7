/** Keys of accounts, ready to be used: to import one costs as much as a signature, to export it two thirds. */
import type { Account } from '../domain/account.ts';
import { importPublicJwk, type PublicJwk } from '../domain/account-key.ts';

export interface ImportedKey {
  /** SubjectPublicKeyInfo. */
  readonly der: Uint8Array;
  /** The same, a character an octet. */
  readonly derText: string;
}

/** As long as the store keeps the record, it hands out the same object. */
const imported = new WeakMap<Account, ImportedKey>();

/** @throws AcmeProblem `badPublicKey` for a point that is not on its curve */
export const importKey = (jwk: PublicJwk): ImportedKey => {
  const der = importPublicJwk(jwk).export({ type: 'spki', format: 'der' });
  return { der, derText: der.toString('latin1') };
};

export const keyOfAccount = (account: Account): ImportedKey => {
  const known = imported.get(account);
  if (known !== undefined) return known;
  const made = importKey(account.key);
  imported.set(account, made);
  return made;
};
