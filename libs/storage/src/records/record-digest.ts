/**
 * Location of a record in its Merkle tree, and its leaf. The location depends on the path alone; the leaf
 * covers the bytes as stored, which are equal on all clusters that share a barrier.
 *
 *   location = first two bytes of SHA-256(path): page, subpage
 *   leaf     = first 20 bytes of SHA-256(SHA-256(path) ‖ stored)
 */
import { createHash, hash } from 'node:crypto';
import type { SubpageIndex, TreeType } from '../store.ts';

export const DIGEST_BYTES = 20;

export const TREE_TYPES: readonly TreeType[] = ['replicated', 'local'];

export interface RecordDigest {
  readonly subpage: SubpageIndex;
  readonly leaf: Uint8Array;
}

export const treeTypeOf = (path: string): TreeType | undefined =>
  path.startsWith('shared/') ? 'replicated' : path.startsWith('local/') ? 'local' : undefined;

const indexIn = (pathHash: Buffer): SubpageIndex => pathHash.readUInt16BE(0);

/** The subpage that a record is counted in, by the hash of its path. */
export const subpageOf = (path: string): SubpageIndex => indexIn(hash('sha256', path, 'buffer'));

/** @param stored the value as stored */
export const digestRecord = (path: string, stored: Uint8Array): RecordDigest => {
  const pathHash = hash('sha256', path, 'buffer');
  const leaf = createHash('sha256').update(pathHash).update(stored).digest();
  return { subpage: indexIn(pathHash), leaf: leaf.subarray(0, DIGEST_BYTES) };
};
