import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { digestRecord, subpageOf, treeTypeOf } from '../records/record-digest.ts';
import { checkTrees, type TreePair } from './merkle-check.ts';
import { compositeRoot, MerkleTree } from './merkle-tree.ts';
import { findDifferingSubpages } from './tree-difference.ts';

const STORED = Buffer.from('stored');

const emptyTrees = (): TreePair => ({ replicated: new MerkleTree(), local: new MerkleTree() });

const treesWith = (...paths: readonly string[]): TreePair => {
  const trees = emptyTrees();
  for (const path of paths) {
    const type = treeTypeOf(path);
    const { subpage, leaf } = digestRecord(path, STORED);
    if (type !== undefined) trees[type].replace(subpage, undefined, leaf);
  }
  return trees;
};

const sha256 = (...parts: readonly (Uint8Array | string)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

describe('digests', () => {
  test('follow the documented definition, so that clusters of different versions agree', () => {
    const { replicated } = treesWith('shared/a');
    const pathHash = sha256('shared/a');
    const leaf = sha256(pathHash, STORED).subarray(0, 20);
    const subpages = Buffer.alloc(256 * 20);
    leaf.copy(subpages, (pathHash[1] ?? 0) * 20);
    const emptyPage = sha256(Buffer.alloc(256 * 20)).subarray(0, 20);
    const pages = Array.from({ length: 256 }, () => emptyPage);
    pages[pathHash[0] ?? 0] = sha256(subpages).subarray(0, 20);
    expect(Buffer.from(replicated.rootDigest())).toEqual(sha256(...pages).subarray(0, 20));
  });

  test('of a subpage are the sum of its leaves modulo 2^160', () => {
    const tree = new MerkleTree();
    const leaf = (value: bigint): Buffer =>
      Buffer.from(value.toString(16).padStart(40, '0'), 'hex');
    const top = 2n ** 160n;
    const sumOf = (...values: readonly bigint[]): bigint => {
      tree.recount(0, values.map(leaf));
      return BigInt(`0x${Buffer.from(tree.subpageDigests(0).subarray(0, 20)).toString('hex')}`);
    };
    expect(sumOf(0xffn, 0x01n)).toBe(0x100n);
    expect(sumOf(top - 1n, 2n)).toBe(1n);
    tree.replace(0, leaf(3n), undefined);
    expect(Buffer.from(tree.subpageDigests(0).subarray(0, 20))).toEqual(leaf(top - 2n));
  });

  test('place each scope in its tree and node/ in none', () => {
    expect(['shared/a', 'local/a', 'node/a'].map(treeTypeOf)).toEqual([
      'replicated',
      'local',
      undefined,
    ]);
  });

  test('of both trees together differ when either does', () => {
    const roots = [treesWith(), treesWith('shared/a'), treesWith('local/a')].map((trees) =>
      Buffer.from(compositeRoot(trees.replicated, trees.local)).toString('hex'),
    );
    expect(new Set(roots).size).toBe(3);
  });
});

describe('Merkle check', () => {
  test('finds nothing in equal trees', async () => {
    const report = await checkTrees(treesWith('shared/a'), treesWith('shared/a'));
    expect(report).toMatchObject({
      corrupted_root: false,
      corrupted_tree_map: {
        1: { corrupted_index_tuples_map: null, corrupted_subtree_root: false },
        2: { tree_type: 'local', corrupted_index_tuples_map: null },
      },
    });
  });

  test('names tree, page and subpage of a record that was lost', async () => {
    const kept = treesWith('shared/a', 'local/b');
    const subpage = subpageOf('local/b');
    expect(await checkTrees(kept, treesWith('shared/a'))).toEqual({
      corrupted_root: true,
      corrupted_tree_map: {
        1: {
          corrupted_index_tuples_map: null,
          corrupted_subtree_root: false,
          root_hash: Buffer.from(kept.replicated.rootDigest()).toString('base64'),
          tree_type: 'replicated',
        },
        2: {
          corrupted_index_tuples_map: {
            [subpage >> 8]: { corrupted: true, subpages: [subpage & 0xff] },
          },
          corrupted_subtree_root: true,
          root_hash: Buffer.from(kept.local.rootDigest()).toString('base64'),
          tree_type: 'local',
        },
      },
    });
  });
});

test('digests of a wrong length from another cluster are refused', async () => {
  const remote = {
    pageDigests: async () => new Uint8Array(19),
    subpageDigests: async () => [],
  };
  await expect(findDifferingSubpages(new MerkleTree(), remote)).rejects.toMatchObject({
    code: 'request.invalid',
  });
});

test('a saved page of a wrong size is refused', () => {
  expect(() => new MerkleTree().restorePage(0, new Uint8Array(10))).toThrow(
    expect.objectContaining({ code: 'storage.corrupt' }),
  );
});
