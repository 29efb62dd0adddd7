import { type Static, Type } from 'typebox';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { ShapeCheck, type Shaped, shapeDigest } from './shape.ts';

const room = Type.Object({
  name: Type.String(),
  kind: Type.Union([Type.Literal('office'), Type.Literal('hall'), Type.Null()]),
  seats: Type.Integer(),
  floor: Type.Enum([0, 2, 11]),
  closedAtMs: Type.Optional(Type.Number()),
  prices: Type.Record(Type.String(), Type.Number()),
  doors: Type.Array(Type.Object({ width: Type.Number() })),
  size: Type.Tuple([Type.Number(), Type.Number()]),
  note: Type.Unknown(),
});
const blue: Static<typeof room> = {
  name: 'blue',
  kind: 'office',
  seats: 4,
  floor: 11,
  prices: { hour: 1, 'two\nlines': 2 },
  doors: [{ width: 1 }],
  size: [3, 4],
  note: { any: ['thing'] },
};

test('the type of a shape is deeply read-only, and optional fields may be undefined', () => {
  expectTypeOf<Shaped<typeof room>>().toEqualTypeOf<{
    readonly name: string;
    readonly kind: 'office' | 'hall' | null;
    readonly seats: number;
    readonly floor: 0 | 2 | 11;
    readonly closedAtMs?: number | undefined;
    readonly prices: Readonly<Record<string, number>>;
    readonly doors: readonly { readonly width: number }[];
    readonly size: readonly [number, number];
    readonly note: unknown;
  }>();
});

describe('a value', () => {
  const check = new ShapeCheck(room);

  test.for([
    [{}],
    [{ closedAtMs: 5 }],
    [{ closedAtMs: undefined }],
    [{ kind: null, doors: [], prices: {} }],
    [{ note: undefined }],
  ])('has the shape with %j', ([change]) => {
    expect(check.findFault({ ...blue, ...change })).toBeUndefined();
  });

  test.for<[object, string]>([
    [{ colour: 'red' }, 'it must not have additional properties colour'],
    [{ name: undefined }, '/name must be string'],
    [{ seats: 4.5 }, '/seats must be integer'],
    [{ seats: Number.NaN }, '/seats must be integer'],
    [{ floor: '2' }, '/floor must be equal to one of the allowed values'],
    [{ kind: 'attic' }, '/kind must be equal to constant'],
    [{ prices: { 'two\nlines': 'x' } }, '/prices/two\nlines must be number'],
    [{ doors: [{ width: 1, height: 2 }] }, '/doors/0 must not have additional properties height'],
    [{ doors: { 0: { width: 1 } } }, '/doors must be array'],
    [{ size: [1] }, '/size must not have fewer than 2 items'],
    [{ size: [1, 2, 3] }, '/size/2 is not allowed'],
  ])('does not have the shape with %j', ([change, fault]) => {
    expect(check.findFault({ ...blue, ...change })).toBe(fault);
  });

  test('does not have the shape without one of its fields, or as another type', () => {
    const { seats: _, ...without } = blue;
    expect(check.findFault(without)).toBe('it must have required properties seats');
    for (const value of [null, 5, 'text', [blue], undefined])
      expect(check.findFault(value)).toBe('it must be object');
  });

  test('is not named in the fault', () => {
    const secret = 'hunter2';
    expect(check.findFault({ ...blue, seats: secret, kind: secret })).not.toContain(secret);
  });
});

describe('the digest', () => {
  const digest = shapeDigest(room);

  test('is the same for the same fields in another order and with other descriptions', () => {
    const { name, ...others } = room.properties;
    expect(shapeDigest(Type.Object({ ...others, name }))).toBe(digest);
    const described = Type.String({ description: 'on the door' });
    expect(shapeDigest(Type.Object({ ...room.properties, name: described }))).toBe(digest);
  });

  test.for([
    { seats: Type.Number() },
    { seats: Type.Optional(Type.Integer()) },
    { kind: Type.Union([Type.Literal('office'), Type.Literal('hall')]) },
    { doors: Type.Array(Type.Object({ width: Type.Number(), height: Type.Number() })) },
    { prices: Type.Record(Type.String(), Type.String()) },
    { colour: Type.String() },
  ])('differs with %j', (change) => {
    expect(shapeDigest(Type.Object({ ...room.properties, ...change }))).not.toBe(digest);
  });
});
