/** Declared collections: shapes, versions and damage. */
import type { Kysely } from 'kysely';
import { type TSchema, Type } from 'typebox';
import { beforeEach, describe, expect, expectTypeOf, test } from 'vitest';
import { collection, collections, sealedRecord, singleRecord } from '../collections/collection.ts';
import type { UpgradeStep, Upgrades } from '../collections/upgrades.ts';
import { findUnreadable } from '../copies/unreadable-records.ts';
import { defineProjection, type Projection } from '../projections/projection.ts';
import { readableOnly } from '../records/readable-records.ts';
import { recordReads } from '../records/recorded-reads.ts';
import type { Transaction } from '../store.ts';
import { get, put, refusal, type StoreContext } from './store-context.ts';

const roomsOf = <Shape extends TSchema>(version: number, shape: Shape, upgrades: Upgrades = {}) =>
  collection('rooms', { scope: 'shared', version, shape, upgrades });

const renamed: UpgradeStep = {
  up: ({ name, ...others }) => ({ title: name, ...others }),
  down: ({ title, ...others }) => ({ name: title, ...others }),
};

/** Three releases of one kind of record. */
const first = roomsOf(1, Type.Object({ name: Type.String(), seats: Type.Integer() }));
const second = roomsOf(2, Type.Object({ title: Type.String(), seats: Type.Integer() }), {
  2: renamed,
});
const third = roomsOf(
  3,
  Type.Object({
    title: Type.String(),
    seats: Type.Integer(),
    tags: Type.Array(Type.String()),
    closedAtMs: Type.Optional(Type.Number()),
  }),
  {
    2: renamed,
    3: {
      up: (older) => ({ ...older, tags: [] }),
      down: ({ title, seats, closedAtMs }) => ({ title, seats, closedAtMs }),
    },
  },
);

export const registerCollectionContract = (context: StoreContext): void => {
  const write = (work: (tx: Transaction) => void) => context.store.transact(work);

  describe('records of a collection', () => {
    const stored = (key: string) => get(context.store, first.path(key));

    test('are stored as JSON in version 1, with the version before it from version 2 on', async () => {
      await write((tx) => first.write(tx, 'a', { name: 'blue', seats: 4 }));
      await write((tx) => second.write(tx, 'b', { title: 'red', seats: 5 }));
      expect(await stored('a')).toBe('{"name":"blue","seats":4}');
      expect(await stored('b')).toBe('v2 {"title":"red","seats":5}');
    });

    test('of older versions are upgraded step by step when read, and stored as upgraded when written', async () => {
      await write((tx) => first.write(tx, 'a', { name: 'blue', seats: 4 }));
      await write((tx) => second.write(tx, 'b', { title: 'red', seats: 5 }));
      const a = { title: 'blue', seats: 4, tags: [] };
      const b = { title: 'red', seats: 5, tags: [] };
      expect(await third.find(context.store, 'a')).toEqual(a);
      expect(await third.entries(context.store)).toEqual([
        ['a', a],
        ['b', b],
      ]);
      expect(await stored('a')).toBe('{"name":"blue","seats":4}');
      await context.store.transact(async (tx) => {
        const room = await third.find(tx, 'a');
        expectTypeOf(room?.tags).toEqualTypeOf<readonly string[] | undefined>();
        if (room !== undefined) third.write(tx, 'a', { ...room, seats: room.seats + 1 });
        expect(await third.find(tx, 'a')).toEqual({ ...a, seats: 5 });
      });
      expect(await stored('a')).toBe('v3 {"title":"blue","seats":5,"tags":[]}');
      await context.reopen();
      expect(await third.find(context.store, 'a')).toEqual({ ...a, seats: 5 });
    });

    test('are decoded once until they change', async () => {
      await write((tx) => first.write(tx, 'a', { name: 'blue', seats: 4 }));
      const found = await third.find(context.store, 'a');
      expect(await third.find(context.store, 'a')).toBe(found);
      expect(await third.find((await recordReads(context.store)).reads, 'a')).toBe(found);
      expect(await context.store.transact((tx) => third.find(tx, 'a'))).toBe(found);
      await write((tx) => first.write(tx, 'a', { name: 'blue', seats: 5 }));
      expect(await third.find(context.store, 'a')).toEqual({ title: 'blue', seats: 5, tags: [] });
    });

    test('are found by names only, so that a key from a request reaches no other record', async () => {
      const desks = collection('rooms', { scope: 'shared', version: 1, shape: Type.Null() });
      await write((tx) => desks.write(tx, ['a', '1'], null));
      expect(await desks.find(context.store, 'a', '1')).toBeNull();
      for (const key of ['a/1', '', '..', 'a\u0000', 'x'.repeat(201)])
        expect(await desks.find(context.store, key)).toBeUndefined();
      expect(await desks.keys(context.store, ['a'])).toEqual(['1']);
      expect(await desks.keys(context.store, [''])).toEqual([]);
      expect(await desks.below('a').entries(context.store)).toEqual([['1', null]]);
    });

    test('may lie at several places, or be one record', async () => {
      const shape = Type.Number();
      const prices = collections('halls/*/prices', {
        scopes: ['shared', 'local'],
        version: 1,
        shape,
      });
      const fee = singleRecord('halls/fee', { scope: 'node', version: 1, shape });
      await write((tx) => {
        prices.at('shared', 'h1').write(tx, 'hour', 5);
        prices.at('local', 'h2').write(tx, 'hour', 6);
        fee.write(tx, 7);
      });
      expect(await get(context.store, 'shared/halls/h1/prices/hour')).toBe('5');
      expect(await get(context.store, 'local/halls/h2/prices/hour')).toBe('6');
      expect(await get(context.store, 'node/halls/fee')).toBe('7');
      expect(await prices.at('local', 'h2').find(context.store, 'hour')).toBe(6);
      expect(await fee.find(context.store)).toBe(7);
      await write((tx) => fee.delete(tx));
      expect(await fee.find(context.store)).toBeUndefined();
    });

    test('need an upgrade to each version', () => {
      const shape = Type.Object({});
      for (const [version, upgrades] of [
        [2, {}],
        [1, { 2: renamed }],
        [3, { 3: renamed }],
        [0, {}],
      ] as const)
        expect(() => roomsOf(version, shape, upgrades)).toThrow('upgrades to');
    });
  });

  describe('a sealed record', () => {
    /** Adds the bytes of the key; a first byte proves the key. */
    const shifted = (key: Uint8Array, value: Uint8Array, by: 1 | -1): Uint8Array =>
      value.map((byte, at) => byte + by * (key[at % key.length] ?? 0));
    const format = {
      scope: 'node',
      cipher: {
        seal: (key: Uint8Array, path: string, value: Uint8Array) =>
          shifted(key, Buffer.concat([Buffer.from(path), value]), 1),
        open: (key: Uint8Array, path: string, sealed: Uint8Array) => {
          const opened = Buffer.from(shifted(key, sealed, -1)).toString();
          if (!opened.startsWith(path)) throw new Error('not for this path and key');
          return Buffer.from(opened.slice(path.length));
        },
      },
    } as const;
    const code = sealedRecord('halls/code', {
      ...format,
      version: 1,
      shape: Type.Object({ digits: Type.String() }),
    });
    const later = sealedRecord('halls/code', {
      ...format,
      version: 2,
      shape: Type.Object({ digits: Type.String(), tries: Type.Integer() }),
      upgrades: {
        2: { up: (older) => ({ ...older, tries: 0 }), down: ({ digits }) => ({ digits }) },
      },
    });
    const [key, another] = [Uint8Array.of(3, 5, 9), Uint8Array.of(3, 5, 8)];

    test('has its version and shape below the encryption', async () => {
      await write((tx) => code.write(tx, key, { digits: '1234' }));
      expect(await get(context.store, code.path)).not.toContain('1234');
      expect(await code.find(context.store, key)).toEqual({ digits: '1234' });
      expect(await later.find(context.store, key)).toEqual({ digits: '1234', tries: 0 });
      await write((tx) => later.write(tx, key, { digits: '5678', tries: 1 }));
      expect(await later.find(context.store, key)).toEqual({ digits: '5678', tries: 1 });
      const more = { digits: '5678', colour: 'red' };
      await expect(write((tx) => code.write(tx, key, more))).rejects.toThrow('additional');
      await write((tx) => code.delete(tx));
      expect(await code.find(context.store, key)).toBeUndefined();
    });

    test('of a newer version, another key or another shape is damage of that record', async () => {
      await write((tx) => later.write(tx, key, { digits: '5678', tries: 1 }));
      await expect(code.find(context.store, key)).rejects.toThrow(refusal('storage.newer_record'));
      expect(context.damaged).toEqual([code.path]);
      const wrongKey = later.find(context.store, another);
      await expect(wrongKey).rejects.toThrow(refusal('barrier.damaged_value'));
      await write((tx) => tx.write(code.path, format.cipher.seal(key, code.path, Buffer.of(1))));
      await expect(code.find(context.store, key)).rejects.toThrow(
        refusal('storage.damaged_record'),
      );
      expect(await code.find(readableOnly(context.store), key)).toBeUndefined();
      expect(context.store.damagedPaths()).toEqual([code.path]);
    });

    test('is copied as it is', async () => {
      await write((tx) => later.write(tx, key, { digits: '5678', tries: 1 }));
      const copy = await context.store.copies.take();
      for await (const page of copy.pages)
        expect(findUnreadable(page, context.barrier)).toEqual([]);
      await copy.close();
    });
  });

  describe('a write that does not fit', () => {
    test('fails its transaction alone, and names no value', async () => {
      const outcomes = await Promise.allSettled([
        context.store.transact((tx) => first.write(tx, 'a', { name: 'a', seats: 1 })),
        context.store.transact((tx) => first.write(tx, 'b', { name: 'secret', seats: 1.5 })),
        context.store.transact((tx) => {
          const more = { name: 'secret', seats: 1, colour: 'secret' };
          first.write(tx, 'c', more);
        }),
        context.store.transact((tx) => first.write(tx, 'd', { name: 'd', seats: 1 })),
      ]);
      const reasons = outcomes.map((one) => (one.status === 'rejected' ? String(one.reason) : ''));
      expect(reasons).toEqual([
        '',
        expect.stringContaining('shared/rooms/b has another shape: /seats must be integer'),
        expect.stringContaining('shared/rooms/c has another shape: it must not have additional'),
        '',
      ]);
      expect(reasons.join()).not.toContain('secret');
      expect(await first.keys(context.store)).toEqual(['a', 'd']);
    });
  });

  describe.for<[string, string, string]>([
    ['of another shape', '{"name":"secret","seats":"4"}', 'storage.damaged_record'],
    [
      'with a field that nobody declared',
      '{"name":"secret","seats":4,"x":1}',
      'storage.damaged_record',
    ],
    ['that is no JSON', 'secret', 'storage.damaged_record'],
    ['of no version', 'v {"name":"secret"}', 'storage.damaged_record'],
    [
      'of version 2 with the shape of another',
      'v2 {"name":"secret","seats":4}',
      'storage.damaged_record',
    ],
    ['of a newer version', 'v4 {"name":"secret"}', 'storage.newer_record'],
  ])('a record %s', ([, text, code]) => {
    const path = third.path('b');
    const known = { title: 'blue', seats: 4, tags: [] };

    beforeEach(async () => {
      await context.store.transact((tx) => {
        for (const key of ['a', 'b', 'c']) first.write(tx, key, { name: 'blue', seats: 4 });
      });
      await put(context.store, { [path]: text });
    });

    test('is refused by name where it is read, and left out where the others are wanted', async () => {
      const refused = refusal(code);
      await expect(third.find(context.store, 'b')).rejects.toThrow(refused);
      await expect(third.find(context.store, 'b')).rejects.toThrow(path);
      await expect(third.find(context.store, 'b')).rejects.not.toThrow('secret');
      await expect(third.entries(context.store)).rejects.toThrow(refused);
      const readable = {
        entries: [
          ['a', known],
          ['c', known],
        ],
        damaged: ['b'],
      };
      expect(await third.readableEntries(context.store)).toEqual(readable);
      expect(await context.store.transact((tx) => third.readableEntries(tx))).toEqual(readable);
      expect(await third.readableEntries(context.store, { after: 'a', limit: 1 })).toEqual({
        entries: [['c', known]],
        damaged: ['b'],
      });
      for (const reads of [
        readableOnly(context.store),
        readableOnly((await recordReads(context.store)).reads),
      ]) {
        expect(await third.find(reads, 'b')).toBeUndefined();
        expect(await third.entries(reads)).toEqual(readable.entries);
      }
      expect(await third.keys(context.store)).toEqual(['a', 'b', 'c']);
    });

    test('is reported once by its path, until it is written', async () => {
      for (let reads = 0; reads < 2; reads += 1) await third.readableEntries(context.store);
      await expect(third.find(context.store, 'b')).rejects.toThrow(refusal(code));
      expect(context.damaged).toEqual([path]);
      expect(context.store.damagedPaths()).toEqual([path]);
      await context.store.transact((tx) => third.write(tx, 'b', known));
      expect(context.store.damagedPaths()).toEqual([]);
      expect(await third.find(context.store, 'b')).toEqual(known);
    });
  });

  describe('projections of a collection', () => {
    interface Tables {
      readonly room_title: { title: string; tags: number };
    }
    const titles = (source: typeof second | typeof third) =>
      defineProjection<{ title: string; tags?: readonly string[] }, Tables['room_title']>({
        table: 'room_title',
        version: 1,
        source: source as typeof third,
        columns: { title: 'text', tags: 'integer' },
        indexes: [],
        rows: ({ title, tags }) => [{ title, tags: tags?.length ?? -1 }],
      }) as unknown as Projection;
    const all = async () =>
      (
        await context.store.select((tables: Kysely<Tables>) =>
          tables.selectFrom('room_title').select(['title', 'tags']).orderBy('title'),
        )
      ).map(({ title, tags }) => [title, tags]);

    test('are computed from upgraded records, and again when the collection has a new version', async () => {
      await context.store.transact((tx) => first.write(tx, 'a', { name: 'blue', seats: 4 }));
      await context.reopen(titles(second));
      expect(await all()).toEqual([['blue', -1]]);
      await context.reopen(titles(third));
      expect(await all()).toEqual([['blue', 0]]);
      await context.store.transact((tx) => first.write(tx, 'b', { name: 'red', seats: 4 }));
      expect(await all()).toEqual([
        ['blue', 0],
        ['red', 0],
      ]);
      expect(await context.store.findDamagedProjections()).toEqual([]);
      await context.reopen(titles(second));
      expect(await all()).toEqual([
        ['blue', -1],
        ['red', -1],
      ]);
    });

    test('are built without a record that is newer, which is reported', async () => {
      await context.store.transact((tx) => first.write(tx, 'a', { name: 'blue', seats: 4 }));
      await put(context.store, { [first.path('b')]: 'v4 {}' });
      await context.reopen(titles(third));
      expect(await all()).toEqual([['blue', 0]]);
      expect(context.damaged).toEqual([first.path('b')]);
    });
  });
};
