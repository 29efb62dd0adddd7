/** Rows found by parts of their texts, and counts by key, compared with a full scan. */
import fc from 'fast-check';
import { Type } from 'typebox';
import { describe, expect, test } from 'vitest';
import { collection } from '../collections/collection.ts';
import { defineProjection, type Projection } from '../projections/projection.ts';
import type { Shaped } from '../shapes/shape.ts';
import type { StoreContext } from './store-context.ts';

const roomShape = Type.Object({ house: Type.String(), names: Type.Array(Type.String()) });
type Room = Shaped<typeof roomShape>;

type RoomName = { readonly house: string; readonly name: string };

const ALPHABET = 'ab-';
const rooms = collection('rooms', {
  scope: 'shared',
  version: 1,
  keys: 'paths',
  shape: roomShape,
});

const roomNames = (version: number): Projection =>
  defineProjection<Room, RoomName>({
    table: 'room_name',
    version,
    source: rooms,
    columns: { house: 'text', name: 'text' },
    indexes: [['house', 'name'], { columns: ['name'], present: 'name' }],
    search: { column: 'name', scope: 'house' },
    tallies: ({ house, name }) => [house, `${house}/${name.length}`],
    rows: ({ house, names }) => names.map((name) => ({ house, name })),
  }) as unknown as Projection;

const HOUSES = ['east', 'west'];
const KEYS = Array.from({ length: 12 }, (_, key) => String(key));
const LIMIT = 5;
const RUNS = 25;

const textOf = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom(...ALPHABET.split('')), minLength: 1, maxLength });

const change = fc.record({
  key: fc.constantFrom(...KEYS),
  room: fc.option(
    fc.record({
      house: fc.constantFrom(...HOUSES),
      names: fc.array(textOf(7), { maxLength: 3 }),
    }),
    { freq: 4 },
  ),
});

export const registerTextSearchContract = (context: StoreContext): void => {
  describe('searched texts', () => {
    const apply = async (
      known: Map<string, Room>,
      changes: readonly { key: string; room: Room | null }[],
    ) => {
      // Several of one record in one group, too.
      await Promise.all(
        changes.map(({ key, room }) =>
          context.store.transact((tx) => {
            if (room === null) rooms.delete(tx, key);
            else rooms.write(tx, key, room);
          }),
        ),
      );
      for (const { key, room } of changes)
        if (room === null) known.delete(key);
        else known.set(key, room);
    };

    const LENGTHS = Array.from({ length: 8 }, (_, length) => length);
    const MANY = 1000;

    /** The numbers of rows and the records found; a result cut off at a limit must not exceed it. */
    const answers = async (parts: readonly string[]) => {
      const found: unknown[] = [];
      for (const scope of HOUSES) {
        const keys = [scope, ...LENGTHS.map((length) => `${scope}/${length}`)];
        found.push(await context.store.tallies('room_name', keys));
        for (const part of parts) {
          const search = (limit: number) =>
            context.store.findByPart('room_name', { scope, part, limit });
          expect((await search(LIMIT))?.length ?? 0).toBeLessThanOrEqual(LIMIT);
          found.push((await search(MANY))?.toSorted());
          found.push(await context.store.countByPart('room_name', { scope, part }));
        }
      }
      return found;
    };

    const walk = (known: ReadonlyMap<string, Room>, parts: readonly string[]) =>
      HOUSES.flatMap((scope): unknown[] => {
        const inHouse = [...known].filter(([, { house }]) => house === scope);
        const names = inHouse.flatMap(([, room]) => room.names);
        const ofLength = (length: number) => names.filter((name) => name.length === length).length;
        const withPart = (part: string) =>
          inHouse
            .filter(([, room]) => room.names.some((name) => name.includes(part)))
            .map(([key]) => key)
            .sort();
        const rowsWithPart = (part: string) => names.filter((name) => name.includes(part)).length;
        return [
          [names.length, ...LENGTHS.map(ofLength)],
          // Shorter parts have no trigram.
          ...parts.flatMap((part) =>
            part.length < 3 ? [undefined, undefined] : [withPart(part), rowsWithPart(part)],
          ),
        ];
      });

    test('are found by any part exactly as by a scan over all texts, after any change', {
      timeout: 120_000,
    }, async () => {
      await context.reopen(roomNames(1));
      const known = new Map<string, Room>();
      await fc.assert(
        fc.asyncProperty(
          fc.array(change, { minLength: 1, maxLength: 8 }),
          fc.array(textOf(5), { minLength: 1, maxLength: 6 }),
          async (changes, parts) => {
            await apply(known, changes);
            expect(await answers(parts)).toEqual(walk(known, parts));
          },
        ),
        { numRuns: RUNS, endOnFailure: true },
      );
    });

    test('are indexed and counted again when the projection is of another version', async () => {
      await context.reopen(roomNames(1));
      const known = new Map<string, Room>();
      await apply(known, [
        { key: '1', room: { house: 'east', names: ['abab', 'b--a'] } },
        { key: '2', room: { house: 'west', names: ['ab-'] } },
      ]);
      await context.reopen(roomNames(2));
      expect(await answers(['aba', 'b-', 'bab'])).toEqual(walk(known, ['aba', 'b-', 'bab']));
      await context.store.rebuildProjections();
      expect(await answers(['aba', 'b--', 'ba'])).toEqual(walk(known, ['aba', 'b--', 'ba']));
    });

    test('are not searched when too many texts contain the part', async () => {
      await context.reopen(roomNames(1));
      const many = Array.from({ length: 5 }, (_, at) => ({
        key: `e${at}`,
        room: { house: 'east', names: [`abba${at}`] },
      }));
      await apply(new Map(), many);
      const find = (limit: number) =>
        context.store.findByPart('room_name', { scope: 'east', part: 'abb', limit });
      expect((await find(5))?.toSorted()).toEqual(['e0', 'e1', 'e2', 'e3', 'e4']);
      expect(await find(4)).toBeUndefined();
    });

    test('are found in the new scope when only the scope changed', async () => {
      await context.reopen(roomNames(1));
      const known = new Map<string, Room>();
      const names = ['abab'];
      await apply(known, [{ key: '1', room: { house: 'east', names } }]);
      await apply(known, [{ key: '1', room: { house: 'west', names } }]);
      expect(await answers(['bab'])).toEqual(walk(known, ['bab']));
    });

    test('may hold any character', async () => {
      await context.reopen(roomNames(1));
      const known = new Map<string, Room>();
      const names = ['quo"te\'s (and) NOT*', 'ünïcödé 🙂🙃🙂', '%_\\:^-', 'line\nbreak\ttab'];
      await apply(known, [{ key: '1', room: { house: 'east', names } }]);
      const parts = [
        'o"te',
        'NOT*',
        '(an',
        'cödé',
        '🙂🙃🙂',
        '%_\\',
        'e\nb',
        'ak\tt',
        'absent',
        '*"*',
      ];
      expect(await answers(parts)).toEqual(walk(known, parts));
    });
  });
};
