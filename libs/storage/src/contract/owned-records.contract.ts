/** Records that are deleted with their owner. */
import { describe, expect, test } from 'vitest';
import { deleteOwned, listOwners, removeOwned } from '../collections/owned-records.ts';
import {
  books,
  labels,
  listLibraryPaths,
  notes,
  plans,
  shelves,
  tale,
} from './library-collections.ts';
import { damage, put, type StoreContext } from './store-context.ts';

export const registerOwnedRecordsContract = (context: StoreContext): void => {
  describe('what an owner owns', () => {
    const fill = () =>
      context.store.transact(async (tx) => {
        for (const [shelf, libraryId] of [
          ['s1', 'l1'],
          ['s2', 'l1'],
          ['s3', 'l2'],
        ] as const) {
          await shelves.write(tx, shelf, { libraryId });
          labels.write(tx, shelf, 'label');
          for (const book of [`${shelf}a`, `${shelf}b`]) {
            await books.write(tx, book, { ...tale, shelfId: shelf, readerId: 'r1' });
            for (const page of ['1', '2']) notes.write(tx, [book, page], 'note');
          }
        }
        for (const library of ['l1', 'l2'])
          for (const scope of ['shared', 'local'] as const)
            plans.at(scope, library).write(tx, 'floor', 'plan');
      });
    const isOf = (library: string) => (path: string) =>
      library === 'l1' ? /l1|s1|s2/.test(path) : /l2|s3/.test(path);

    test('is deleted with it, also what the owned records own, and nothing else', async () => {
      await fill();
      const others = (await listLibraryPaths(context.store)).filter((path) => !isOf('l1')(path));
      const remove = () =>
        context.store.transact((tx) => deleteOwned(tx, { kind: 'library', id: 'l1' }));
      // 2 plans; and for each of 2 shelves the shelf, its label, and 2 books with 2 notes each.
      expect(await remove()).toBe(2 + 2 * (1 + 1 + 2 * (1 + 2)));
      expect(await listLibraryPaths(context.store)).toEqual(others);
      expect(others.filter(isOf('l2'))).toEqual(others);
      expect(await remove()).toBe(0);
    });

    test('is deleted with any of several owners', async () => {
      await fill();
      await context.store.transact((tx) => deleteOwned(tx, { kind: 'reader', id: 'r1' }));
      expect(
        (await listLibraryPaths(context.store)).filter((path) => /books|notes/.test(path)),
      ).toEqual([]);
      expect(await shelves.keys(context.store)).toEqual(['s1', 's2', 's3']);
    });

    test('is deleted in batches, each of which may be the last before an interruption', async () => {
      for (const limit of [2, 5, 18, 19]) {
        await fill();
        const batches: number[] = [];
        for (let count = limit; count === limit; batches.push(count)) {
          await context.reopen();
          count = await context.store.transact((tx) =>
            deleteOwned(tx, { kind: 'library', id: 'l1' }, { limit }),
          );
        }
        expect(batches).toEqual([...Array(Math.floor(18 / limit)).fill(limit), 18 % limit]);
        expect((await listLibraryPaths(context.store)).filter(isOf('l1'))).toEqual([]);
      }
    });

    test('is deleted also where it cannot be read', async () => {
      await fill();
      await damage(context.store, shelves.path('s1'), books.path('s1a'), notes.path('s1b', '1'));
      await damage(context.store, labels.path('s2'));
      await context.store.transact((tx) => deleteOwned(tx, { kind: 'library', id: 'l1' }));
      expect((await listLibraryPaths(context.store)).filter(isOf('l1'))).toEqual([]);
    });

    test('is deleted in some scopes only, where the others belong to another cluster', async () => {
      await fill();
      await removeOwned(context.store, { kind: 'library', id: 'l1' }, ['local']);
      expect(
        (await listLibraryPaths(context.store)).filter((path) => /libraries/.test(path)),
      ).toEqual([
        'shared/libraries/l1/plans/floor',
        'shared/libraries/l2/plans/floor',
        'local/libraries/l2/plans/floor',
      ]);
    });

    test('tells who owns something, also after the owner is gone', async () => {
      expect(await listOwners(context.store, 'shelf')).toEqual(new Set());
      await fill();
      await context.store.transact((tx) => shelves.delete(tx, 's1'));
      expect(await listOwners(context.store, 'shelf')).toEqual(new Set(['s1', 's2', 's3']));
      expect(await listOwners(context.store, 'library')).toEqual(new Set(['l1', 'l2']));
      expect(await listOwners(context.store, 'library', ['node'])).toEqual(new Set());
      await removeOwned(context.store, { kind: 'library', id: 'l2' });
      expect(await listOwners(context.store, 'library')).toEqual(new Set(['l1']));
    });

    test('is another than that of an owner whose id begins alike', async () => {
      await put(context.store, { [labels.path('s')]: '"a"', [labels.path('s1')]: '"b"' });
      await context.store.transact((tx) => deleteOwned(tx, { kind: 'shelf', id: 's' }));
      expect(await labels.keys(context.store)).toEqual(['s1']);
    });
  });
};
