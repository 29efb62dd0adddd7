/** Shares as returned to clients: in plain text, or each encrypted to the PGP key of its holder. */
import { KeelsonError } from '@keelson/errors';
import { encryptToPgpKey, pgpFingerprint } from './pgp.ts';

export interface HandedShares {
  readonly keys: readonly string[];
  readonly keysBase64: readonly string[];
}

/** @throws KeelsonError `request.invalid` when the number of keys is wrong or a key cannot be parsed */
export const checkPgpKeys = async (
  pgpKeys: readonly string[],
  shares: number,
  what: string,
): Promise<readonly string[]> => {
  if (pgpKeys.length > 0 && pgpKeys.length !== shares) {
    throw new KeelsonError('request.invalid', { text: `incorrect number of PGP keys for ${what}` });
  }
  return Promise.all(pgpKeys.map(pgpFingerprint));
};

export const handOut = async (
  shares: readonly Uint8Array[],
  pgpKeys: readonly string[],
): Promise<HandedShares> => {
  const hex = shares.map((share) => Buffer.from(share).toString('hex'));
  const bytes =
    pgpKeys.length === 0
      ? shares
      : await Promise.all(hex.map((text, index) => encryptToPgpKey(pgpKeys[index] ?? '', text)));
  return {
    keys: bytes.map((one) => Buffer.from(one).toString('hex')),
    keysBase64: bytes.map((one) => Buffer.from(one).toString('base64')),
  };
};
