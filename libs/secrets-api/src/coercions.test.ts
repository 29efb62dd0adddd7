import { describe, expect, test } from 'vitest';
import { parseDurationMs } from './duration.ts';
import { field, readFields } from './fields.ts';

const description = 'a parameter';
const read = (one: ReturnType<(typeof field)[keyof typeof field]>, raw: unknown): unknown =>
  readFields({ x: one }, { x: raw }).x;

test.for([
  ['30', 30],
  [30, 30],
  [30.9, 30],
  ['', 0],
  ['30s', 30],
  ['5m', 300],
  ['1h30m', 5400],
  ['2d', 172_800],
  ['1.5h', 5400],
  ['1500ms', 1],
  ['+10s', 10],
] as const)('reads the duration %j as %i seconds', ([raw, seconds]) => {
  expect(read(field.durationSeconds({ description }), raw)).toBe(seconds);
});

test.for([
  ['', 0],
  ['2', 2000],
  ['500ms', 500],
  ['1.005s', 1005],
  ['1h0.25s', 3_600_250],
  ['999us', 0],
  ['-20ms', -20],
  ['20 ms', undefined],
  ['9'.repeat(20), undefined],
] as const)('reads the duration %j as %o milliseconds', ([text, durationMs]) => {
  expect(parseDurationMs(text)).toBe(durationMs);
});

test.for([
  'x',
  '5x',
  '-1s',
  -1,
  '1h-5m',
  'h',
  '.',
  true,
  [],
  {},
  '1e3',
  Number.NaN,
  '9'.repeat(30),
  '500ms',
  0.5,
])('refuses an invalid duration: %j', (raw) => {
  expect(() => read(field.durationSeconds({ description }), raw)).toThrow(
    'Field validation failed: error converting input for field "x": ',
  );
});

test.for([
  [true, true],
  [false, false],
  ['true', true],
  ['False', false],
  ['1', true],
  ['0', false],
  [1, true],
  ['', false],
] as const)('reads the boolean %j', ([raw, value]) => {
  expect(read(field.bool({ description }), raw)).toBe(value);
});

test.for([
  [
    [{ a: 1 }, ' b ', ''],
    ['{"a":1}', 'b'],
  ],
  ['[{"a":1},"b"]', ['{"a":1}', 'b']],
  ['{"a":1}', ['{"a":1}']],
  [{ a: 1 }, ['{"a":1}']],
  ['a, b', ['a', 'b']],
] as const)('reads the list of texts and objects %j', ([raw, list]) => {
  expect(read(field.objectList({ description }), raw)).toEqual(list);
});

test.for([[[['a']]], [[null]], [true], ['{"a":'], ['[1']])(
  'refuses what is not a list of texts and objects: %j',
  ([raw]) => {
    expect(() => read(field.objectList({ description }), raw)).toThrow('expected');
  },
);

test.for(['yes', 2, [], {}, 'tRUE'])('refuses what is no boolean: %j', (raw) => {
  expect(() => read(field.bool({ description }), raw)).toThrow('expected a boolean');
});

test.for([
  [' 12 ', 12],
  ['-3', -3],
  [7, 7],
  ['', 0],
] as const)('reads the integer %j', ([raw, value]) => {
  expect(read(field.integer({ description }), raw)).toBe(value);
});

test('a long text that is not an integer is refused quickly', () => {
  const long = `${' '.repeat(1_000_000)}x`;
  expect(() => read(field.integer({ description }), long)).toThrow('expected an integer');
});

test.for([1.5, '1.5', '0x10', 2 ** 53, 'one', true])('refuses an invalid integer: %j', (raw) => {
  expect(() => read(field.integer({ description }), raw)).toThrow('expected an integer');
});

test.for([
  ['a, b,,c', ['a', 'b', 'c']],
  [
    ['a', ' b ', 3],
    ['a', 'b', '3'],
  ],
  ['["a","b"]', ['a', 'b']],
  ['', []],
] as const)('reads the list %j', ([raw, value]) => {
  expect(read(field.commaList({ description }), raw)).toEqual(value);
});

test.for([{}, 5, [{}], '[1', true])('refuses an invalid list: %j', (raw) => {
  expect(() => read(field.commaList({ description }), raw)).toThrow('Field validation failed');
});

test.for([
  [
    { a: 'b', n: 1, t: true },
    { a: 'b', n: '1', t: 'true' },
  ],
  [['a=b', 'c = d=e'], { a: 'b', c: 'd=e' }],
  ['a=b', { a: 'b' }],
  ['{"a":"b"}', { a: 'b' }],
] as const)('reads the string map %j', ([raw, value]) => {
  expect(read(field.stringMap({ description }), raw)).toEqual(value);
});

test.for(['ab', ['=b'], [1], { a: [] }, 5])('refuses what is no string map: %j', (raw) => {
  expect(() => read(field.stringMap({ description }), raw)).toThrow('Field validation failed');
});

test('JSON inside text has the limits of a body', () => {
  const list = (count: number): string => JSON.stringify(Array.from({ length: count }, () => 'a'));
  expect(read(field.commaList({ description }), list(10_000))).toHaveLength(10_000);
  expect(() => read(field.commaList({ description }), list(10_001))).toThrow('expected JSON');
});

describe('timestamps', () => {
  test.for([
    ['2030-01-02T03:04:05Z', Date.UTC(2030, 0, 2, 3, 4, 5)],
    ['2030-01-02T03:04:05.678901234+02:00', Date.UTC(2030, 0, 2, 1, 4, 5, 678)],
    ['2028-02-29T00:00:00Z', Date.UTC(2028, 1, 29)],
    [1_900_000_000, 1_900_000_000_000],
    ['1900000000', 1_900_000_000_000],
  ] as const)('reads %j', ([raw, epochMs]) => {
    expect(read(field.time({ description }), raw)).toMatchObject({ epochMs });
  });

  test.for([
    '2030-01-02',
    '2030-02-30T00:00:00Z',
    '2029-02-29T00:00:00Z',
    '2030-13-01T00:00:00Z',
    '2030-01-01T24:00:00Z',
    '2030-01-01T00:00:00',
    '2030-01-01T00:00:00+24:00',
    '',
    true,
    {},
    1e300,
  ])('refuses %j', (raw) => {
    expect(() => read(field.time({ description }), raw)).toThrow('Field validation failed');
  });

  test('keeps the text as it was given', () => {
    const text = '2030-01-02T03:04:05.600000001-11:30';
    expect(read(field.time({ description }), text)).toMatchObject({ text });
  });
});

test('never repeats a refused value', () => {
  expect(() => read(field.bool({ description }), 'hunter2')).toThrow(/^((?!hunter2).)*$/);
});

test('applies defaults, checks and custom texts in declared order', () => {
  const fields = {
    title: field.string({ description, required: 'missing title parameter value' }),
    on: field.bool({ description, default: true, invalidText: () => 'invalid on' }),
    size: field.integer({ description, check: (n) => (n > 3 ? 'too large' : undefined) }),
  };
  expect(readFields(fields, { title: '' })).toEqual({ title: '', on: true, size: undefined });
  expect(() => readFields(fields, { on: 'x' })).toThrow('missing title parameter value');
  expect(() => readFields(fields, { title: 'a', on: 'x', size: 4 })).toThrow('invalid on');
  expect(() => readFields(fields, { title: 'a', size: 4 })).toThrow('too large');
});
