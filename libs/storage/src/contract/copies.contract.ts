/** Copies of a whole store, and restoring them. */
import { describe, expect, test } from 'vitest';
import { loadRestoration } from '../copies/store-copies.ts';
import type { StoreCopy } from '../store.ts';
import { entriesAfter, get, put, refusal, type StoreContext } from './store-context.ts';

const readPages = async (copy: StoreCopy): Promise<Uint8Array[]> => {
  const pages: Uint8Array[] = [];
  for await (const page of copy.pages) pages.push(page);
  await copy.close();
  return pages;
};

export const registerCopiesContract = (context: StoreContext): void => {
  describe('copies', () => {
    const countRecords = async (): Promise<number> => {
      const { store } = context;
      const scans = await Promise.all(
        ['shared/', 'local/', 'node/'].map((scope) => store.scan(scope)),
      );
      return scans.flat().length;
    };

    test('hold what was committed when they began, and nothing later', async () => {
      const { store } = context;
      await put(store, { 'shared/a': 'before', 'local/b': 'before', 'node/c': 'before' });
      const records = await countRecords();
      const copy = await store.copies.take();
      await put(store, { 'shared/a': 'after', 'shared/d': 'after' });
      await store.transact((tx) => tx.delete('local/b'));
      expect(await get(store, 'local/b')).toBeUndefined();
      const pages = await readPages(copy);
      for (const page of pages) await store.copies.stage('one', page);
      await store.copies.replace('one', { records, sequence: copy.sequence });
      expect(await get(store, 'shared/a')).toBe('before');
      expect(await get(store, 'local/b')).toBe('before');
      expect(await get(store, 'node/c')).toBe('before');
      expect(await get(store, 'shared/d')).toBeUndefined();
      expect(await store.list('shared/')).toEqual(['a']);
    });

    test('hold commits back while the given work runs', async () => {
      const { store } = context;
      const order: string[] = [];
      let committed: Promise<void> | undefined;
      const copy = await store.copies.take(async () => {
        committed = put(store, { 'shared/a': 'x' }).then(() => void order.push('commit'));
        await store.wal.headSequence();
        order.push('work');
      });
      await committed;
      await copy.close();
      expect(order).toEqual(['work', 'commit']);
    });

    test('are of many pages, with records of any size', async () => {
      const { store } = context;
      const large = 'x'.repeat(300_000);
      await put(store, { 'shared/large/1': large, 'shared/large/2': large });
      for (let group = 0; group < 3; group += 1)
        await put(
          store,
          Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`local/${group}/${n}`, 'v'])),
        );
      const records = await countRecords();
      const copy = await store.copies.take();
      const pages = await readPages(copy);
      expect(pages.length).toBeGreaterThan(1);
      for (const page of pages) await store.copies.stage('one', page);
      await store.copies.replace('one', { records, sequence: copy.sequence });
      expect(await get(store, 'shared/large/2')).toBe(large);
      expect(await store.list('local/2/')).toHaveLength(400);
    });

    test('replace nothing when records are missing', async () => {
      const { store } = context;
      await put(store, { 'shared/a': 'kept' });
      const copy = await store.copies.take();
      for (const page of await readPages(copy)) await store.copies.stage('one', page);
      const replacing = store.copies.replace('one', { records: 99, sequence: copy.sequence });
      await expect(replacing).rejects.toThrow(refusal('storage.damaged_copy'));
      // Pages of another restoration do not count.
      await store.copies.stage(
        'two',
        (await readPages(await store.copies.take()))[0] as Uint8Array,
      );
      await expect(
        store.copies.replace('one', { records: 1, sequence: copy.sequence }),
      ).rejects.toThrow(refusal('storage.damaged_copy'));
      expect(await get(store, 'shared/a')).toBe('kept');
    });

    test('are refused when a page is damaged', async () => {
      const staging = async () => context.store.copies.stage('one', Buffer.from([1, 200, 1]));
      await expect(staging()).rejects.toThrow(refusal('storage.damaged_copy'));
    });

    test('end the log: followers start again, trees are counted again, and the store is marked', async () => {
      const { store } = context;
      await put(store, { 'shared/a': 'before' });
      const { roots } = { roots: await store.merkle.roots() };
      const records = await countRecords();
      const copy = await store.copies.take();
      const pages = await readPages(copy);
      await put(store, { 'shared/a': 'after' });
      const position = await store.position();
      for (const page of pages) await store.copies.stage('one', page);
      await store.copies.replace('one', { records, sequence: copy.sequence + 100 });
      const head = await store.wal.headSequence();
      expect(head).toBeGreaterThan(copy.sequence + 100);
      await expect(entriesAfter(store, position)).rejects.toThrow(refusal('storage.wal_pruned'));
      expect(store.hasChangedSince(['shared/'], position)).toBe(true);
      expect(await store.merkle.roots()).toEqual(roots);
      expect((await store.merkle.check()).corrupted_root).toBe(false);
      expect((await loadRestoration(store))?.id).toBe('one');
      await put(store, { 'shared/b': 'next' });
      expect((await entriesAfter(store, head)).map(({ sequence }) => sequence)).toEqual([head + 1]);
      await context.reopen();
      expect(await get(context.store, 'shared/a')).toBe('before');
      expect(await get(context.store, 'shared/b')).toBe('next');
    });
  });
};
