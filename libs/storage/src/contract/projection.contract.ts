/** Projections. */
import { setImmediate } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { collection } from '../collections/collection.ts';
import { countPage } from '../copies/store-copies.ts';
import { defineProjection, type Projection } from '../projections/projection.ts';
import type { Shaped } from '../shapes/shape.ts';
import { damage, entriesAfter, refusal, type StoreContext } from './store-context.ts';

export const registerProjectionContract = (context: StoreContext): void => {
  describe('projections', () => {
    const roomShape = Type.Object({
      name: Type.String(),
      seats: Type.Number(),
      tags: Type.Array(Type.String()),
    });
    type Room = Shaped<typeof roomShape>;
    interface Tables {
      readonly room_tag: { name: string; tag: string; seats: number | null };
    }
    const rooms = collection('rooms', {
      scope: 'shared',
      version: 1,
      keys: 'paths',
      shape: roomShape,
    });
    const roomTags = (version: number, keep: (tag: string) => boolean = () => true) =>
      defineProjection<Room, Tables['room_tag']>({
        table: 'room_tag',
        version,
        source: rooms,
        columns: { name: 'text', tag: 'text', seats: 'integer' },
        indexes: [['tag', 'name']],
        rows: ({ name, seats, tags }) =>
          tags.filter(keep).map((tag) => ({ name, tag, seats: seats === 0 ? null : seats })),
      }) as Projection;
    const write = (key: string, room: Room): Promise<void> =>
      context.store.transact((tx) => rooms.write(tx, key, room));
    const all = () =>
      context.store.select((tables: Kysely<Tables>) =>
        tables
          .selectFrom('room_tag')
          .select(['name', 'tag', 'seats'])
          .orderBy('tag', 'desc')
          .orderBy('name'),
      );

    test('follow every commit: new rows, changed rows, fewer rows, none', async () => {
      await context.reopen(roomTags(1));
      await write('1', { name: 'blue', seats: 4, tags: ['a', 'b'] });
      await write('2', { name: 'Zoo', seats: 0, tags: ['b', 'é'] });
      expect(await all()).toEqual([
        { name: 'Zoo', tag: 'é', seats: null },
        { name: 'Zoo', tag: 'b', seats: null },
        { name: 'blue', tag: 'b', seats: 4 },
        { name: 'blue', tag: 'a', seats: 4 },
      ]);
      await write('1', { name: 'blue', seats: 5, tags: ['c'] });
      await context.store.transact((tx) => rooms.delete(tx, '2'));
      expect(await all()).toEqual([{ name: 'blue', tag: 'c', seats: 5 }]);
    });

    test('are built again when a copy of the store is restored', async () => {
      await context.reopen(roomTags(1));
      await write('1', { name: 'blue', seats: 4, tags: ['a'] });
      expect(await all()).toHaveLength(1);
      const copy = await context.store.copies.take();
      let records = 0;
      for await (const page of copy.pages) {
        records += countPage(page);
        await context.store.copies.stage('one', page);
      }
      await copy.close();
      await write('2', { name: 'red', seats: 4, tags: ['b', 'c'] });
      expect(await all()).toHaveLength(3);
      await context.store.copies.replace('one', { records, sequence: copy.sequence });
      expect(await all()).toEqual([{ name: 'blue', tag: 'a', seats: 4 }]);
      expect(await context.store.findDamagedProjections()).toEqual([]);
    });

    test('are built from existing records, again for a new version, but not for the same one', async () => {
      for (let key = 0; key < 250; key += 1)
        await write(String(key), { name: `n${key}`, seats: key, tags: ['a', 'b'] });
      await context.reopen(roomTags(1));
      expect(await all()).toHaveLength(500);
      await context.reopen(roomTags(2, (tag) => tag === 'a'));
      await write('x', { name: 'x', seats: 1, tags: ['a', 'b'] });
      expect(await all()).toHaveLength(251);
      expect(await context.store.findDamagedProjections()).toEqual([]);
      await context.reopen(roomTags(2));
      expect(await all()).toHaveLength(251);
      expect(await context.store.findDamagedProjections()).toEqual(['room_tag']);
      await context.store.rebuildProjections();
      expect(await all()).toHaveLength(502);
      expect(await context.store.findDamagedProjections()).toEqual([]);
    });

    test('keep their former rows until they are rebuilt, while others commit', async () => {
      for (let key = 0; key < 450; key += 1)
        await write(String(key), { name: `n${key}`, seats: key, tags: ['a'] });
      await context.reopen(roomTags(1));
      const seen = new Set([(await all()).length]);
      const rebuilding = { isOver: false };
      const rebuilt = context.store.rebuildProjections().finally(() => {
        rebuilding.isOver = true;
      });
      const written = write('x', { name: 'x', seats: 1, tags: ['a'] });
      while (!rebuilding.isOver) {
        seen.add((await all()).length);
        await setImmediate();
      }
      await Promise.all([rebuilt, written]);
      seen.add((await all()).length);
      expect([...seen].filter((count) => count < 450)).toEqual([]);
      expect((await all()).length).toBe(451);
    });

    const bookings = collection('bookings', {
      scope: 'shared',
      version: 1,
      keys: 'paths',
      shape: Type.Object({ seats: Type.Number() }),
    });
    const book = (key: string, seats: number): Promise<void> =>
      context.store.transact((tx) => bookings.write(tx, key, { seats }));
    /** One row for each room, with the seats that are left. */
    const freeSeats = (version: number): Projection => ({
      ...roomTags(version),
      parts: { booking: bookings },
      tallies: ({ seats }) => [seats === 0 ? 'full' : 'free'],
      rows: (room, _, { booking }) => {
        const { name, seats } = room as Room;
        const booked = (booking as { readonly seats: number } | undefined)?.seats ?? 0;
        return [{ name, tag: '', seats: seats - booked }];
      },
    });
    const left = async () => Object.fromEntries((await all()).map((row) => [row.name, row.seats]));

    test('follow a record and its part, whichever is written, in one group or in several', async () => {
      await context.reopen(freeSeats(1), { ...roomTags(1), table: 'other_tag' });
      await book('1', 1);
      expect(await left()).toEqual({});
      await write('1', { name: 'one', seats: 4, tags: ['a'] });
      expect(await left()).toEqual({ one: 3 });
      await Promise.all([
        write('1', { name: 'one', seats: 6, tags: ['b'] }),
        book('1', 6),
        write('2', { name: 'two', seats: 2, tags: [] }),
        book('2', 1),
        context.store.transact((tx) => {
          bookings.write(tx, '3', { seats: 2 });
          rooms.write(tx, '3', { name: 'three', seats: 5, tags: [] });
        }),
      ]);
      expect(await left()).toEqual({ one: 0, two: 1, three: 3 });
      expect(await context.store.tallies('room_tag', ['full', 'free'])).toEqual([1, 2]);
      const others = await context.store.select((tables: Kysely<{ other_tag: { tag: string } }>) =>
        tables.selectFrom('other_tag').select('tag'),
      );
      expect(others).toEqual([{ tag: 'b' }]);
      await context.store.transact((tx) => bookings.delete(tx, '1'));
      await context.store.transact((tx) => rooms.delete(tx, '3'));
      expect(await left()).toEqual({ one: 6, two: 1 });
      expect(await context.store.findDamagedProjections()).toEqual([]);
    });

    test('are built from records and their parts, and from those of another store', async () => {
      for (let key = 100; key < 350; key += 1) {
        await write(String(key), { name: `n${key}`, seats: 4, tags: [] });
        if (key % 2 === 0) await book(String(key), 4);
      }
      await book('999', 4);
      await context.reopen(freeSeats(1));
      expect(await context.store.tallies('room_tag', ['full', 'free'])).toEqual([125, 125]);
      expect(await context.store.findDamagedProjections()).toEqual([]);
      const path = bookings.path('101');
      const stored = context.store.encrypt(path, Buffer.from('{"seats":4}'));
      await context.store.applyRecords('primary', [{ path, stored }]);
      expect(await context.store.tallies('room_tag', ['full', 'free'])).toEqual([126, 124]);
      expect(await context.store.findDamagedProjections()).toEqual([]);
    });

    test('have the rows of a record whose part is damaged, also when either is written', async () => {
      await context.reopen(freeSeats(1));
      await write('1', { name: 'one', seats: 4, tags: [] });
      await book('1', 1);
      await damage(context.store, bookings.path('1'));
      await write('1', { name: 'one', seats: 5, tags: [] });
      expect(await left()).toEqual({ one: 5 });
      await book('1', 2);
      expect(await left()).toEqual({ one: 3 });
      await damage(context.store, rooms.path('1'));
      await book('1', 3);
      expect(await left()).toEqual({ one: 3 });
      await write('1', { name: 'one', seats: 6, tags: [] });
      expect(await left()).toEqual({ one: 3 });
      expect(await context.store.tallies('room_tag', ['full', 'free'])).toEqual([0, 1]);
    });

    test('reflect only the last of several commits to one record', async () => {
      await context.reopen(roomTags(1));
      await Promise.all(
        Array.from({ length: 20 }, (_, seats) => write('1', { name: 'n', seats, tags: ['a'] })),
      );
      const stored = await rooms.find(context.store, '1');
      expect((await all()).map((row) => row.seats ?? 0)).toEqual([stored?.seats]);
    });

    test('keep the rows of a damaged record until it is written, deleted or the table rebuilt', async () => {
      const kept = { name: 'kept', seats: 1, tags: ['a'] };
      const lost = { name: 'lost', seats: 2, tags: ['a', 'b'] };
      const standIn = (version: number): Projection => ({
        ...roomTags(version),
        rowsOfDamaged: (key) => [{ name: key, tag: 'damaged', seats: null }],
      });
      const counted = (): Projection => ({
        ...standIn(1),
        tallies: ({ tag }) => [String(tag)],
      });
      await context.reopen(counted());
      for (const [key, room] of Object.entries({ 1: kept, 2: lost, 3: lost, 4: kept }))
        await write(key, room);
      await damage(context.store, rooms.path('2'), rooms.path('3'));
      expect((await all()).length).toBe(6);

      await write('2', kept);
      await context.store.transact((tx) => rooms.delete(tx, '3'));
      expect(await context.store.tallies('room_tag', ['a', 'b'])).toEqual([3, 0]);
      expect(await context.store.findDamagedProjections()).toEqual([]);

      await damage(context.store, rooms.path('4'));
      await context.reopen(standIn(2));
      expect(await all()).toEqual([
        { name: '4', tag: 'damaged', seats: null },
        { name: 'kept', tag: 'a', seats: 1 },
        { name: 'kept', tag: 'a', seats: 1 },
      ]);
    });

    /** Throws on rooms without tags. */
    const strict = (version: number): Projection => ({
      ...roomTags(version),
      rows: (room) => {
        const { tags } = room as Room;
        if (tags.length === 0) throw new Error('no tags');
        return tags.map((tag) => ({ name: 'strict', tag, seats: 1 }));
      },
    });
    const untagged: Room = { name: 'untagged', seats: 1, tags: [] };

    test('refuse the one transaction from which they compute no rows, and no other of its group', async () => {
      await context.reopen(strict(1));
      const outcomes = await Promise.allSettled([
        write('1', { name: 'n', seats: 1, tags: ['a'] }),
        write('2', untagged),
        context.store.transact((tx) => tx.write('shared/other', Buffer.from('x'))),
        write('3', { name: 'n', seats: 1, tags: ['b'] }),
      ]);
      expect(outcomes.map(({ status }) => status)).toEqual([
        'fulfilled',
        'rejected',
        'fulfilled',
        'fulfilled',
      ]);
      expect((await all()).map(({ tag }) => tag)).toEqual(['b', 'a']);
      expect(await rooms.find(context.store, '2')).toBeUndefined();
      expect((await entriesAfter(context.store, 0)).at(-1)?.sequence).toBe(
        await context.store.wal.headSequence(),
      );
    });

    test('are built although one of them cannot read a record, which is reported', async () => {
      await write('1', { name: 'n', seats: 1, tags: ['a'] });
      await write('2', untagged);
      await context.reopen(strict(1), {
        ...roomTags(1),
        table: 'room_name',
        rows: (room) => [{ name: (room as Room).name, tag: '', seats: 1 }],
      });
      expect((await all()).map(({ tag }) => tag)).toEqual(['a']);
      const names = await context.store.select((tables: Kysely<{ room_name: { name: string } }>) =>
        tables.selectFrom('room_name').select('name').orderBy('name'),
      );
      expect(names.map(({ name }) => name)).toEqual(['n', 'untagged']);
      expect(context.damaged).toEqual([rooms.path('2')]);
      expect(context.store.damagedPaths()).toEqual([rooms.path('2')]);
      await write('2', { name: 'n', seats: 1, tags: ['c'] });
      expect((await all()).map(({ tag }) => tag)).toEqual(['c', 'a']);
      expect(context.store.damagedPaths()).toEqual([]);
    });

    test('keep their rows for an applied record that they cannot read, which is reported', async () => {
      await context.reopen(strict(1));
      await write('1', { name: 'n', seats: 1, tags: ['a'] });
      const path = rooms.path('1');
      const stored = context.store.encrypt(path, Buffer.from(JSON.stringify(untagged)));
      await context.store.applyRecords('primary', [{ path, stored }]);
      expect((await all()).map(({ tag }) => tag)).toEqual(['a']);
      expect(context.damaged).toEqual([path]);
      await context.store.transact((tx) => rooms.delete(tx, '1'));
      expect(await all()).toEqual([]);
    });

    test('of an older version are built again, and so are those of the newer one afterwards', async () => {
      await context.reopen(roomTags(2));
      await write('1', { name: 'n', seats: 1, tags: ['a'] });
      await context.reopen(roomTags(1));
      await write('2', { name: 'n', seats: 1, tags: ['b'] });
      expect(await all()).toHaveLength(2);
      await context.reopen(roomTags(2));
      expect(await all()).toHaveLength(2);
      expect(await context.store.findDamagedProjections()).toEqual([]);
    });

    test('are not served while sealed', async () => {
      await context.reopen(roomTags(1));
      await write('1', { name: 'n', seats: 1, tags: ['a'] });
      context.barrier.seal();
      await expect(all()).rejects.toThrow(refusal('storage.sealed'));
    });

    test('follow applied entries as they follow commits', async () => {
      await write('1', { name: 'n', seats: 1, tags: ['a', 'b'] });
      await write('1', { name: 'n', seats: 2, tags: ['b'] });
      const entries = (await entriesAfter(context.store, 0)).map((entry) => ({
        ...entry,
        operations: entry.operations.filter(({ path }) => path.startsWith('shared/')),
      }));
      await context.store.transact((tx) => rooms.delete(tx, '1'));
      await context.reopen(roomTags(1));
      await context.store.applyEntries('primary', entries);
      expect(await all()).toEqual([{ name: 'n', tag: 'b', seats: 2 }]);
      expect(await rooms.find(context.store, '1')).toEqual({ name: 'n', seats: 2, tags: ['b'] });
    });
  });
};
