/** Finds the subpages in which two trees differ with two questions: page digests, then differing pages. */
import { KeelsonError } from '@keelson/errors';
import { DIGEST_BYTES } from '../records/record-digest.ts';
import type { SubpageIndex, TreeDigests } from '../store.ts';
import { SUBPAGES_PER_PAGE } from './merkle-tree.ts';

/** A tree in another process. Digests are concatenated, as MerkleTree returns them. */
export interface RemoteTree {
  pageDigests(): Promise<Uint8Array>;
  /** Subpage digests of these pages, in their order. */
  subpageDigests(pages: readonly number[]): Promise<readonly Uint8Array[]>;
}

/** Positions at which two rows of digests differ. */
const differingDigests = (ours: Uint8Array, theirs: Uint8Array): number[] => {
  if (ours.length !== theirs.length)
    throw new KeelsonError('request.invalid', { text: 'Merkle digests of an unexpected length' });
  const differing: number[] = [];
  for (let at = 0; at < ours.length; at += DIGEST_BYTES)
    if (
      Buffer.compare(ours.subarray(at, at + DIGEST_BYTES), theirs.subarray(at, at + DIGEST_BYTES))
    )
      differing.push(at / DIGEST_BYTES);
  return differing;
};

/** Subpages whose records differ between the two sides, in ascending order. */
export const findDifferingSubpages = async (
  ours: TreeDigests,
  theirs: RemoteTree,
): Promise<SubpageIndex[]> => {
  const pages = differingDigests(ours.pageDigests(), await theirs.pageDigests());
  if (pages.length === 0) return [];
  const rows = await theirs.subpageDigests(pages);
  return pages.flatMap((page, index) =>
    differingDigests(ours.subpageDigests(page), rows[index] ?? new Uint8Array()).map(
      (subpage) => page * SUBPAGES_PER_PAGE + subpage,
    ),
  );
};

/** Adapts a local tree to the interface of a remote one. */
export const asRemote = (tree: TreeDigests): RemoteTree => ({
  pageDigests: async () => tree.pageDigests(),
  subpageDigests: async (pages) => pages.map((page) => tree.subpageDigests(page)),
});
