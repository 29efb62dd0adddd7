/** Guarantees of a store that several processes or threads have open at the same time. */
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Barrier, createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor, rotateBarrier } from '../barrier/open-barrier.ts';
import { deriveView } from '../records/derive-view.ts';
import type { Fence, Store } from '../store.ts';
import { takeFence } from '../transaction/fence.ts';
import { ROOT_KEY, type StoreLocation } from './store-context.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

export const registerReplicatedStoreContract = (
  createPlace: () => Promise<StoreLocation>,
): void => {
  describe('replicas', () => {
    let place: StoreLocation;
    let stores: { readonly store: Store; readonly barrier: Barrier }[];
    let first: Store;
    let second: Store;

    beforeEach(async () => {
      place = await createPlace();
      stores = await Promise.all(
        [1, 2].map(async () => {
          const barrier = createBarrier();
          // Without kinds, so that the store is not made in the versions of a release of one of the tests.
          const store = await place.open(barrier, [], []);
          await openBarrierFor(store, barrier, ROOT_KEY);
          return { store, barrier };
        }),
      );
      [first, second] = stores.map(({ store }) => store) as [Store, Store];
    });
    afterEach(async () => {
      await Promise.all(stores.map(({ store }) => store.close()));
      await place.remove();
    });

    const put = (store: Store, path: string, value = 'x'): Promise<void> =>
      store.transact((tx) => tx.write(path, bytes(value)));
    const get = async (store: Store, path: string): Promise<string | undefined> => {
      const record = await store.read(path);
      return record && Buffer.from(record.value).toString();
    };

    test('read what the other has committed, although they had cached older records', async () => {
      await put(first, 'shared/a', 'old');
      expect(await get(second, 'shared/a')).toBe('old');
      await put(first, 'shared/a', 'new');
      expect(await get(second, 'shared/a')).toBe('new');
      await second.transact((tx) => tx.delete('shared/a'));
      expect(await get(first, 'shared/a')).toBeUndefined();
    });

    test('read what the other has created, although they had found nothing there', async () => {
      for (const value of ['first', 'again']) {
        for (let turn = 0; turn < 2; turn += 1)
          expect(await get(second, 'shared/later')).toBeUndefined();
        await put(first, 'shared/later', value);
        expect(await get(second, 'shared/later')).toBe(value);
        await first.transact((tx) => tx.delete('shared/later'));
      }
    });

    describe('after the other restored a copy', () => {
      /** Restores a copy of `first` from before a rotation of the barrier that both have followed. */
      const restoreOlder = async (): Promise<void> => {
        await put(first, 'shared/a', 'before');
        const scans = await Promise.all(
          ['shared/', 'local/', 'node/'].map((scope) => first.scan(scope)),
        );
        const copy = await first.copies.take();
        for await (const page of copy.pages) await first.copies.stage('one', page);
        await copy.close();
        for (const { store, barrier } of stores) await rotateBarrier(store, barrier, 2);
        await put(second, 'shared/a', 'after');
        await first.copies.replace('one', {
          records: scans.flat().length,
          sequence: copy.sequence,
        });
      };
      const openAgain = async (rootKey: Uint8Array): Promise<Barrier> => {
        const barrier = createBarrier();
        const store = await place.open(barrier);
        stores.push({ store, barrier });
        await openBarrierFor(store, barrier, rootKey);
        return barrier;
      };

      test('write under keys that are on disk, also when they read nothing first', async () => {
        await restoreOlder();
        await put(second, 'shared/b', 'next');
        await openAgain(ROOT_KEY);
        const third = (stores.at(-1) as (typeof stores)[number]).store;
        expect(await get(third, 'shared/a')).toBe('before');
        expect(await get(third, 'shared/b')).toBe('next');
        expect(await get(second, 'shared/a')).toBe('before');
      });

      test('are sealed when the copy has another root key', async () => {
        await restoreOlder();
        const otherRootKey = new Uint8Array(32).fill(4);
        const other = createBarrier();
        const wrapped = other.initialize(otherRootKey);
        // As in a copy of another cluster.
        await first.transact((tx) => tx.write('node/core/keyring', wrapped));
        await expect(put(second, 'shared/b', 'next')).rejects.toThrow(
          expect.objectContaining({ code: 'storage.sealed' }),
        );
        expect(stores[1]?.barrier.isSealed).toBe(true);
      });
    });

    test('process more commits of the other than they would read one by one', async () => {
      await put(second, 'shared/0', 'old');
      await Promise.all(
        Array.from({ length: 1100 }, (_, index) => put(first, `shared/${index % 50}`, 'new')),
      );
      expect(await get(second, 'shared/0')).toBe('new');
    });

    test('list what the other has created and deleted, although they had listed before', async () => {
      const path = fc.constantFrom(
        'shared/a',
        'shared/a/1',
        'shared/a/2',
        'shared/b/1',
        'shared/c',
      );
      const step = fc.record({
        on: fc.nat(1),
        path,
        kind: fc.constantFrom('write' as const, 'delete' as const, 'list' as const),
      });
      const paths = new Set<string>();
      const namesBelow = (prefix: string): readonly string[] =>
        [...paths]
          .filter((known) => known.startsWith(prefix))
          .map((known) => /^[^/]*\/?/.exec(known.slice(prefix.length))?.[0] ?? '')
          .filter((name, at, all) => all.indexOf(name) === at)
          .toSorted();
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 60 }), async (steps) => {
          for (const { on, path: changed, kind } of steps) {
            const store = [first, second][on] as Store;
            if (kind === 'write') {
              await put(store, changed);
              paths.add(changed);
            }
            if (kind === 'delete') {
              await store.transact((tx) => tx.delete(changed));
              paths.delete(changed);
            }
            for (const prefix of kind === 'list' ? ['shared/', 'shared/a/', 'shared/b/'] : [])
              expect(await store.list(prefix)).toEqual(namesBelow(prefix));
          }
        }),
        { numRuns: 15 },
      );
    });

    test('use no more memory for names than the limit, whoever lists them', async () => {
      const room = 5;
      const ask = (store: Store, name: string) =>
        store.transact(async (tx) => {
          if ((await tx.list('shared/seats/')).length < room)
            tx.write(`shared/seats/${name}`, bytes(''));
        });
      const names = Array.from({ length: 12 }, (_, index) => `${index}`);
      await Promise.all(names.map((name, at) => ask(at % 2 === 0 ? first : second, name)));
      expect(await first.list('shared/seats/')).toHaveLength(room);
      expect(await second.list('shared/seats/')).toHaveLength(room);
    });

    test('lose no update of each other and number their commits without gaps', async () => {
      const start = await first.wal.headSequence();
      const increment = (store: Store) =>
        store.transact(async (tx) => {
          const record = await tx.read('shared/count');
          const count = record === undefined ? 0 : Number(Buffer.from(record.value).toString());
          tx.write('shared/count', bytes(String(count + 1)));
        });
      await Promise.all(
        Array.from({ length: 40 }, (_, index) => increment(index % 2 === 0 ? first : second)),
      );
      expect(await get(first, 'shared/count')).toBe('40');
      const sequences: number[] = [];
      for await (const { sequence } of second.wal.follow(start, new AbortController().signal))
        if (sequences.push(sequence) === 40) break;
      expect(sequences).toEqual(Array.from({ length: 40 }, (_, index) => start + 1 + index));
    });

    test('give a name to only one of two that request it at the same time', async () => {
      const claim = (store: Store, owner: string) =>
        store.transact(async (tx) => {
          if ((await tx.list('shared/name/')).length > 0) return false;
          tx.write(`shared/name/${owner}`, bytes(owner));
          return true;
        });
      const won = await Promise.all(
        Array.from({ length: 20 }, (_, n) => claim(n % 2 === 0 ? first : second, String(n))),
      );
      expect(won.filter(Boolean)).toHaveLength(1);
    });

    test('refuse what was fenced on the other', async () => {
      const write = (store: Store, fence: Fence) =>
        store.transact((tx) => tx.write('shared/a', bytes(fence.holder)), { fence });
      const replaced = await takeFence(first, 'tidy');
      await write(first, replaced);
      await write(second, await takeFence(second, 'tidy'));
      await expect(write(first, replaced)).rejects.toThrow(
        expect.objectContaining({ code: 'storage.fenced' }),
      );
    });

    test('derive views from what the other has committed', async () => {
      const names = deriveView(second, ['shared/m/'], (reads) => reads.list('shared/m/'));
      expect(await names()).toEqual([]);
      await put(first, 'shared/m/1');
      expect(await names()).toEqual(['1']);
    });

    test('follow the commits of the other live', async () => {
      const start = await second.wal.headSequence();
      const entries = second.wal.follow(start, new AbortController().signal);
      const next = entries[Symbol.asyncIterator]().next();
      await put(first, 'shared/a');
      expect((await next).value?.operations[0]?.path).toBe('shared/a');
    });

    test('read what the other encrypted under a key it has just created', async () => {
      const [{ barrier } = { barrier: createBarrier() }] = stores;
      await rotateBarrier(first, barrier, 2);
      await put(first, 'shared/a', 'new key');
      expect(await get(second, 'shared/a')).toBe('new key');
    });

    test('do not take a record for damaged because the other has replaced all keys', async () => {
      const [{ barrier } = { barrier: createBarrier() }] = stores;
      const rootKey = new Uint8Array(32).fill(9);
      const keyring = createBarrier().initialize(rootKey);
      await put(first, 'shared/a');
      await first.transact((tx) => tx.delete('shared/a'));
      barrier.unseal(rootKey, keyring);
      await first.transact((tx) => {
        tx.write('node/core/keyring', keyring);
        tx.write('shared/a', bytes('under new keys'));
      });
      await expect(get(second, 'shared/a')).rejects.toMatchObject({
        code: 'barrier.wrong_root_key',
      });
      expect(second.damagedPaths()).toEqual([]);
    });
  });
};
