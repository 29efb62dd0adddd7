/** Two releases that use one store, one after the other. */
import type { Kysely } from 'kysely';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Barrier, createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { collection } from '../collections/collection.ts';
import { defineProjection, type Projection } from '../projections/projection.ts';
import type { Store } from '../store.ts';
import { get, ROOT_KEY, refusal, type StoreLocation } from './store-context.ts';

/** A field is renamed, one added, one removed, and one divided. */
const halls = {
  old: collection('halls', {
    scope: 'shared',
    version: 1,
    shape: Type.Object({
      name: Type.String(),
      place: Type.String(),
      note: Type.Optional(Type.String()),
    }),
  }),
  new: collection('halls', {
    scope: 'shared',
    version: 2,
    shape: Type.Object({
      title: Type.String(),
      city: Type.String(),
      street: Type.String(),
      seats: Type.Integer(),
    }),
    upgrades: {
      2: {
        up: ({ name, place }) => {
          const [city, street] = String(place).split(', ');
          return { title: name, city, street, seats: 0 };
        },
        down: ({ title, city, street }, replaced) => ({
          ...(replaced?.['note'] !== undefined && { note: replaced['note'] }),
          name: title,
          place: `${String(city)}, ${String(street)}`,
        }),
      },
    },
  }),
};

interface Tables {
  readonly hall: { readonly city: string };
  readonly hall_seats: { readonly seats: number };
}

const table = <Row>(projection: Row): Projection => projection as unknown as Projection;

/** The newer release has another column in one table, and one table more. */
const releases = {
  old: {
    kinds: [halls.old.codec],
    projections: [
      table(
        defineProjection<{ name: string; place: string }, { place: string }>({
          table: 'hall',
          version: 1,
          source: halls.old,
          columns: { place: 'text' },
          indexes: [],
          rows: ({ place }) => [{ place }],
        }),
      ),
    ],
  },
  new: {
    kinds: [halls.new.codec],
    projections: [
      table(
        defineProjection<{ city: string }, { city: string }>({
          table: 'hall',
          version: 1,
          source: halls.new,
          columns: { city: 'text' },
          indexes: [],
          rows: ({ city }) => [{ city }],
        }),
      ),
      table(
        defineProjection<{ seats: number }, { seats: number }>({
          table: 'hall_seats',
          version: 1,
          source: halls.new,
          columns: { seats: 'integer' },
          indexes: [],
          rows: ({ seats }) => [{ seats }],
        }),
      ),
    ],
  },
} as const;

export type Release = keyof typeof releases;

/** Stores of both releases at one place. */
export const openRelease = async (
  place: StoreLocation,
  release: Release,
): Promise<{ readonly store: Store; readonly barrier: Barrier }> => {
  const { kinds, projections } = releases[release];
  const barrier = createBarrier();
  const store = await place.open(barrier, projections, kinds);
  await openBarrierFor(store, barrier, ROOT_KEY);
  return { store, barrier };
};

/** A write, with the lists as the release sees them. */
export const releaseCalls = {
  old: {
    write: (store: Store, key: string): Promise<void> =>
      store.transact((tx) => halls.old.write(tx, key, { name: key, place: `${key}, Main Street` })),
    list: async (store: Store): Promise<readonly unknown[]> =>
      (
        await store.select((tables: Kysely<{ hall: { place: string } }>) =>
          tables.selectFrom('hall').select('place').orderBy('place'),
        )
      ).map(({ place }) => place.split(', ')[0]),
  },
  new: {
    write: (store: Store, key: string): Promise<void> =>
      store.transact((tx) =>
        halls.new.write(tx, key, { title: key, city: key, street: 'Main Street', seats: 0 }),
      ),
    list: async (store: Store): Promise<readonly unknown[]> => {
      const rows = await store.select((tables: Kysely<Tables>) =>
        tables.selectFrom('hall').select('city').orderBy('city'),
      );
      const seats = await store.select((tables: Kysely<Tables>) =>
        tables.selectFrom('hall_seats').select('seats'),
      );
      expect(seats).toHaveLength(rows.length);
      return rows.map(({ city }) => city);
    },
  },
};

export const registerUpgradeContract = (createPlace: () => Promise<StoreLocation>): void => {
  describe('a store that a newer release opens', () => {
    let place: StoreLocation;
    let open: Store | undefined;

    beforeEach(async () => {
      place = await createPlace();
    });
    afterEach(async () => {
      await open?.close();
      await place.remove();
    });

    const change = async (release: Release): Promise<Store> => {
      await open?.close();
      open = undefined;
      open = (await openRelease(place, release)).store;
      return open;
    };
    const stored = (store: Store, key: string) => get(store, halls.old.path(key));

    test('is written in the old shape until the versions are raised, and in the new one afterwards', async () => {
      const old = await change('old');
      await releaseCalls.old.write(old, 'a');
      const newer = await change('new');
      expect(newer.pendingUpgrades()).toEqual(['shared/halls']);
      await releaseCalls.new.write(newer, 'b');
      expect(await stored(newer, 'b')).toBe('{"name":"b","place":"b, Main Street"}');
      await newer.raiseVersions();
      expect(newer.pendingUpgrades()).toEqual([]);
      await releaseCalls.new.write(newer, 'c');
      expect(await stored(newer, 'c')).toMatch(/^v2 /);
      const again = await change('new');
      expect(again.pendingUpgrades()).toEqual([]);
      await releaseCalls.new.write(again, 'd');
      expect(await stored(again, 'd')).toMatch(/^v2 /);
      expect(await releaseCalls.new.list(again)).toEqual(['a', 'b', 'c', 'd']);
    });

    test('is taken back by the older one, which finds every record and row', async () => {
      const old = await change('old');
      await releaseCalls.old.write(old, 'a');
      const newer = await change('new');
      await releaseCalls.new.write(newer, 'b');
      expect(await releaseCalls.new.list(newer)).toEqual(['a', 'b']);
      const older = await change('old');
      await releaseCalls.old.write(older, 'c');
      expect(await releaseCalls.old.list(older)).toEqual(['a', 'b', 'c']);
      expect(await halls.old.find(older, 'b')).toEqual({ name: 'b', place: 'b, Main Street' });
      expect(await older.findDamagedProjections()).toEqual([]);
      const again = await change('new');
      expect(await releaseCalls.new.list(again)).toEqual(['a', 'b', 'c']);
      expect(await again.findDamagedProjections()).toEqual([]);
    });

    test('keeps what only the older one has a place for, in a record that the newer one changes', async () => {
      const old = await change('old');
      const hall = { name: 'a', place: 'a, Main Street', note: 'kept' };
      await old.transact((tx) => halls.old.write(tx, 'a', hall));
      const newer = await change('new');
      await newer.transact(async (tx) => {
        const found = await halls.new.find(tx, 'a');
        if (found !== undefined) halls.new.write(tx, 'a', { ...found, street: 'Back Street' });
      });
      expect(await halls.old.find(await change('old'), 'a')).toEqual({
        ...hall,
        place: 'a, Back Street',
      });
    });

    test('refuses a value that the older one could not read, until the versions are raised', async () => {
      const old = await change('old');
      await releaseCalls.old.write(old, 'a');
      const newer = await change('new');
      const hall = { title: 'b', city: 'b', street: 'Main Street', seats: 4 };
      const add = () => newer.transact((tx) => halls.new.write(tx, 'b', hall));
      const writesNewer = () => newer.transact((tx) => tx.writesVersion('shared/halls', 2));
      await expect(add()).rejects.toThrow(refusal('storage.upgrade_unfinished'));
      expect(await halls.new.find(newer, 'b')).toBeUndefined();
      expect(await writesNewer()).toBe(false);
      await newer.raiseVersions();
      expect(await writesNewer()).toBe(true);
      await add();
      expect(await halls.new.find(newer, 'b')).toEqual(hall);
    });

    test('is refused to the older one after the versions are raised', async () => {
      const old = await change('old');
      await releaseCalls.old.write(old, 'a');
      const newer = await change('new');
      await newer.raiseVersions();
      await expect(change('old')).rejects.toThrow(refusal('storage.superseded'));
      expect(await releaseCalls.new.list(await change('new'))).toEqual(['a']);
    });

    test('is in the new shape from its beginning if the newer one creates it', async () => {
      const newer = await change('new');
      expect(newer.pendingUpgrades()).toEqual([]);
      await releaseCalls.new.write(newer, 'a');
      expect(await stored(newer, 'a')).toMatch(/^v2 /);
      await expect(change('old')).rejects.toThrow(refusal('storage.superseded'));
    });
  });
};
