/** Recorded reads can be checked for whether their results are still current. */
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

    test('are valid while nothing they read changes, whatever else does', async () => {
      expect(await recorded.isStillValid()).toBe(true);
      for (const value of ['2', '3']) {
        await put(context.store, { 'shared/other': value });
        expect(await recorded.isStillValid()).toBe(true);
      }
    });

    test.for(['shared/read', 'shared/absent', 'shared/list/b', 'shared/scan/a/b'])(
      'are invalid once %s is written',
      async (path) => {
        await put(context.store, { 'shared/other': '2' });
        expect(await recorded.isStillValid()).toBe(true);
        await put(context.store, { [path]: '2' });
        await put(context.store, { 'shared/other': '3' });
        expect([await recorded.isStillValid(), await recorded.isStillValid()]).toEqual([
          false,
          false,
        ]);
      },
    );

    test('are invalid once a record is deleted', async () => {
      await context.store.transact((tx) => tx.delete('shared/read'));
      expect(await recorded.isStillValid()).toBe(false);
    });

    test('are invalid when something changed while they were recorded', async () => {
      const others = await recordReads(context.store);
      await others.reads.read('shared/read');
      await put(context.store, { 'shared/read': '2' });
      await others.reads.read('shared/other');
      expect(await others.isStillValid()).toBe(false);
    });
  });
};
