/** Records: bytes, types, views over them, and fencing. */
import { propertySettings } from '@keelson/testkit';
import fc from 'fast-check';
import { Type } from 'typebox';
import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { collection } from '../collections/collection.ts';
import { deriveView } from '../records/derive-view.ts';
import { readableOnly } from '../records/readable-records.ts';
import { subpageOf } from '../records/record-digest.ts';
import { comparePaths } from '../records/record-path.ts';
import type { Fence } from '../store.ts';
import { MAX_VALUE_BYTES } from '../transaction/buffered-transaction.ts';
import { takeFence } from '../transaction/fence.ts';
import {
  bytes,
  damage,
  entriesAfter,
  get,
  put,
  refusal,
  type StoreContext,
  text,
} from './store-context.ts';

export const registerRecordContract = (context: StoreContext): void => {
  describe('records', () => {
    test('exist after reopening, with the version of the commit that wrote them', async () => {
      await put(context.store, { 'shared/a': 'one', 'local/b': 'two', 'node/c': 'three' });
      const before = await context.store.read('shared/a');
      expect(before?.version).toBe(await context.store.wal.headSequence());
      await context.reopen();
      expect(await context.store.read('shared/a')).toEqual(before);
      expect(await get(context.store, 'local/b')).toBe('two');
      expect(await get(context.store, 'node/c')).toBe('three');
      expect(await get(context.store, 'shared/none')).toBeUndefined();
    });

    test('are found where there was none before, also by a transaction that found none', async () => {
      const { store } = context;
      for (let turn = 0; turn < 2; turn += 1)
        expect(await get(store, 'shared/later')).toBeUndefined();
      await put(store, { 'shared/later': 'one' });
      expect(await get(store, 'shared/later')).toBe('one');
      await store.transact((tx) => tx.delete('shared/later'));
      expect(await get(store, 'shared/later')).toBeUndefined();
      const created = async (): Promise<boolean> =>
        store.transact(async (tx) => {
          if ((await tx.read('shared/later')) !== undefined) return false;
          tx.write('shared/later', Buffer.from('two'));
          return true;
        });
      const winners = await Promise.all(Array.from({ length: 8 }, created));
      expect(winners.filter(Boolean)).toHaveLength(1);
    });

    test('equal those of a map with the same changes, across reopenings', async () => {
      const path = fc
        .tuple(
          fc.constantFrom('shared/x/', 'shared/x/y/', 'local/x/', 'node/x/'),
          fc.constantFrom('b', '\uffff', '\u{10000}', 'é/c'),
          fc.nat(3),
        )
        .map((parts) => parts.join(''));
      const change = fc.record({
        writes: fc.array(fc.tuple(path, fc.option(fc.uint8Array({ maxLength: 9 }))), {
          maxLength: 6,
        }),
        isReopened: fc.boolean(),
      });
      const known = new Map<string, Uint8Array>();
      await fc.assert(
        fc.asyncProperty(change, async ({ writes, isReopened }) => {
          await context.store.transact((tx) => {
            for (const [name, value] of writes)
              if (value === null) tx.delete(name);
              else tx.write(name, value);
          });
          for (const [name, value] of writes)
            if (value === null) known.delete(name);
            else known.set(name, value);
          if (isReopened) await context.reopen();
          const paths = [...known.keys()].sort(comparePaths);
          const found = (await context.store.scan('')).filter(({ path: name }) =>
            name.includes('/x/'),
          );
          expect(found.map((record) => record.path)).toEqual(paths);
          for (const record of found)
            expect(Buffer.from(record.value)).toEqual(Buffer.from(known.get(record.path) ?? ''));
          for (const tree of ['replicated', 'local'] as const) {
            const scope = tree === 'replicated' ? 'shared/' : 'local/';
            for (const name of paths.filter((one) => one.startsWith(scope)))
              expect(await context.store.stored.listSubpage(tree, subpageOf(name))).toContain(name);
          }
        }),
        propertySettings({ numRuns: 25 }),
      );
    });

    test('of shared and local scope are encrypted on disk, those of node scope are not', async () => {
      const head = await context.store.wal.headSequence();
      await put(context.store, { 'shared/a': 'secret', 'local/b': 'secret', 'node/c': 'secret' });
      const [entry] = await entriesAfter(context.store, head);
      const stored = new Map(entry?.operations.map(({ path, stored }) => [path, stored]));
      expect(text(stored.get('shared/a'))).not.toContain('secret');
      expect(text(stored.get('local/b'))).not.toContain('secret');
      expect(text(stored.get('node/c'))).toBe('secret');
    });

    test('are refused once the barrier is sealed, cached or not', async () => {
      await put(context.store, { 'shared/a': 'one', 'node/c': 'three' });
      expect(await get(context.store, 'shared/a')).toBe('one');
      context.barrier.seal();
      await expect(context.store.read('shared/a')).rejects.toThrow(refusal('storage.sealed'));
      await expect(context.store.scan('shared/')).rejects.toThrow(refusal('storage.sealed'));
      await expect(put(context.store, { 'shared/b': 'x' })).rejects.toThrow(
        refusal('storage.sealed'),
      );
      expect(await get(context.store, 'node/c')).toBe('three');
    });

    test.for([
      'other/a',
      'shared',
      '/shared/a',
      'shared/a/',
      'shared//a',
      'shared/a\u0000b',
      'shared/\ud800',
      `shared/${'é'.repeat(512)}`,
    ])('are refused at the path %j', async (path) => {
      await expect(context.store.read(path)).rejects.toThrow(refusal('storage.invalid_path'));
      await expect(put(context.store, { [path]: 'x' })).rejects.toThrow(
        refusal('storage.invalid_path'),
      );
    });

    test('may be as large as the limit and no larger', async () => {
      const value = new Uint8Array(MAX_VALUE_BYTES).fill(7);
      await context.store.transact((tx) => tx.write('shared/a', value));
      expect((await context.store.read('shared/a'))?.value.length).toBe(MAX_VALUE_BYTES);
      await expect(
        context.store.transact((tx) => tx.write('shared/a', new Uint8Array(MAX_VALUE_BYTES + 1))),
      ).rejects.toThrow(refusal('storage.too_large'));
    });

    test('of one transaction are limited in total', async () => {
      const value = new Uint8Array(MAX_VALUE_BYTES);
      await expect(
        context.store.transact((tx) => {
          for (let count = 0; count < 5; count += 1) tx.write(`shared/${count}`, value);
        }),
      ).rejects.toThrow(refusal('storage.too_large'));
    });
  });

  describe('fencing', () => {
    const take = (lease = 'crl-builder'): Promise<Fence> => takeFence(context.store, lease);
    const write = (fence: Fence, text: string): Promise<void> =>
      context.store.transact((tx) => tx.write('shared/a', bytes(text)), { fence });

    test('refuses a holder after another has taken over, also after reopening', async () => {
      const first = await take();
      await write(first, 'first');
      const second = await take();
      await expect(write(first, 'late')).rejects.toThrow(refusal('storage.fenced'));
      await write(second, 'second');
      await write(second, 'second again');
      await context.reopen();
      await expect(write(first, 'late')).rejects.toThrow(refusal('storage.fenced'));
      expect(await get(context.store, 'shared/a')).toBe('second again');
    });

    test('refuses a holder that was replaced while its body ran', async () => {
      const fence = await take();
      let runs = 0;
      const overtaken = context.store.transact(
        async (tx) => {
          runs += 1;
          if (runs === 1) await take();
          tx.write('shared/a', bytes('late'));
        },
        { fence },
      );
      await expect(overtaken).rejects.toThrow(refusal('storage.fenced'));
      expect(await get(context.store, 'shared/a')).toBeUndefined();
    });

    test('refuses a holder that never acquired the lease in this store', async () => {
      const fence = { lease: 'crl-builder', holder: 'of another store' };
      await expect(write(fence, 'foreign')).rejects.toThrow(refusal('storage.fenced'));
    });

    test('keeps leases separate', async () => {
      const fence = await take();
      await take('tidy');
      await write(fence, 'x');
      expect(await get(context.store, 'shared/a')).toBe('x');
    });
  });

  describe('typed records', () => {
    const rooms = collection('rooms', {
      scope: 'shared',
      version: 1,
      keys: 'paths',
      shape: Type.Object({ seats: Type.Number(), tags: Type.Optional(Type.Array(Type.String())) }),
    });

    test('are decoded once until they change', async () => {
      await context.store.transact((tx) => rooms.write(tx, 'blue', { seats: 4, tags: ['a'] }));
      const first = await rooms.find(context.store, 'blue');
      expect(first).toEqual({ seats: 4, tags: ['a'] });
      expect(await rooms.find(context.store, 'blue')).toBe(first);
      expectTypeOf(first?.tags).toEqualTypeOf<readonly string[] | undefined>();
      await context.store.transact((tx) => rooms.write(tx, 'blue', { seats: 5 }));
      expect(await rooms.find(context.store, 'blue')).toEqual({ seats: 5 });
    });

    test('are listed by key and read in order', async () => {
      await context.store.transact((tx) => {
        for (const key of ['c', 'a', 'b/1']) rooms.write(tx, key, { seats: key.length });
      });
      expect(await rooms.keys(context.store)).toEqual(['a', 'b/', 'c']);
      expect(await rooms.entries(context.store, { after: 'a' })).toEqual([
        ['b/1', { seats: 3 }],
        ['c', { seats: 1 }],
      ]);
      await context.store.transact((tx) => rooms.delete(tx, 'a'));
      expect(await rooms.find(context.store, 'a')).toBeUndefined();
    });
  });

  describe('a damaged record', () => {
    const rooms = collection('rooms', {
      scope: 'shared',
      version: 1,
      keys: 'paths',
      shape: Type.Object({ seats: Type.Number() }),
    });
    beforeEach(async () => {
      await context.store.transact((tx) => {
        for (const key of ['a', 'b', 'c/1']) rooms.write(tx, key, { seats: 1 });
      });
      await damage(context.store, rooms.path('b'));
    });

    test('is an error where it is read, and left out where the others are wanted', async () => {
      const refused = refusal('barrier.damaged_value');
      await expect(rooms.find(context.store, 'b')).rejects.toThrow(refused);
      await expect(rooms.entries(context.store)).rejects.toThrow(refused);
      expect(await rooms.readableEntries(context.store)).toEqual({
        entries: [
          ['a', { seats: 1 }],
          ['c/1', { seats: 1 }],
        ],
        damaged: ['b'],
      });
      expect(await rooms.readableEntries(context.store, { after: 'a', limit: 1 })).toEqual({
        entries: [['c/1', { seats: 1 }]],
        damaged: ['b'],
      });
      const readable = readableOnly(context.store);
      expect(await rooms.find(readable, 'b')).toBeUndefined();
      expect(await rooms.find(readable, 'a')).toEqual({ seats: 1 });
      expect((await rooms.entries(readable)).map(([key]) => key)).toEqual(['a', 'c/1']);
    });

    test('is reported once by its path, until it is written', async () => {
      expect(context.store.damagedPaths()).toEqual([]);
      for (let reads = 0; reads < 2; reads += 1) await rooms.readableEntries(context.store);
      expect(context.store.damagedPaths()).toEqual([rooms.path('b')]);
      expect(context.damaged).toEqual([rooms.path('b')]);
      const read = await context.store.transact(async (tx) => {
        rooms.write(tx, 'b', { seats: 2 });
        return (await rooms.readableEntries(tx)).damaged;
      });
      expect([read, context.store.damagedPaths()]).toEqual([[], []]);
      await damage(context.store, rooms.path('b'));
      await rooms.readableEntries(context.store);
      expect(context.damaged).toEqual([rooms.path('b'), rooms.path('b')]);
    });
  });

  test('the size of a store includes what was written', async () => {
    const before = await context.store.sizeBytes();
    const value = new Uint8Array(1_000_000);
    await context.store.transact((tx) => {
      for (let record = 0; record < 4; record += 1) tx.write(`local/big/${record}`, value);
    });
    expect(await context.store.sizeBytes()).toBeGreaterThan(before + 4 * value.byteLength);
  });

  describe('derived views', () => {
    test('are rebuilt only when something below their prefixes changed', async () => {
      let built = 0;
      const names = deriveView(context.store, ['shared/m/'], (reads) => {
        built += 1;
        return reads.list('shared/m/');
      });
      expect(await names()).toEqual([]);
      await put(context.store, { 'shared/other': 'x' });
      expect(await names()).toEqual([]);
      expect(built).toBe(1);
      await put(context.store, { 'shared/m/1': 'x' });
      expect(await names()).toEqual(['1']);
      expect(built).toBe(2);
    });

    test('reflect every commit acknowledged before they were requested', async () => {
      const count = deriveView(context.store, ['shared/m/'], async (reads) => {
        return (await reads.list('shared/m/')).length;
      });
      const lags = await Promise.all(
        Array.from({ length: 40 }, async (_, n) => {
          await put(context.store, { [`shared/m/${n}`]: 'x' });
          const acknowledged = (await context.store.list('shared/m/')).length;
          return acknowledged - (await count());
        }),
      );
      expect(Math.max(...lags)).toBeLessThanOrEqual(0);
    });
  });
};
