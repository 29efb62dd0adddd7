/** Listings and scans. */
import { describe, expect, test } from 'vitest';
import { bytes, put, type StoreContext, text } from './store-context.ts';

export const registerListingContract = (context: StoreContext): void => {
  describe('listing', () => {
    const PATHS = [
      'shared/x',
      'shared/x-1',
      'shared/x/a',
      'shared/x/b',
      'shared/y/a/b',
      'shared/é',
    ];

    test('names what is directly below the prefix in byte order', async () => {
      await put(context.store, Object.fromEntries(PATHS.map((path) => [path, path])));
      expect(await context.store.list('shared/')).toEqual(['x', 'x-1', 'x/', 'y/', 'é']);
      expect(await context.store.list('shared/x/')).toEqual(['a', 'b']);
      expect(await context.store.list('shared/none/')).toEqual([]);
    });

    test('continues after a name and stops at the limit', async () => {
      await put(context.store, Object.fromEntries(PATHS.map((path) => [path, path])));
      expect(await context.store.list('shared/', { after: 'x', limit: 2 })).toEqual(['x-1', 'x/']);
      expect(await context.store.list('shared/', { after: 'x/' })).toEqual(['y/', 'é']);
      expect(await context.store.list('shared/', { limit: 0 })).toEqual([]);
    });

    test('skips subtrees larger than a page', async () => {
      const paths = Array.from({ length: 300 }, (_, index) => `shared/big/${index}`);
      await put(
        context.store,
        Object.fromEntries([...paths, 'shared/small/1'].map((path) => [path, ''])),
      );
      expect(await context.store.list('shared/')).toEqual(['big/', 'small/']);
      expect((await context.store.list('shared/big/')).length).toBe(300);
    });

    test('scans records in path order', async () => {
      await put(context.store, Object.fromEntries(PATHS.map((path) => [path, path])));
      const scanned = await context.store.scan('shared/');
      expect(scanned.map(({ path }) => path)).toEqual(
        PATHS.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
      );
      expect(scanned.map(({ value }) => text(value))).toEqual(scanned.map(({ path }) => path));
      const page = await context.store.scan('shared/', { after: 'shared/x', limit: 2 });
      expect(page.map(({ path }) => path)).toEqual(['shared/x-1', 'shared/x/a']);
    });

    test('continues a scan from a position between records, and never leaves the prefix', async () => {
      await put(context.store, Object.fromEntries(PATHS.map((path) => [path, path])));
      const after = async (prefix: string, place: string) =>
        (await context.store.scan(prefix, { after: place })).map(({ path }) => path);
      const below = ['shared/x/a', 'shared/x/b'];
      expect(await after('shared/x/', 'shared/x/')).toEqual(below);
      expect(await after('shared/', 'shared/x/')).toEqual([...below, 'shared/y/a/b', 'shared/é']);
      expect(await after('shared/x/', 'shared/a')).toEqual(below);
      expect(await after('shared/x/', 'shared/z')).toEqual([]);
    });

    test('sees the writes of its own transaction', async () => {
      await put(context.store, { 'shared/a': '1', 'shared/b': '2', 'shared/c/d': '3' });
      await context.store.transact(async (tx) => {
        tx.write('shared/aa', bytes('new'));
        tx.delete('shared/b');
        tx.delete('shared/c/d');
        expect(await tx.list('shared/')).toEqual(['a', 'aa']);
        expect(await tx.list('shared/', { limit: 1 })).toEqual(['a']);
        const scanned = await tx.scan('shared/', { after: 'shared/a' });
        expect(scanned.map(({ path, version }) => [path, version])).toEqual([['shared/aa', 0]]);
        expect(text((await tx.read('shared/aa'))?.value)).toBe('new');
        expect(await tx.read('shared/b')).toBeUndefined();
      });
    });
  });
};
