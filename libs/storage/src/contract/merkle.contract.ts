/** Merkle trees over the records. */
import { describe, expect, test } from 'vitest';
import { MerkleTree } from '../merkle/merkle-tree.ts';
import { subpageOf } from '../records/record-digest.ts';
import { entriesAfter, put, type StoreContext } from './store-context.ts';

export const registerMerkleContract = (context: StoreContext): void => {
  describe('Merkle roots', () => {
    const roots = () => context.store.merkle.roots();
    const rebuiltRoots = async () => {
      await context.store.merkle.rebuild();
      return roots();
    };

    test('follow writes, changes and deletions as if recomputed', async () => {
      await put(context.store, { 'shared/a': '1', 'local/b': '2', 'shared/c': '3' });
      expect(await roots()).toEqual(await rebuiltRoots());
      await Promise.all(
        Array.from({ length: 20 }, (_, n) => put(context.store, { 'shared/a': String(n) })),
      );
      await context.store.transact((tx) => {
        tx.delete('shared/c');
        tx.delete('shared/never-there');
        tx.delete('local/b');
      });
      expect(await roots()).toEqual(await rebuiltRoots());
    });

    test('distinguish the scopes and ignore node scope', async () => {
      const empty = await roots();
      await put(context.store, { 'node/a': '1' });
      expect(await roots()).toEqual(empty);
      await put(context.store, { 'local/a': '1' });
      const withLocal = await roots();
      expect(withLocal.replicated).toBe(empty.replicated);
      expect(withLocal.local).not.toBe(empty.local);
      expect(withLocal.composite).not.toBe(empty.composite);
      await context.store.transact((tx) => tx.delete('local/a'));
      expect(await roots()).toEqual(empty);
    });

    test('are equal after reopening, even if the log behind them is gone', async () => {
      await put(context.store, { 'shared/a': '1', 'local/b': '2' });
      const before = await roots();
      await context.reopen();
      expect(await roots()).toEqual(before);
      await put(context.store, { 'shared/c': '3' });
      await context.store.wal.prune({ maxAgeMs: -3_600_000, maxBytes: 0 });
      await context.reopen();
      expect(await roots()).toEqual(await rebuiltRoots());
    });

    test('are those of another store whose entries were applied', async () => {
      await put(context.store, { 'shared/a': '1', 'shared/b': '2' });
      const source = await roots();
      const entries = await entriesAfter(context.store, 0);
      await put(context.store, { 'shared/a': 'other' });
      expect(await roots()).not.toEqual(source);
      await context.store.applyEntries('primary', entries);
      expect((await roots()).replicated).toBe(source.replicated);
      expect(await roots()).toEqual(await rebuiltRoots());
    });

    test('show which records are in a subpage of a tree', async () => {
      await put(context.store, { 'shared/a': '1', 'local/b': '2', 'node/c': '3' });
      const { stored } = context.store;
      expect(await stored.listSubpage('replicated', subpageOf('shared/a'))).toEqual(['shared/a']);
      expect(await stored.listSubpage('local', subpageOf('shared/a'))).toEqual([]);
      expect(await stored.listSubpage('local', subpageOf('local/b'))).toEqual(['local/b']);
      await context.store.transact((tx) => tx.delete('local/b'));
      expect(await stored.listSubpage('local', subpageOf('local/b'))).toEqual([]);
    });

    test('without selected records are those of a store that never had them, while others commit', async () => {
      const { store } = context;
      const kept = Object.fromEntries(
        Array.from({ length: 30 }, (_, n) => [`shared/b/kept-${n}`, String(n)]),
      );
      await put(store, kept);
      const expected = (await roots()).replicated;
      await put(
        store,
        Object.fromEntries(Array.from({ length: 450 }, (_, n) => [`shared/a/${n}`, String(n)])),
      );
      await put(store, { 'shared/c/left/x': '1', 'local/a/1': 'x' });
      const reduced = store.merkle.leavingOut({
        prefixes: async () => ['shared/a/', 'shared/c/'],
        prepare: async () => undefined,
        has: (path) => path.startsWith('shared/a/') || path.startsWith('shared/c/left/'),
      });
      expect(reduced.isCounted).toBe(false);
      const rootOf = async (): Promise<string> =>
        Buffer.from((await reduced.current()).rootDigest()).toString('hex');
      const writes = Array.from({ length: 60 }, (_, n) =>
        store.transact((tx) => {
          tx.write(`shared/a/${n * 7}`, Buffer.from('changed'));
          tx.write(`shared/a/new-${n}`, Buffer.from('new'));
          tx.delete(`shared/a/${449 - n}`);
        }),
      );
      const [counted] = await Promise.all([rootOf(), ...writes]);
      expect(counted).toBe(expected);
      expect(reduced.isCounted).toBe(true);
      expect(await rootOf()).toBe(expected);
      await store.transact((tx) => tx.delete('shared/a/new-1'));
      await put(store, { 'shared/a/late': '1', 'shared/c/left/x': '2' });
      expect(await rootOf()).toBe(expected);
      await store.wal.prune({ maxAgeMs: -3_600_000, maxBytes: 0 });
      await put(store, { 'shared/a/late': '2' });
      await store.wal.prune({ maxAgeMs: -3_600_000, maxBytes: 0 });
      expect(await rootOf()).toBe(expected);
      await put(store, { 'shared/c/other': '1' });
      expect(await rootOf()).not.toBe(expected);
    });

    test('are without selected records below a prefix that is new while the others are asked for', async () => {
      const { store } = context;
      await put(store, { 'shared/b/kept': '1' });
      const expected = (await roots()).replicated;
      await put(store, { 'shared/a/left': '1' });
      const reduced = store.merkle.leavingOut({
        prefixes: async () => {
          await put(store, { 'shared/new/left': '1' });
          return ['shared/a/'];
        },
        prepare: async () => undefined,
        has: (path) => !path.startsWith('shared/b/'),
      });
      const tree = await reduced.current();
      expect(Buffer.from(tree.rootDigest()).toString('hex')).toBe(expected);
    });

    test('are checked without keeping others from committing', async () => {
      const { store } = context;
      for (let part = 0; part < 10; part += 1)
        await store.transact((tx) => {
          for (let n = 0; n < 1000; n += 1) tx.write(`shared/${part}/${n}`, Buffer.from('1'));
        });
      let isChecked = false;
      const checking = store.merkle.check().finally(() => {
        isChecked = true;
      });
      let commits = 0;
      while (!isChecked) {
        await put(store, { [`shared/meanwhile/${commits % 10}`]: String(commits) });
        commits += 1;
      }
      expect((await checking).corrupted_root).toBe(false);
      // Two can be on their way when the check begins and ends.
      expect(commits).toBeGreaterThan(3);
      expect((await store.merkle.check()).corrupted_root).toBe(false);
    });

    test('are checked against the records, while others commit', async () => {
      await put(context.store, { 'shared/a': '1', 'local/b': '2' });
      const [report] = await Promise.all([
        context.store.merkle.check(),
        ...Array.from({ length: 20 }, (_, n) => put(context.store, { [`shared/${n}`]: '1' })),
      ]);
      expect(report.corrupted_root).toBe(false);
      const { replicated } = await context.store.merkle.current();
      if (!(replicated instanceof MerkleTree)) throw new Error('not the tree that is kept');
      replicated.replace(258, undefined, new Uint8Array(20).fill(1));
      const damaged = await context.store.merkle.check();
      expect(damaged.corrupted_root).toBe(true);
      expect(damaged.corrupted_tree_map['1']?.corrupted_index_tuples_map).toEqual({
        1: { corrupted: true, subpages: [2] },
      });
      expect(damaged.corrupted_tree_map['2']?.corrupted_index_tuples_map).toBeNull();
    });
  });
};
