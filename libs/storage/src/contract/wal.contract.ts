/** The log, and applying the log of another store. */
import { describe, expect, test } from 'vitest';
import type { WalEntry } from '../store.ts';
import { takeFence } from '../transaction/fence.ts';
import { entriesAfter, get, put, refusal, type StoreContext } from './store-context.ts';

export const registerWalContract = (context: StoreContext): void => {
  describe('write-ahead log', () => {
    test('has one entry per transaction, without gaps, also after reopening', async () => {
      const start = await context.store.wal.headSequence();
      await Promise.all(
        Array.from({ length: 30 }, (_, n) => put(context.store, { [`shared/${n}`]: 'x' })),
      );
      await context.reopen();
      await put(context.store, { 'shared/0': 'y' });
      const entries = await entriesAfter(context.store, start);
      expect(entries.map(({ sequence }) => sequence)).toEqual(
        Array.from({ length: 31 }, (_, n) => start + 1 + n),
      );
      expect(entries.at(-1)?.operations.map(({ path }) => path)).toEqual(['shared/0']);
    });

    test('holds deletions', async () => {
      await put(context.store, { 'shared/a': '1' });
      const head = await context.store.wal.headSequence();
      await context.store.transact((tx) => tx.delete('shared/a'));
      expect((await entriesAfter(context.store, head))[0]?.operations).toEqual([
        expect.objectContaining({ path: 'shared/a', stored: undefined }),
      ]);
      expect(await get(context.store, 'shared/a')).toBeUndefined();
    });

    test('is followed live until the follower stops', async () => {
      const stop = new AbortController();
      const start = await context.store.wal.headSequence();
      const followed: number[] = [];
      const follower = (async () => {
        for await (const { sequence } of context.store.wal.follow(start, stop.signal)) {
          followed.push(sequence - start);
          if (sequence < start + 3) await put(context.store, { 'shared/a': String(sequence) });
          else stop.abort();
        }
      })();
      await put(context.store, { 'shared/a': 'first' });
      await follower;
      expect(followed).toEqual([1, 2, 3]);
    });

    test('ends for its followers when the store closes', async () => {
      const start = await context.store.wal.headSequence();
      const entries = context.store.wal.follow(start, new AbortController().signal);
      const next = entries[Symbol.asyncIterator]().next();
      await context.store.close();
      expect(await next).toEqual({ done: true, value: undefined });
    });

    test('refuses a follower that is ahead of it', async () => {
      const start = await context.store.wal.headSequence();
      const entries = context.store.wal.follow(start + 1, new AbortController().signal);
      await expect(entries[Symbol.asyncIterator]().next()).rejects.toThrow(
        refusal('storage.wal_diverged'),
      );
    });
  });

  describe('changes in the log', () => {
    test('are those below the prefixes and of the records that a follower names', async () => {
      const { store } = context;
      const stop = new AbortController();
      const start = await store.wal.headSequence();
      await put(store, { 'shared/other/a': '1' });
      await put(store, { 'shared/one': '1' });
      const seen: (readonly string[])[] = [];
      for await (const since of store.wal.changes(
        ['shared/one', 'shared/all/'],
        start,
        stop.signal,
      )) {
        seen.push(
          ['shared/one', 'shared/all/', 'shared/all/b'].filter((path) =>
            store.hasChangedSince([path], since),
          ),
        );
        if (seen.length === 2) stop.abort();
        await put(store, { 'shared/other/b': '1' });
        await put(store, { 'shared/all/b': '1' });
      }
      expect(seen).toEqual([['shared/one'], ['shared/all/', 'shared/all/b']]);
    });

    test('end when the store closes', async () => {
      const start = await context.store.wal.headSequence();
      const changes = context.store.wal.changes(['shared/'], start, new AbortController().signal);
      const next = changes[Symbol.asyncIterator]().next();
      await context.store.close();
      expect(await next).toEqual({ done: true, value: undefined });
    });

    test('refuse a follower that is ahead of the log', async () => {
      const start = await context.store.wal.headSequence();
      const { signal } = new AbortController();
      const changes = context.store.wal.changes(['shared/'], start + 1, signal);
      await expect(changes[Symbol.asyncIterator]().next()).rejects.toThrow(
        refusal('storage.wal_diverged'),
      );
    });

    test('refuse a follower whose entries are no longer kept', async () => {
      const start = await context.store.wal.headSequence();
      await put(context.store, { 'shared/a': '1' });
      await put(context.store, { 'shared/a': '2' });
      await context.store.wal.prune({ maxAgeMs: -3_600_000, maxBytes: 1e9 });
      const { signal } = new AbortController();
      const changes = context.store.wal.changes(['shared/'], start, signal);
      await expect(changes[Symbol.asyncIterator]().next()).rejects.toThrow(
        refusal('storage.wal_pruned'),
      );
    });
  });

  describe('pruning', () => {
    const KEEP_ALL = { maxAgeMs: 3_600_000, maxBytes: 1e9 };
    /** Everything is older than an hour from now. */
    const NOTHING_IS_YOUNG = -3_600_000;

    const writeEntries = async (count: number): Promise<number> => {
      for (let n = 0; n < count; n += 1) await put(context.store, { 'node/a': 'x'.repeat(1000) });
      return context.store.wal.headSequence();
    };

    test('removes what is too old, never the newest entry', async () => {
      const head = await writeEntries(5);
      await context.store.wal.prune(KEEP_ALL);
      expect(await context.store.wal.firstSequence()).toBe(1);
      await context.store.wal.prune({ ...KEEP_ALL, maxAgeMs: NOTHING_IS_YOUNG });
      expect(await context.store.wal.firstSequence()).toBe(head);
      await context.reopen();
      expect(await writeEntries(1)).toBe(head + 1);
    });

    test('keeps what a follower has not read, unless the log is too large', async () => {
      const head = await writeEntries(10);
      const limits = { ...KEEP_ALL, maxAgeMs: NOTHING_IS_YOUNG, followedTo: head - 4 };
      await context.store.wal.prune(limits);
      expect(await context.store.wal.firstSequence()).toBe(head - 3);
      await context.store.wal.prune({ ...limits, maxBytes: 2500 });
      expect(await context.store.wal.firstSequence()).toBe(head - 2);
    });

    test('refuses a follower that needs removed entries', async () => {
      const head = await writeEntries(5);
      await context.store.wal.prune({ ...KEEP_ALL, maxAgeMs: NOTHING_IS_YOUNG });
      const entries = context.store.wal.follow(head - 2, new AbortController().signal);
      await expect(entries[Symbol.asyncIterator]().next()).rejects.toThrow(
        refusal('storage.wal_pruned'),
      );
      expect(await entriesAfter(context.store, head - 1)).toHaveLength(1);
    });
  });

  describe('applied entries', () => {
    const entriesOf = async (...values: string[]): Promise<WalEntry[]> => {
      const head = await context.store.wal.headSequence();
      for (const value of values) await put(context.store, { 'shared/a': value });
      return entriesAfter(context.store, head);
    };

    test('are applied once and in order, however often they are sent', async () => {
      const entries = await entriesOf('1', '2', '3');
      await context.store.applyEntries('primary', entries.slice(0, 2));
      expect(await get(context.store, 'shared/a')).toBe('2');
      await context.store.applyEntries('primary', entries);
      expect(await get(context.store, 'shared/a')).toBe('3');
      const head = await context.store.wal.headSequence();
      await context.store.applyEntries('primary', entries);
      expect(await context.store.wal.headSequence()).toBe(head);
      expect(await context.store.appliedSequence('primary')).toBe(entries.at(-1)?.sequence);
    });

    test('are refused when an entry before them is missing', async () => {
      const [first, , third] = await entriesOf('1', '2', '3');
      await context.store.applyEntries('primary', first ? [first] : []);
      await expect(context.store.applyEntries('primary', third ? [third] : [])).rejects.toThrow(
        refusal('storage.wal_diverged'),
      );
    });
  });

  describe('records of another store', () => {
    test('are copied as stored, and entries continue from the given position', async () => {
      const { store } = context;
      await put(store, { 'shared/a': '1', 'shared/b': '2', 'local/c': '3' });
      expect(await store.stored.listPaths('replicated', '', 9)).toEqual(['shared/a', 'shared/b']);
      expect(await store.stored.listPaths('replicated', 'shared/a', 9)).toEqual(['shared/b']);
      expect(await store.stored.listPaths('local', '', 9)).toEqual(['local/c']);
      const copies = await store.stored.read(['shared/a', 'shared/none', 'node/core/keyring']);
      expect(copies.map(({ path }) => path)).toEqual(['shared/a']);
      await put(store, { 'shared/a': 'other' });
      await store.applyRecords('primary', copies);
      expect(await get(store, 'shared/a')).toBe('1');
      expect(await store.appliedPosition('primary')).toBeUndefined();
      await store.applyRecords('primary', [{ path: 'shared/b', stored: undefined }], {
        sequence: 7,
        cursor: 3,
      });
      expect(await get(store, 'shared/b')).toBeUndefined();
      expect(await store.appliedPosition('primary')).toEqual({ sequence: 7, cursor: 3 });
      await store.applyEntries(
        'primary',
        [7, 8].map((sequence) => ({
          sequence,
          committedAtMs: 0,
          operations: [{ path: 'shared/a', stored: undefined }],
        })),
        { cursor: 4 },
      );
      expect(await store.appliedPosition('primary')).toEqual({ sequence: 8, cursor: 4 });
    });

    test('are not taken from a follower that was replaced', async () => {
      const { store } = context;
      const replaced = await takeFence(store, 'applier');
      const fence = await takeFence(store, 'applier');
      await store.applyRecords('primary', [], { fence });
      await expect(store.applyRecords('primary', [], { fence: replaced })).rejects.toThrow(
        refusal('storage.fenced'),
      );
    });
  });
};
