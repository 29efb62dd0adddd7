/**
 * Key splitting: Shamir over GF(2^8) with the AES polynomial. A share has one y byte per key byte, followed
 * by x (reference §2.5, the format of the library). A key that is not split is its own share.
 */
import { combine, split } from 'shamir-secret-sharing';
import type { ShareCounts } from './domain/share-counts.ts';

export const splitKey = async (
  key: Uint8Array,
  { shares, threshold }: ShareCounts,
): Promise<Uint8Array[]> =>
  shares === 1 ? [Uint8Array.from(key)] : split(Uint8Array.from(key), shares, threshold);

/**
 * The key that the shares yield; undefined when they cannot belong together. Wrong shares may also
 * yield a wrong key, which is detected only when the key is used.
 */
export const joinShares = async (
  shares: readonly Uint8Array[],
  threshold: number,
): Promise<Uint8Array | undefined> => {
  const [only] = shares;
  if (threshold === 1) return only;
  const lengths = new Set(shares.map((share) => share.length));
  const coordinates = new Set(shares.map((share) => share.at(-1)));
  if (shares.length < threshold || lengths.size !== 1 || coordinates.size !== shares.length) {
    return undefined;
  }
  return combine(shares.map((share) => Uint8Array.from(share)));
};
