/**
 * Compares a store's maintained trees with trees rebuilt from its records. The report has the shape
 * of the administration document ("Merkle check report").
 */

import { TREE_TYPES } from '../records/record-digest.ts';
import type { MerkleCorruptionReport, SubtreeReport, TreeType } from '../store.ts';
import { compositeRoot, type MerkleTree, SUBPAGES_PER_PAGE } from './merkle-tree.ts';
import { asRemote, findDifferingSubpages } from './tree-difference.ts';

export type TreePair = Readonly<Record<TreeType, MerkleTree>>;

const differ = (a: Uint8Array, b: Uint8Array): boolean => Buffer.compare(a, b) !== 0;

const checkTree = async (
  type: TreeType,
  kept: MerkleTree,
  rebuilt: MerkleTree,
): Promise<SubtreeReport> => {
  const differing = await findDifferingSubpages(kept, asRemote(rebuilt));
  const pages: Record<string, { corrupted: boolean; subpages: number[] }> = {};
  for (const index of differing) {
    const page = Math.floor(index / SUBPAGES_PER_PAGE);
    const entry = (pages[page] ??= { corrupted: true, subpages: [] });
    entry.subpages.push(index % SUBPAGES_PER_PAGE);
  }
  return {
    corrupted_index_tuples_map: differing.length === 0 ? null : pages,
    corrupted_subtree_root: differ(kept.rootDigest(), rebuilt.rootDigest()),
    root_hash: Buffer.from(kept.rootDigest()).toString('base64'),
    tree_type: type,
  };
};

/**
 * Compares the maintained trees with trees rebuilt from the records; differences indicate damage.
 */
export const checkTrees = async (
  kept: TreePair,
  rebuilt: TreePair,
): Promise<MerkleCorruptionReport> => {
  const subtrees: Record<string, SubtreeReport> = {};
  for (const [index, type] of TREE_TYPES.entries())
    subtrees[index + 1] = await checkTree(type, kept[type], rebuilt[type]);
  return {
    corrupted_root: differ(
      compositeRoot(kept.replicated, kept.local),
      compositeRoot(rebuilt.replicated, rebuilt.local),
    ),
    corrupted_tree_map: subtrees,
  };
};
