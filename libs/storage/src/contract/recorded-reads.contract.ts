/** Reads that can tell whether what they read is still the same. */
import { beforeEach, describe, expect, test } from 'vitest';
import { type RecordedReads, recordReads } from '../records/recorded-reads.ts';
import { put, type StoreContext } from './store-context.ts';

export const registerRecordedReadsContract = (context: StoreContext): void => {
  describe('recorded reads', () => {
    let recorded: RecordedReads;
    beforeEach(async () => {
      await put(context.store, { 'shared/read': '1', 'shared/list/a': '1', 'shared/other': '1' });
      recorded = await recordReads(context.store);
      await recorded.reads.read('shared/read');
      await recorded.reads.read('shared/absent');
      await recorded.reads.list('shared/list/');
      await recorded.reads.scan('shared/scan/');
    });

    test('stand while nothing of them changes, whatever else does', async () => {
      expect(await recorded.stand()).toBe(true);
      for (const value of ['2', '3']) {
        await put(context.store, { 'shared/other': value });
        expect(await recorded.stand()).toBe(true);
      }
    });

    test.for(['shared/read', 'shared/absent', 'shared/list/b', 'shared/scan/a/b'])(
      'stand no longer once %s is written',
      async (path) => {
        await put(context.store, { 'shared/other': '2' });
        expect(await recorded.stand()).toBe(true);
        await put(context.store, { [path]: '2' });
        await put(context.store, { 'shared/other': '3' });
        expect([await recorded.stand(), await recorded.stand()]).toEqual([false, false]);
      },
    );

    test('stand no longer once a record is deleted', async () => {
      await context.store.transact((tx) => tx.delete('shared/read'));
      expect(await recorded.stand()).toBe(false);
    });

    test('do not stand when something changed while they were read', async () => {
      const others = await recordReads(context.store);
      await others.reads.read('shared/read');
      await put(context.store, { 'shared/read': '2' });
      await others.reads.read('shared/other');
      expect(await others.stand()).toBe(false);
    });
  });
};
