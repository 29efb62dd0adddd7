/** A release that adds indexes to a collection of which there are records already. */
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { collection } from '../collections/collection.ts';
import { deleteOwned, listOwners } from '../collections/owned-records.ts';
import { findUnfinished, rewriteOlder } from '../collections/rewrite-older.ts';
import type { Store } from '../store.ts';
import { damage, put, ROOT_KEY, refusal, type StoreLocation } from './store-context.ts';

const shape = Type.Object({ wallId: Type.String(), title: Type.String() });

// The first declaration of a path counts when records are rewritten.
const newer = collection('paintings', {
  scope: 'shared',
  version: 2,
  shape,
  upgrades: { 2: { up: (same) => same, down: (same) => same } },
  owner: { kind: 'wall', by: 'wall' },
  index: [
    { name: 'wall', since: 2, values: ({ wallId }) => [wallId] },
    { name: 'title', since: 2, unique: true, values: ({ wallId, title }) => [[wallId, title]] },
  ],
});
const older = collection('paintings', { scope: 'shared', version: 1, shape });

const RELEASES = { old: older, new: newer };
const WRITABLE = ['shared', 'local', 'node'] as const;
const MARKS = ['shared/paintings~title~complete', 'shared/paintings~wall~complete'];

export const registerLaterIndexContract = (createPlace: () => Promise<StoreLocation>): void => {
  describe('an index that a newer release adds', () => {
    let place: StoreLocation;
    let open: Store | undefined;

    beforeEach(async () => {
      place = await createPlace();
    });
    afterEach(async () => {
      await open?.close();
      await place.remove();
    });

    const change = async (release: keyof typeof RELEASES): Promise<Store> => {
      await open?.close();
      const barrier = createBarrier();
      const store = await place.open(barrier, [], [RELEASES[release].codec]);
      open = store;
      await openBarrierFor(store, barrier, ROOT_KEY);
      return store;
    };
    const paint = (wallId: string, title: string) => ({ wallId, title });
    const writeOld = (store: Store, key: string, wallId: string, title = key) =>
      store.transact((tx) => older.write(tx, key, paint(wallId, title)));
    const write = (store: Store, key: string, wallId: string, title = key) =>
      store.transact((tx) => newer.write(tx, key, paint(wallId, title)));
    const finish = async (store: Store): Promise<void> => {
      for (let after: string | undefined = ''; after !== undefined; )
        ({ after } = await rewriteOlder(store, WRITABLE, after));
    };
    const rows = async (store: Store): Promise<readonly string[]> =>
      (await store.scan('shared/'))
        .map(({ path }) => path)
        .filter((path) => path.includes('~') && !MARKS.includes(path));
    const marks = async (store: Store): Promise<readonly string[]> =>
      (await store.scan('shared/')).map(({ path }) => path).filter((path) => MARKS.includes(path));

    /** Whatever is stored, the indexes find exactly it. */
    const expectRight = async (store: Store, walls: Readonly<Record<string, string[]>>) => {
      for (const [wall, keys] of Object.entries(walls)) {
        expect(await newer.by.wall.keys(store, wall)).toEqual(keys);
        expect(await newer.by.wall.rests(store, [wall])).toEqual(keys);
        const found = await newer.by.wall.records(store, wall);
        expect(found.map(({ wallId }) => wallId)).toEqual(keys.map(() => wall));
        for (const key of keys) {
          const record = await newer.find(store, key);
          const value = [wall, record?.title ?? ''];
          expect(await newer.by.title.findKey(store, value)).toBe(key);
          expect(await newer.by.title.find(store, value)).toEqual(record);
        }
        expect(await newer.by.title.values(store, [wall])).toHaveLength(keys.length);
      }
      const used = Object.entries(walls).filter(([, keys]) => keys.length > 0);
      expect(await listOwners(store, 'wall')).toEqual(new Set(used.map(([wall]) => wall)));
    };

    test('is right before, during and after the upgrade, whichever release has written', async () => {
      const first = await change('old');
      await writeOld(first, 'a', 'w1');
      await writeOld(first, 'b', 'w2');
      const second = await change('new');
      await expectRight(second, { w1: ['a'], w2: ['b'], w3: [] });
      await write(second, 'c', 'w1');
      await write(second, 'b', 'w3');
      await expectRight(second, { w1: ['a', 'c'], w2: [], w3: ['b'] });
      expect(await rows(second)).toEqual([]);
      const back = await change('old');
      await writeOld(back, 'a', 'w2');
      await back.transact((tx) => older.delete(tx, 'c'));
      await writeOld(back, 'd', 'w1');
      const last = await change('new');
      await expectRight(last, { w1: ['d'], w2: ['a'], w3: ['b'] });
      await last.raiseVersions();
      await expectRight(last, { w1: ['d'], w2: ['a'], w3: ['b'] });
      await write(last, 'd', 'w2', 'moved');
      await write(last, 'e', 'w1');
      await last.transact((tx) => newer.delete(tx, 'b'));
      await expectRight(last, { w1: ['e'], w2: ['a', 'd'], w3: [] });
      await finish(last);
      expect(await marks(last)).toEqual(MARKS);
      await expectRight(last, { w1: ['e'], w2: ['a', 'd'], w3: [] });
      await write(last, 'd', 'w3', 'again');
      const reopened = await change('new');
      await expectRight(reopened, { w1: ['e'], w2: ['a'], w3: ['d'] });
      expect(await rows(reopened)).toEqual([
        'shared/paintings~title/w1/e',
        'shared/paintings~title/w2/a',
        'shared/paintings~title/w3/again',
        'shared/paintings~wall/w1/e',
        'shared/paintings~wall/w2/a',
        'shared/paintings~wall/w3/d',
      ]);
    });

    test('is unique also among the records that have no rows yet', async () => {
      await writeOld(await change('old'), 'a', 'w1', 'sea');
      const store = await change('new');
      const refused = () =>
        expect(write(store, 'b', 'w1', 'sea')).rejects.toThrow(refusal('storage.not_unique'));
      await refused();
      await store.raiseVersions();
      await refused();
      await write(store, 'b', 'w2', 'sea');
      await finish(store);
      await refused();
      await write(store, 'a', 'w1', 'ice');
      await write(store, 'b', 'w1', 'sea');
      await expectRight(store, { w1: ['a', 'b'], w2: [] });
    });

    test('finds what an owner owns, before the upgrade is finished too', async () => {
      const old = await change('old');
      for (const key of ['a', 'b', 'c']) await writeOld(old, key, key === 'c' ? 'w2' : 'w1');
      const store = await change('new');
      await store.transact((tx) => deleteOwned(tx, { kind: 'wall', id: 'w1' }));
      expect(await newer.keys(store)).toEqual(['c']);
      await expectRight(store, { w1: [], w2: ['c'] });
    });

    test('is used from the first record on in a store that the newer release creates', async () => {
      const store = await change('new');
      expect(await findUnfinished(store, WRITABLE)).toEqual([]);
      await write(store, 'a', 'w1');
      expect(await marks(store)).toEqual(MARKS);
      expect(await findUnfinished(store, WRITABLE)).toEqual([]);
      expect(await rows(store)).toEqual([
        'shared/paintings~title/w1/a',
        'shared/paintings~wall/w1/a',
      ]);
      await expectRight(store, { w1: ['a'], w2: [] });
    });

    test('is right where records come from a store of the older release', async () => {
      const store = await change('new');
      await put(store, { [newer.path('a')]: JSON.stringify(paint('w1', 'a')) });
      await expectRight(store, { w1: ['a'], w2: [] });
      // A secondary writes these scopes only: shared records and their rows come from the primary.
      for (let after: string | undefined = ''; after !== undefined; )
        ({ after } = await rewriteOlder(store, ['local', 'node'], after));
      expect(await marks(store)).toEqual([]);
      await put(store, { [newer.path('b')]: JSON.stringify(paint('w2', 'b')) });
      await expectRight(store, { w1: ['a'], w2: ['b'] });
      // Its versions are raised already, and its rows are computed as long as nobody rewrites the records.
      expect(store.pendingUpgrades()).toEqual([]);
      const places = ['shared/paintings~wall', 'shared/paintings~title'];
      expect(await findUnfinished(store, ['local', 'node'])).toEqual([]);
      expect(await findUnfinished(store, WRITABLE)).toEqual(places);
      await finish(store);
      expect(await findUnfinished(store, WRITABLE)).toEqual([]);
      await expectRight(store, { w1: ['a'], w2: ['b'] });
    });

    test('has the rows of a record whose transaction began before the versions were raised', async () => {
      await writeOld(await change('old'), 'a', 'w1');
      const store = await change('new');
      let runs = 0;
      await store.transact(async (tx) => {
        runs += 1;
        await newer.write(tx, 'b', paint('w1', 'b'));
        if (runs === 1) await store.raiseVersions();
      });
      expect(runs).toBe(2);
      expect(await rows(store)).toEqual([
        'shared/paintings~title/w1/b',
        'shared/paintings~wall/w1/b',
      ]);
      await finish(store);
      expect(await marks(store)).toEqual(MARKS);
      await expectRight(store, { w1: ['a', 'b'] });
    });

    test('is not taken for complete as long as a record cannot be read', async () => {
      const old = await change('old');
      await writeOld(old, 'a', 'w1');
      await writeOld(old, 'b', 'w1');
      const store = await change('new');
      await store.raiseVersions();
      await damage(store, newer.path('a'));
      await finish(store);
      await put(store, { [newer.path('a')]: JSON.stringify(paint('w2', 'a')) });
      await expectRight(store, { w1: ['b'], w2: ['a'] });
      await finish(store);
      expect(await marks(store)).toEqual(MARKS);
      await expectRight(store, { w1: ['b'], w2: ['a'] });
    });
  });
};
