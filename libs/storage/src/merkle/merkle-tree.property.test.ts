import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { digestRecord, subpageOf } from '../records/record-digest.ts';
import { MerkleTree } from './merkle-tree.ts';
import { asRemote, findDifferingSubpages } from './tree-difference.ts';

type Records = ReadonlyMap<string, Uint8Array>;

const path = fc.stringMatching(/^shared\/[a-z0-9]{1,4}$/);
const value = fc.uint8Array({ maxLength: 40 });
const records = fc.array(fc.tuple(path, value), { maxLength: 60 }).map((rows) => new Map(rows));
/** Undefined deletes the record. */
const changes = fc.array(fc.tuple(path, fc.option(value, { nil: undefined })), { maxLength: 80 });

const put = (tree: MerkleTree, at: string, before?: Uint8Array, after?: Uint8Array): void =>
  tree.replace(
    subpageOf(at),
    before && digestRecord(at, before).leaf,
    after && digestRecord(at, after).leaf,
  );

const treeOf = (content: Records, order = [...content.keys()]): MerkleTree => {
  const tree = new MerkleTree();
  for (const at of order) put(tree, at, undefined, content.get(at));
  return tree;
};

describe('Merkle tree', () => {
  test('does not depend on the order of the records', () => {
    fc.assert(
      fc.property(
        records.chain((content) =>
          fc.tuple(
            fc.constant(content),
            fc.shuffledSubarray([...content.keys()], { minLength: content.size }),
          ),
        ),
        ([content, order]) => {
          expect(treeOf(content, order).rootDigest()).toEqual(treeOf(content).rootDigest());
        },
      ),
      propertySettings(),
    );
  });

  test('updated record by record equals the tree built from the remaining records', () => {
    fc.assert(
      fc.property(records, changes, (start, later) => {
        const content = new Map(start);
        const tree = treeOf(content);
        tree.rootDigest();
        for (const [at, after] of later) {
          put(tree, at, content.get(at), after);
          if (after === undefined) content.delete(at);
          else content.set(at, after);
        }
        expect(tree.pageDigests()).toEqual(treeOf(content).pageDigests());
      }),
      propertySettings(),
    );
  });

  test('recounted subpage by subpage is the same tree', () => {
    fc.assert(
      fc.property(records, records, (content, stale) => {
        const tree = treeOf(stale);
        const leaves = new Map<number, Uint8Array[]>();
        for (const at of [...stale.keys(), ...content.keys()]) leaves.set(subpageOf(at), []);
        for (const [at, stored] of content)
          leaves.get(subpageOf(at))?.push(digestRecord(at, stored).leaf);
        for (const [subpage, all] of leaves) tree.recount(subpage, all);
        expect(tree.rootDigest()).toEqual(treeOf(content).rootDigest());
      }),
      propertySettings(),
    );
  });

  test('is restored from saved pages, whenever they were saved', () => {
    fc.assert(
      fc.property(records, records, (first, second) => {
        const tree = treeOf(first);
        const saved = new Map<number, Uint8Array>();
        const save = (): void => {
          for (const { page, subpageDigests } of tree.takeUnsavedPages())
            saved.set(page, subpageDigests);
        };
        save();
        for (const [at, stored] of second) put(tree, at, first.get(at), stored);
        save();
        expect(tree.takeUnsavedPages()).toEqual([]);
        const restored = new MerkleTree();
        for (const [page, digests] of saved) restored.restorePage(page, digests);
        expect(restored.rootDigest()).toEqual(tree.rootDigest());
      }),
      propertySettings(),
    );
  });

  test('a difference names exactly the subpages whose records differ', async () => {
    await fc.assert(
      fc.asyncProperty(records, changes, async (ours, later) => {
        const theirs = new Map(ours);
        for (const [at, after] of later)
          if (after === undefined) theirs.delete(at);
          else theirs.set(at, after);
        const expected = new Set<number>();
        for (const at of new Set([...ours.keys(), ...theirs.keys()])) {
          const [a, b] = [ours.get(at), theirs.get(at)];
          const isSame = a !== undefined && b !== undefined && Buffer.compare(a, b) === 0;
          if (!isSame) expected.add(subpageOf(at));
        }
        const found = await findDifferingSubpages(treeOf(ours), asRemote(treeOf(theirs)));
        expect(found).toEqual([...expected].sort((a, b) => a - b));
      }),
      propertySettings(),
    );
  });
});
