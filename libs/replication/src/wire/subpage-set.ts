/** A set of Merkle subpages as 65,536 bits, lowest first. */
import { KeelsonError } from '@keelson/errors';
import { type SubpageIndex, subpageOf } from '@keelson/storage';

const SET_BYTES = 65_536 / 8;

export const toSubpageSet = (subpages: readonly SubpageIndex[]): Buffer => {
  const bits = Buffer.alloc(SET_BYTES);
  for (const subpage of subpages)
    bits[subpage >> 3] = (bits[subpage >> 3] ?? 0) | (1 << (subpage & 7));
  return bits;
};

/**
 * Returns whether a path is in one of the subpages; an empty set of bytes means all subpages.
 * @throws KeelsonError `replication.malformed`
 */
export const membershipTest = (bits: Uint8Array): ((path: string) => boolean) => {
  if (bits.length === 0) return () => true;
  if (bits.length !== SET_BYTES)
    throw new KeelsonError('replication.malformed', { reason: 'no set of subpages' });
  return (path) => {
    const subpage = subpageOf(path);
    return ((bits[subpage >> 3] ?? 0) & (1 << (subpage & 7))) !== 0;
  };
};
