/**
 * Caches the imported keys of accounts: importing a key costs as much as a signature, exporting it
 * two thirds of that.
 */
import { type PublicJwk } from '../../keys/domain/jwk-thumbprint.ts';
import { importPublicJwk } from '../jws/public-jwk.ts';
import type { Account } from './domain/account.ts';

export interface ImportedKey {
  /** SubjectPublicKeyInfo. */
  readonly der: Uint8Array;
  /** The same, with one character per octet. */
  readonly derText: string;
}

/**
 * Keyed by the record object, which the store's cache returns unchanged while the record does not
 * change.
 */
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
