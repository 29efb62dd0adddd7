/** Guarantees of a store that processes of two versions of Keelson have open at the same time, while one is rolled out. */
import type { Kysely } from 'kysely';
import { Type } from 'typebox';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { type Barrier, createBarrier } from '../barrier/barrier.ts';
import { openBarrierFor } from '../barrier/open-barrier.ts';
import { collection } from '../collections/collection.ts';
import { defineProjection, type Projection } from '../projections/projection.ts';
import type { Shaped } from '../shapes/shape.ts';
import type { Store } from '../store.ts';
import { get, ROOT_KEY, type StoreLocation } from './store-context.ts';
import { openRelease, type Release, releaseCalls } from './upgrade.contract.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);

export const registerRolloutContract = (createPlace: () => Promise<StoreLocation>): void => {
  describe('replicas of two versions of Keelson, while one is rolled out,', () => {
    let place: StoreLocation;
    let stores: { readonly store: Store; readonly barrier: Barrier }[];

    beforeEach(async () => {
      place = await createPlace();
      stores = [];
      const barrier = createBarrier();
      // Without kinds, so that the store is not made in the versions of a release of one of the tests.
      const store = await place.open(barrier, [], []);
      stores.push({ store, barrier });
      await openBarrierFor(store, barrier, ROOT_KEY);
    });
    afterEach(async () => {
      await Promise.all(stores.map(({ store }) => store.close()));
      await place.remove();
    });

    const put = (store: Store, path: string): Promise<void> =>
      store.transact((tx) => tx.write(path, bytes('x')));

    const roomShape = Type.Object({ name: Type.String(), seats: Type.Number() });
    type Room = Shaped<typeof roomShape>;
    const rooms = collection('rooms', {
      scope: 'shared',
      version: 1,
      keys: 'paths',
      shape: roomShape,
    });
    /** Version 2 has one more column, and lists only rooms with a value there. */
    const roomTable = (version: 1 | 2): Projection =>
      defineProjection<Room, { name: string; seats?: number }>({
        table: 'room',
        version,
        source: rooms,
        columns:
          version === 1
            ? ({ name: 'text' } as Projection['columns'] & { name: 'text'; seats: 'integer' })
            : { name: 'text', seats: 'integer' },
        indexes: [['name']],
        rows: ({ name, seats }) => [{ name, ...(version === 2 && { seats }) }],
      }) as Projection;
    const openWith = async (version: 1 | 2): Promise<Store> => {
      const barrier = createBarrier();
      const store = await place.open(barrier, [roomTable(version)]);
      stores.push({ store, barrier });
      await openBarrierFor(store, barrier, ROOT_KEY);
      return store;
    };
    const add = (store: Store, name: string): Promise<void> =>
      store.transact((tx) => rooms.write(tx, name, { name, seats: 4 }));
    const seated = async (store: Store): Promise<readonly string[]> => {
      const rows = await store.select((tables: Kysely<{ room: Room }>) =>
        tables.selectFrom('room').select('name').where('seats', '=', 4).orderBy('name'),
      );
      return rows.map(({ name }) => name);
    };
    const superseded = expect.objectContaining({ code: 'storage.superseded' });

    test('only the newer one writes, so that no row lacks what it needs', async () => {
      const older = await openWith(1);
      await add(older, 'a');
      const newer = await openWith(2);
      // Its first use of the table.
      expect(await seated(newer)).toEqual(['a']);
      await expect(add(older, 'b')).rejects.toThrow(superseded);
      await expect(put(older, 'shared/elsewhere')).rejects.toThrow(superseded);
      await expect(
        older.select((tables: Kysely<{ room: Room }>) => tables.selectFrom('room').selectAll()),
      ).rejects.toThrow(superseded);
      expect(await get(older, 'shared/rooms/a')).toContain('"name":"a"');
      await expect(older.requireUsable()).rejects.toThrow(superseded);
      await newer.requireUsable();
      await add(newer, 'c');
      expect(await seated(newer)).toEqual(['a', 'c']);
      expect(await newer.findDamagedProjections()).toEqual([]);
    });

    test('a write of the older one that was under way is not lost, or refused', async () => {
      const older = await openWith(1);
      await add(older, 'a');
      const newer = await openWith(2);
      const names = Array.from({ length: 40 }, (_, at) => `w${at}`);
      const writing = Promise.allSettled(names.map((name) => add(older, name)));
      await add(newer, 'b');
      const outcomes = await writing;
      const written = names.filter((_, at) => outcomes[at]?.status === 'fulfilled');
      const refusals = outcomes.filter((outcome) => outcome.status === 'rejected');
      expect(refusals.map(({ reason }) => reason)).toEqual(refusals.map(() => superseded));
      expect(await seated(newer)).toEqual(['a', 'b', ...written].sort());
      expect(await newer.findDamagedProjections()).toEqual([]);
    });

    test('the one that was started last writes, and the others of its version with it', async () => {
      const started: Record<Release, Store[]> = { old: [], new: [] };
      const expected: string[] = [];
      for (const [turn, release] of (['old', 'new', 'old', 'new'] as const).entries()) {
        const opened = await openRelease(place, release);
        stores.push(opened);
        started[release].push(opened.store);
        const { write, list } = releaseCalls[release];
        await list(opened.store);
        for (const [at, store] of started[release].entries()) {
          const key = `${turn}${at}`;
          await store.requireUsable();
          await write(store, key);
          expected.push(key);
          expect(await list(store)).toEqual(expected);
          expect(await store.findDamagedProjections()).toEqual([]);
        }
        const other = release === 'old' ? 'new' : 'old';
        for (const store of started[other]) {
          await expect(store.requireUsable()).rejects.toThrow(superseded);
          await expect(releaseCalls[other].write(store, 'x')).rejects.toThrow(superseded);
          await expect(releaseCalls[other].list(store)).rejects.toThrow(superseded);
        }
      }
    });

    test('the older one may neither write nor read once the versions are raised', async () => {
      const older = await openRelease(place, 'old');
      stores.push(older);
      await releaseCalls.old.write(older.store, 'a');
      const newer = await openRelease(place, 'new');
      stores.push(newer);
      await newer.store.raiseVersions();
      await releaseCalls.new.write(newer.store, 'b');
      await expect(older.store.requireUsable()).rejects.toThrow(superseded);
      await expect(releaseCalls.old.write(older.store, 'c')).rejects.toThrow(superseded);
      await expect(put(older.store, 'node/c')).rejects.toThrow(superseded);
      await expect(openRelease(place, 'old')).rejects.toThrow(superseded);
      expect(await releaseCalls.new.list(newer.store)).toEqual(['a', 'b']);
    });
  });
};
