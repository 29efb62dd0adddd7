/** Attribute names: hyphenated on the wire, camel case in the code, otherwise the same. */
type Camel<S extends string> = S extends `${infer Head}-${infer Tail}`
  ? `${Head}${Capitalize<Camel<Tail>>}`
  : S;

type Kebab<S extends string, Done extends string = ''> = S extends `${infer Letter}${infer Rest}`
  ? Kebab<Rest, `${Done}${Letter extends Lowercase<Letter> ? Letter : `-${Lowercase<Letter>}`}`>
  : Done;

export type KebabKeys<T> = {
  [K in keyof T as string extends K ? K : Kebab<K & string>]: T[K];
};

export type CamelKeys<T> = { [K in keyof T as Camel<K & string>]: T[K] };

/**
 * A loop over keys, because `Object.entries` takes three times as long and a document may have a
 * hundred attributes.
 */
const withKeys = (value: object, rename: (key: string) => string): Record<string, unknown> => {
  const renamed: Record<string, unknown> = {};
  const given = value as Record<string, unknown>;
  for (const key of Object.keys(given)) renamed[rename(key)] = given[key];
  return renamed;
};

const camelNames = new Map<string, string>();
const kebabNames = new Map<string, string>();

const remembered = (names: Map<string, string>, key: string, build: () => string): string => {
  const known = names.get(key);
  if (known !== undefined) return known;
  const built = build();
  names.set(key, built);
  return built;
};

/**
 * `{ 'auto-apply': true }` -> `{ autoApply: true }`. The keys come from a schema, never from a
 * client.
 */
export const toCamelKeys = <T extends object>(value: T): CamelKeys<T> =>
  withKeys(value, (key) =>
    remembered(camelNames, key, () =>
      key.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    ),
  ) as CamelKeys<T>;

/** `{ autoApply: true }` -> `{ 'auto-apply': true }`. */
export const toKebabKeys = <T extends object>(value: T): KebabKeys<T> =>
  withKeys(value, (key) =>
    remembered(kebabNames, key, () =>
      key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`),
    ),
  ) as KebabKeys<T>;
