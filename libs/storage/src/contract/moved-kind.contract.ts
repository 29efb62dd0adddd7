/** A release that moves a kind of records to another collection. */
import type { Kysely } from 'kysely';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { collection, collections } from '../collections/collection.ts';
import { deleteOwned, listOwners } from '../collections/owned-records.ts';
import { findUnfinished, rewriteOlder } from '../collections/rewrite-older.ts';
import { findDeclaration } from '../collections/table.ts';
import { defineProjection, type Projection } from '../projections/projection.ts';
import { deriveView } from '../records/derive-view.ts';
import type { Store } from '../store.ts';
import { damage, put, ROOT_KEY, refusal, type StoreLocation } from './store-context.ts';

const oldShape = Type.Object({ parkId: Type.String(), name: Type.String() });
const shape = Type.Object({ parkId: Type.String(), title: Type.String() });
const upgrades = {
  2: {
    up: ({ name, ...others }: Readonly<Record<string, unknown>>) => ({ ...others, title: name }),
    down: ({ title, ...others }: Readonly<Record<string, unknown>>) => ({ ...others, name: title }),
  },
};
const index = ['parkId', { name: 'title', unique: true }] as const;

// The first declaration of a path counts when records are rewritten.
const newer = collection('sculptures', {
  scope: 'shared',
  version: 2,
  shape,
  upgrades,
  moved: { from: 'statues', in: 2 },
  owner: { kind: 'park', by: 'parkId' },
  index: [index[0], { ...index[1], values: ({ title }) => [title] }],
});
const older = collection('statues', {
  scope: 'shared',
  version: 1,
  shape: oldShape,
  index: [index[0], { ...index[1], values: ({ name }) => [name] }],
});
const placed = collections('parks/*/sculptors', {
  scopes: ['shared', 'local'],
  version: 2,
  shape: Type.Number(),
  upgrades: { 2: { up: (same) => same, down: (same) => same } },
  moved: { from: 'parks/*/artists', in: 2 },
  owner: { kind: 'park', by: '*' },
});
const olderPlaced = collections('parks/*/artists', {
  scopes: ['shared', 'local'],
  version: 1,
  shape: Type.Number(),
});

interface Tables {
  readonly sculpture: { readonly record_path: string; readonly title: string };
}
const table = defineProjection<{ title: string }, { title: string }>({
  table: 'sculpture',
  version: 1,
  source: newer,
  columns: { title: 'text' },
  indexes: [],
  tallies: () => ['all'],
  rows: ({ title }) => [{ title }],
}) as unknown as Projection;

/** One process has one declaration of a place, so the older release has a table of other records here. */
const otherTable = defineProjection<{ name: string }, { name: string }>({
  table: 'bench',
  version: 1,
  source: { prefix: 'shared/benches/', codec: older.codec },
  columns: { name: 'text' },
  indexes: [],
  rows: ({ name }) => [{ name }],
}) as unknown as Projection;

const RELEASES = {
  old: { kinds: [older.codec, olderPlaced.declaration.codec], projections: [otherTable] },
  new: { kinds: [newer.codec, placed.declaration.codec], projections: [table] },
};
const WRITABLE = ['shared', 'local', 'node'] as const;

export const registerMovedKindContract = (createPlace: () => Promise<StoreLocation>): void => {
  describe('a kind of records that a newer release moves', () => {
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
      open = undefined;
      const barrier = createBarrier();
      const { kinds, projections } = RELEASES[release];
      const store = await place.open(barrier, projections, kinds);
      open = store;
      await openBarrierFor(store, barrier, ROOT_KEY);
      return store;
    };
    const writeOld = (store: Store, key: string, parkId: string, name = key) =>
      store.transact((tx) => older.write(tx, key, { parkId, name }));
    const write = (store: Store, key: string, parkId: string, title = key) =>
      store.transact((tx) => newer.write(tx, key, { parkId, title }));
    const finish = async (store: Store): Promise<void> => {
      for (let after: string | undefined = ''; after !== undefined; )
        ({ after } = await rewriteOlder(store, WRITABLE, after));
    };
    const paths = async (store: Store): Promise<readonly string[]> =>
      (await store.scan('shared/'))
        .map(({ path }) => path.replace('shared/', ''))
        .filter((path) => /^(statues|sculptures)/.test(path));

    /** Whatever is stored where, every way of reading finds exactly these, by key and park. */
    const expectAll = async (
      store: Store,
      parks: Readonly<Record<string, string>>,
      titles: Readonly<Record<string, string>> = {},
    ) => {
      const keys = Object.keys(parks);
      const entries = keys.map((key): readonly [string, unknown] => [
        key,
        { parkId: parks[key], title: titles[key] ?? key },
      ]);
      expect(await newer.keys(store)).toEqual(keys);
      expect(await newer.entries(store)).toEqual(entries);
      expect(await newer.readableEntries(store)).toEqual({ entries, damaged: [] });
      for (const [key, value] of entries) {
        expect(await newer.find(store, key)).toEqual(value);
        expect(await newer.by.title.findKey(store, titles[key] ?? key)).toBe(key);
      }
      for (const park of new Set(Object.values(parks))) {
        const own = keys.filter((key) => parks[key] === park);
        expect(await newer.by.parkId.keys(store, park)).toEqual(own);
        expect(await newer.by.parkId.records(store, park)).toHaveLength(own.length);
      }
      expect(await listOwners(store, 'park')).toEqual(new Set(Object.values(parks)));
      const rows = await store.select((tables: Kysely<Tables>) =>
        tables.selectFrom('sculpture').select(['record_path', 'title']).orderBy('record_path'),
      );
      expect(rows).toEqual(
        keys.map((key) => ({ record_path: newer.path(key), title: titles[key] ?? key })),
      );
      expect(await store.tallies('sculpture', ['all'])).toEqual([keys.length]);
      expect(await store.findDamagedProjections()).toEqual([]);
    };

    test('is found before, during and after the upgrade, whichever release has written', async () => {
      const first = await change('old');
      await writeOld(first, 'a', 'p1');
      await writeOld(first, 'b', 'p2');
      const second = await change('new');
      expect(second.pendingUpgrades()).toContain('shared/statues');
      await expectAll(second, { a: 'p1', b: 'p2' });
      await write(second, 'c', 'p1');
      await write(second, 'b', 'p3', 'changed');
      await expectAll(second, { a: 'p1', b: 'p3', c: 'p1' }, { b: 'changed' });
      expect((await paths(second)).filter((path) => path.startsWith('sculptures'))).toEqual([]);

      const back = await change('old');
      expect(await older.entries(back)).toEqual([
        ['a', { parkId: 'p1', name: 'a' }],
        ['b', { parkId: 'p3', name: 'changed' }],
        ['c', { parkId: 'p1', name: 'c' }],
      ]);
      expect(await older.by.parkId.keys(back, 'p1')).toEqual(['a', 'c']);
      expect(await older.by.title.findKey(back, 'changed')).toBe('b');
      await back.transact((tx) => older.delete(tx, 'c'));
      await writeOld(back, 'd', 'p1');

      const last = await change('new');
      await expectAll(last, { a: 'p1', b: 'p3', d: 'p1' }, { b: 'changed' });
      await last.raiseVersions();
      await expectAll(last, { a: 'p1', b: 'p3', d: 'p1' }, { b: 'changed' });
      await write(last, 'b', 'p2');
      await write(last, 'e', 'p1');
      await last.transact((tx) => newer.delete(tx, 'a'));
      await expectAll(last, { b: 'p2', d: 'p1', e: 'p1' });
      expect((await paths(last)).filter((path) => !path.includes('~'))).toEqual([
        'sculptures/b',
        'sculptures/e',
        'statues/d',
      ]);
      await finish(last);
      await expectAll(last, { b: 'p2', d: 'p1', e: 'p1' });
      expect(await paths(last)).toEqual([
        'sculptures/b',
        'sculptures/d',
        'sculptures/e',
        'statues~parkId/p1/d',
        'statues~parkId/p1/e',
        'statues~parkId/p2/b',
        'statues~title/b',
        'statues~title/d',
        'statues~title/e',
      ]);
      await expect(change('old')).rejects.toThrow(refusal('storage.superseded'));
      await expectAll(await change('new'), { b: 'p2', d: 'p1', e: 'p1' });
    });

    test('is read in pages while its records are at both places', async () => {
      const old = await change('old');
      for (const key of ['a', 'b', 'c', 'd']) await writeOld(old, key, 'p1');
      const store = await change('new');
      await store.raiseVersions();
      await write(store, 'b', 'p1');
      await write(store, 'd', 'p1');
      const read = async (after?: string) => {
        const options = { limit: 3, ...(after !== undefined && { after }) };
        const entries = await newer.entries(store, options);
        expect(await newer.keys(store, [], options)).toEqual(entries.map(([key]) => key));
        expect((await newer.readableEntries(store, options)).entries).toEqual(entries);
        return entries.map(([key]) => key);
      };
      expect(await read()).toEqual(['a', 'b', 'c']);
      expect(await read('c')).toEqual(['d']);
      expect(await read('d')).toEqual([]);
    });

    test('is at its new place from the beginning in a store that the newer release creates', async () => {
      const store = await change('new');
      await write(store, 'a', 'p1');
      await expectAll(store, { a: 'p1' });
      expect(await paths(store)).toEqual([
        'sculptures/a',
        'statues~parkId/p1/a',
        'statues~title/a',
      ]);
    });

    test('is unique among the records at both places', async () => {
      await writeOld(await change('old'), 'a', 'p1', 'sea');
      const store = await change('new');
      const refused = () =>
        expect(write(store, 'b', 'p1', 'sea')).rejects.toThrow(refusal('storage.not_unique'));
      await refused();
      await store.raiseVersions();
      await refused();
      await write(store, 'c', 'p1', 'ice');
      await expect(write(store, 'a', 'p1', 'ice')).rejects.toThrow(refusal('storage.not_unique'));
      await expectAll(store, { a: 'p1', c: 'p1' }, { a: 'sea', c: 'ice' });
    });

    test.for([false, true])('is deleted with its owner (versions raised: %s)', async (isRaised) => {
      const old = await change('old');
      for (const key of ['a', 'b', 'c']) await writeOld(old, key, key === 'c' ? 'p2' : 'p1');
      await old.transact((tx) => {
        for (const park of ['p1', 'p2']) olderPlaced.at('local', park).write(tx, 'one', 1);
      });
      const store = await change('new');
      if (isRaised) await store.raiseVersions();
      await write(store, 'b', 'p1');
      await store.transact((tx) => placed.at('local', 'p1').write(tx, 'two', 2));
      expect(await placed.at('local', 'p1').keys(store)).toEqual(['one', 'two']);
      const deleted = await store.transact((tx) => deleteOwned(tx, { kind: 'park', id: 'p1' }));
      expect(deleted).toBe(4);
      await expectAll(store, { c: 'p2' });
      expect(await placed.at('local', 'p1').keys(store)).toEqual([]);
      expect(await placed.at('local', 'p2').keys(store)).toEqual(['one']);
    });

    test('moves at each of its places', async () => {
      const old = await change('old');
      await old.transact((tx) => {
        olderPlaced.at('shared', 'p1').write(tx, 'a', 1);
        olderPlaced.at('local', 'p2').write(tx, 'a', 2);
      });
      const store = await change('new');
      await store.raiseVersions();
      expect(await findUnfinished(store, WRITABLE)).toEqual([
        'shared/parks/*/artists',
        'local/parks/*/artists',
      ]);
      await finish(store);
      expect(await findUnfinished(store, WRITABLE)).toEqual([]);
      expect((await store.scan('local/parks/')).map(({ path }) => path)).toEqual([
        'local/parks/p2/sculptors/a',
      ]);
      expect((await store.scan('shared/parks/')).map(({ path }) => path)).toEqual([
        'shared/parks/p1/sculptors/a',
      ]);
      expect(await placed.at('shared', 'p1').find(store, 'a')).toBe(1);
      expect(await placed.at('local', 'p2').find(store, 'a')).toBe(2);
    });

    test('is found where records come from a store of the older release, and moves with them', async () => {
      const store = await change('new');
      await write(store, 'a', 'p1');
      const value = JSON.stringify({ parkId: 'p1', name: 'b' });
      await put(store, {
        'shared/statues/b': value,
        'shared/statues~parkId/p1/b': '{}',
        'shared/statues~title/b': '{"id":"b"}',
      });
      await expectAll(store, { a: 'p1', b: 'p1' });
      expect(findDeclaration('shared/statues/b')?.movedTo).toBe('sculptures');
      expect(store.pendingUpgrades()).toEqual([]);
      expect(await findUnfinished(store, ['local', 'node'])).toEqual([]);
      expect(await findUnfinished(store, WRITABLE)).toEqual(['shared/statues']);
      await finish(store);
      expect(await findUnfinished(store, WRITABLE)).toEqual([]);
      await expectAll(store, { a: 'p1', b: 'p1' });
      expect((await paths(store)).slice(0, 3)).toEqual([
        'sculptures/a',
        'sculptures/b',
        'statues~parkId/p1/a',
      ]);
    });

    test('is in views that are derived from its new place', async () => {
      await writeOld(await change('old'), 'a', 'p1');
      const store = await change('new');
      const view = deriveView(store, [newer.prefix], (reads) => newer.keys(reads));
      expect(await view()).toEqual(['a']);
      await write(store, 'b', 'p1');
      expect(await view()).toEqual(['a', 'b']);
      await store.raiseVersions();
      await finish(store);
      expect(await view()).toEqual(['a', 'b']);
      await store.transact((tx) => newer.delete(tx, 'a'));
      expect(await view()).toEqual(['b']);
    });

    test('is named by its former path when it cannot be read there, and deleted all the same', async () => {
      const old = await change('old');
      for (const key of ['a', 'b', 'c']) await writeOld(old, key, 'p1');
      const store = await change('new');
      await store.raiseVersions();
      await write(store, 'c', 'p1');
      await damage(store, older.path('a'));
      await expect(newer.find(store, 'a')).rejects.toThrow(older.path('a'));
      const { entries, damaged } = await newer.readableEntries(store);
      expect([entries.map(([key]) => key), damaged]).toEqual([['b', 'c'], ['a']]);
      await finish(store);
      expect(await newer.keys(store)).toEqual(['a', 'b', 'c']);
      await store.transact((tx) => newer.delete(tx, 'a'));
      await expectAll(store, { b: 'p1', c: 'p1' });
    });
  });
};
