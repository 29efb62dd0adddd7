/** Guarantees of a transaction, alone and among concurrent ones. */
import { describe, expect, test } from 'vitest';
import type { Transaction } from '../store.ts';
import {
  bytes,
  entriesAfter,
  get,
  put,
  refusal,
  type StoreContext,
  text,
} from './store-context.ts';

export const registerTransactionContract = (context: StoreContext): void => {
  describe('transactions', () => {
    test('return the result of their body and commit its writes together', async () => {
      const head = await context.store.wal.headSequence();
      const result = await context.store.transact((tx) => {
        tx.write('shared/a', bytes('1'));
        tx.write('shared/b', bytes('2'));
        return 'done';
      });
      expect(result).toBe('done');
      const entries = await entriesAfter(context.store, head);
      expect(entries.map(({ operations }) => operations.map(({ path }) => path))).toEqual([
        ['shared/a', 'shared/b'],
      ]);
    });

    test('leave nothing behind when their body fails', async () => {
      const head = await context.store.wal.headSequence();
      await expect(
        context.store.transact((tx) => {
          tx.write('shared/a', bytes('1'));
          throw new RangeError('refused');
        }),
      ).rejects.toThrow(RangeError);
      expect(await get(context.store, 'shared/a')).toBeUndefined();
      expect(await context.store.wal.headSequence()).toBe(head);
    });

    test('cannot write after their body has returned', async () => {
      let kept: Transaction | undefined;
      await context.store.transact((tx) => {
        kept = tx;
      });
      expect(() => kept?.write('shared/a', bytes('late'))).toThrow('after its body');
    });

    test('lose no update under contention', async () => {
      const increment = () =>
        context.store.transact(async (tx) => {
          const count = Number(text((await tx.read('shared/count'))?.value) ?? 0);
          tx.write('shared/count', bytes(String(count + 1)));
        });
      await Promise.all(Array.from({ length: 50 }, increment));
      expect(await get(context.store, 'shared/count')).toBe('50');
    });

    test('that read what another has changed meanwhile run again', async () => {
      await put(context.store, { 'shared/a': 'old' });
      const seen: (string | undefined)[] = [];
      await context.store.transact(async (tx) => {
        seen.push(text((await tx.read('shared/a'))?.value));
        if (seen.length === 1) await put(context.store, { 'shared/a': 'new' });
        tx.write('shared/copy', bytes(seen.at(-1) ?? ''));
      });
      expect(seen).toEqual(['old', 'new']);
      expect(await get(context.store, 'shared/copy')).toBe('new');
    });

    test('find a record unchanged when they read it again, or run again', async () => {
      await put(context.store, { 'shared/a': 'old' });
      const seen: (string | undefined)[][] = [];
      const readTwice = async (tx: Transaction): Promise<void> => {
        const read = async (path: string) => text((await tx.read(path))?.value);
        const before = [await read('shared/a'), await read('shared/absent')];
        if (seen.length === 0)
          await put(context.store, { 'shared/a': 'new', 'shared/absent': 'x' });
        seen.push([...before, await read('shared/a'), await read('shared/absent')]);
      };
      await context.store.transact(readTwice);
      expect(seen).toEqual([
        ['old', undefined, 'old', undefined],
        ['new', 'x', 'new', 'x'],
      ]);
      // Transactions see their own writes.
      await context.store.transact(async (tx) => {
        await tx.read('shared/a');
        tx.write('shared/a', bytes('mine'));
        seen.push([text((await tx.read('shared/a'))?.value)]);
        tx.delete('shared/a');
        seen.push([text((await tx.read('shared/a'))?.value)]);
      });
      expect(seen.slice(2)).toEqual([['mine'], [undefined]]);
    });

    test('that found a record absent run again when it is created', async () => {
      let runs = 0;
      const outcome = await context.store.transact(async (tx) => {
        runs += 1;
        if ((await tx.read('shared/name')) !== undefined) return 'taken';
        if (runs === 1) await put(context.store, { 'shared/name': 'other' });
        tx.write('shared/name', bytes('mine'));
        return 'created';
      });
      expect(outcome).toBe('taken');
      expect(await get(context.store, 'shared/name')).toBe('other');
    });

    test.for(['list', 'scan'] as const)(
      'run again when a record is created below a prefix they %s',
      async (operation) => {
        await put(context.store, { 'shared/m/1': 'x' });
        let runs = 0;
        await context.store.transact(async (tx) => {
          runs += 1;
          const count = (await tx[operation]('shared/m/')).length;
          if (runs === 1) await put(context.store, { 'shared/m/deep/2': 'x' });
          tx.write('shared/total', bytes(String(count)));
        });
        expect(await get(context.store, 'shared/total')).toBe('2');
      },
    );

    test('do not run again for changes to records they did not read', async () => {
      let runs = 0;
      await context.store.transact(async (tx) => {
        runs += 1;
        await tx.read('shared/a');
        await tx.list('shared/m/');
        await put(context.store, { 'shared/b': 'x', 'shared/n/1': 'x' });
        tx.write('shared/c', bytes('x'));
      });
      expect(runs).toBe(1);
    });

    test('that only read see a single snapshot', async () => {
      await put(context.store, { 'shared/a': '1', 'shared/b': '1' });
      let runs = 0;
      const pair = await context.store.transact(async (tx) => {
        runs += 1;
        const a = text((await tx.read('shared/a'))?.value);
        if (runs === 1) await put(context.store, { 'shared/a': '2', 'shared/b': '2' });
        return [a, text((await tx.read('shared/b'))?.value)];
      });
      expect(pair).toEqual(['2', '2']);
    });

    test('refuse only for reasons in a single snapshot', async () => {
      await put(context.store, { 'shared/a': '1', 'shared/b': '1' });
      let runs = 0;
      await context.store.transact(async (tx) => {
        runs += 1;
        const a = text((await tx.read('shared/a'))?.value);
        if (runs === 1) await put(context.store, { 'shared/a': '2', 'shared/b': '2' });
        if (a !== text((await tx.read('shared/b'))?.value)) throw new Error('never both');
      });
      expect(runs).toBe(2);
    });

    test('are counted when they run again, and when they are given up', async () => {
      const before = context.store.contention();
      const interfered = (times: number) => {
        let runs = 0;
        return context.store.transact(async (tx) => {
          await tx.read('shared/a');
          runs += 1;
          if (runs <= times) await put(context.store, { 'shared/a': String(runs) });
          tx.write('shared/b', bytes(String(runs)));
        });
      };
      await interfered(0);
      expect(context.store.contention()).toEqual(before);
      await interfered(3);
      const repeats = before.repeats + 3;
      expect(context.store.contention()).toEqual({ ...before, repeats });
      await expect(interfered(200)).rejects.toThrow(refusal('storage.conflict'));
      expect(context.store.contention()).toEqual({
        repeats: repeats + 199,
        conflicts: before.conflicts + 1,
      });
    });

    test('are refused after the store was closed', async () => {
      await context.store.close();
      await expect(put(context.store, { 'shared/a': '1' })).rejects.toThrow(
        refusal('storage.unavailable'),
      );
      await expect(context.store.read('shared/a')).rejects.toThrow(refusal('storage.unavailable'));
    });

    test('that wait when the store closes are completed first', async () => {
      const writes = Array.from({ length: 20 }, (_, index) =>
        put(context.store, { [`shared/${index}`]: 'x' }),
      );
      await Promise.all([...writes, context.store.close()]);
      await context.reopen();
      expect((await context.store.list('shared/')).length).toBe(20);
    });
  });
};
