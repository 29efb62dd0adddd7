/** Keys that an operator has given in PEM. */
import { parsePemKey, type VerificationKey } from './domain/verification-keys.ts';

/** The keys of lists that are in use. A list in a record is the same one for as long as the record is cached. */
const parsed = new WeakMap<readonly string[], readonly VerificationKey[]>();

/**
 * The keys of a list of public keys and certificates. They are parsed once for each list: parsing a key and preparing it
 * takes longer than verifying a signature with it.
 */
export const fixedKeysOf = (pems: readonly string[]): readonly VerificationKey[] => {
  const known = parsed.get(pems);
  if (known !== undefined) return known;
  const keys = pems.flatMap((pem) => parsePemKey(pem) ?? []);
  parsed.set(pems, keys);
  return keys;
};
