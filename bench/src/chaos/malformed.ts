/** Malformed values, and damages that make a value malformed. */
import fc from 'fast-check';

/** Generated apart from the value, so that it also applies to what is only known when the input is sent. */
export type Damage<T> = (value: T) => T;

/** One of the generators, each as often as its weight says; shrinks to the first. */
export const weighted = <T>(
  ...choices: readonly (readonly [number, fc.Arbitrary<T>])[]
): fc.Arbitrary<T> =>
  fc.oneof(
    { withCrossShrink: true },
    ...choices.map(([weight, arbitrary]) => ({ weight, arbitrary })),
  );

/** The rare one once in `times`. */
export const oneIn = <T, U>(
  times: number,
  rare: fc.Arbitrary<T>,
  usual: fc.Arbitrary<U>,
): fc.Arbitrary<T | U> => weighted<T | U>([times - 1, usual], [1, rare]);

/** The value, except once in `times`. */
export const usually = <T>(value: T, times: number, rare: readonly T[]): fc.Arbitrary<T> =>
  oneIn(times, fc.constantFrom(...rare), fc.constant(value));

export const once = (times: number): fc.Arbitrary<boolean> => usually(false, times, [true]);

/** A number for `pickAt`, evenly distributed. */
export const choice = fc.noBias(fc.nat());

/** Picks from a list that is not empty, but may have changed since the last input. */
export const pickAt = <T>(values: readonly T[], at: number): T => values[at % values.length] as T;

/** @param times left as it is, except once in so many */
export const damaged = <T>(
  value: fc.Arbitrary<T>,
  damage: fc.Arbitrary<Damage<T>>,
  times = 1,
): fc.Arbitrary<T> => {
  const changed = fc.tuple(value, damage).map(([given, change]) => change(given));
  return times === 1 ? changed : oneIn(times, changed, value);
};

const bytesUpTo = (maxLength: number): fc.Arbitrary<Uint8Array> =>
  fc.uint8Array({ maxLength, size: 'max' });

export const splice = (bytes: Uint8Array, from: number, to: number, put: Uint8Array): Uint8Array =>
  Buffer.concat([bytes.subarray(0, from), put, bytes.subarray(to)]);

/** Some bytes are replaced, cut off or inserted, or nothing is left of the original. */
export const byteDamage: fc.Arbitrary<Damage<Uint8Array>> = fc.oneof(
  fc
    .array(fc.tuple(choice, fc.nat(255)), { minLength: 1, maxLength: 4 })
    .map((changes) => (bytes: Uint8Array) => {
      const changed = Uint8Array.from(bytes);
      for (const [at, value] of changes) changed[at % (bytes.length || 1)] = value;
      return changed;
    }),
  choice.map((at) => (bytes: Uint8Array) => bytes.subarray(0, at % (bytes.length + 1))),
  fc.tuple(choice, bytesUpTo(20)).map(([at, put]) => (bytes: Uint8Array) => {
    const from = at % (bytes.length + 1);
    return splice(bytes, from, from, put);
  }),
  bytesUpTo(400).map((other) => () => other),
);

/** A few characters are replaced. @param put what stands there afterwards */
export const textDamageWith = (put: fc.Arbitrary<string>): fc.Arbitrary<Damage<string>> =>
  fc.tuple(choice, fc.nat(5), put).map(([at, removed, added]) => (text: string) => {
    const from = at % (text.length + 1);
    return text.slice(0, from) + added + text.slice(from + removed);
  });

const LATIN_1 = fc.nat(255).map((code) => String.fromCharCode(code));
export const textDamage = textDamageWith(fc.string({ unit: LATIN_1, maxLength: 5 }));

const WRONG_JSON = '[null, true, -1, 9007199254740992, 1e308, [], ["a", "b"], [[1]], {"a": 1}]';
const WRONG_TEXTS =
  ' \0 * ::1 0.0.0.0/0 http://[ 1.2.3;UTF8:x 1.2;; -1h 1e9h 0000-00-00T00:00:00Z 9999-12-31T23:59:59Z';

/** A JSON value of a wrong type, range or format for a parameter. */
export const wrongValue: fc.Arbitrary<unknown> = oneIn(
  5,
  fc.jsonValue({ maxDepth: 2 }),
  fc.constantFrom(
    ...(JSON.parse(WRONG_JSON) as unknown[]),
    ...WRONG_TEXTS.split(' '),
    'x'.repeat(3000),
    '🂡'.repeat(40),
  ),
);

const NAMES = ['__proto__', 'constructor', 'toString', 'nonsense', 'terraform-version', ''];

/** @param place at each depth, the number of the member or element */
const changeAt = (
  value: unknown,
  [at, ...deeper]: readonly number[],
  change: Damage<unknown>,
): unknown => {
  if (at === undefined || typeof value !== 'object' || value === null) return change(value);
  if (Array.isArray(value)) {
    const list = value as unknown[];
    if (list.length === 0) return change(list);
    return list.with(at % list.length, changeAt(pickAt(list, at), deeper, change));
  }
  const members = new Map<string, unknown>(Object.entries(value));
  const known = [...members.keys()];
  const name = pickAt([...known, ...known, pickAt(NAMES, at >> 8)], at);
  // `__proto__` becomes an own member, as in JSON.
  return Object.fromEntries(members.set(name, changeAt(members.get(name), deeper, change)));
};

const valueDamage = weighted<Damage<unknown>>(
  [4, wrongValue.map((wrong) => () => wrong)],
  [2, textDamage.map((damage) => (value) => damage(typeof value === 'string' ? value : 'text'))],
  // Left out, as JSON has no such value.
  [1, fc.constant(() => undefined)],
  [
    1,
    fc.constantFrom(1, 40, 2000).map((length) => (value) => Array(length).fill([value].flat()[0])),
  ],
);

/** A JSON document gets one value, somewhere inside, that is wrong, missing or too many. */
export const documentDamage: fc.Arbitrary<Damage<unknown>> = fc
  .tuple(fc.array(choice, { minLength: 1, maxLength: 6 }), valueDamage)
  .map(
    ([place, change]) =>
      (value) =>
        changeAt(value, place, change),
  );

/** A JSON document at and beyond the limits of nesting. */
export const nestedText: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(31, 33, 5000), fc.boolean())
  .map(([depth, isList]) =>
    isList
      ? '['.repeat(depth) + ']'.repeat(depth)
      : `${'{"data":'.repeat(depth)}1${'}'.repeat(depth)}`,
  );
