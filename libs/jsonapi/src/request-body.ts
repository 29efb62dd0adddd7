/**
 * Request documents: their schemas, and the conversion of parsed JSON to a typed value. Underscores in
 * attribute names and old names of an attribute are replaced, and a type that can only be one is added, before
 * the schema is checked.
 */
import { KeelsonError } from '@keelson/errors';
import { type Static, type TObject, type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/schema';
import { invalidAttribute, refuseInvalid, type Violation } from './error-document.ts';
import { findUnsupported, type UnsupportedFields } from './unsupported-fields.ts';

/** `schema` or null. */
export const nullable = <S extends TSchema>(schema: S) => Type.Union([schema, Type.Null()]);

const NO_ATTRIBUTES = Type.Object({});

/** The type that the address fixes, with other names that clients send for it. A missing one means the first. */
export const fixedType = (name: string, ...others: readonly string[]) =>
  Type.Union(
    [name, ...others].map((one) => Type.Literal(one)),
    { default: name },
  );

/**
 * Document with one resource: `data.type` must be `type` or absent, missing `attributes` count as empty.
 * @param type a schema where the request chooses the type, or where there are other names for it
 */
export const resourceBody = <
  Attributes extends TObject = TObject<Record<never, never>>,
  Relationships extends TObject = TObject<Record<never, never>>,
>(
  type: string | ReturnType<typeof fixedType>,
  attributes: Attributes = NO_ATTRIBUTES as Attributes,
  relationships: Relationships = NO_ATTRIBUTES as Relationships,
) =>
  Type.Object({
    data: Type.Object({
      id: Type.Optional(nullable(Type.String())),
      type: typeof type === 'string' ? fixedType(type) : type,
      attributes,
      relationships: Type.Optional(relationships),
    }),
  });

/** Document with a list of resources or identifiers, at most `maxItems`. */
export const resourceListBody = <Item extends TSchema>(item: Item, maxItems = 1000) =>
  Type.Object({ data: Type.Array(item, { maxItems }) });

/**
 * Additional checks of text attributes. Called when the schema refuses other attributes of the same document,
 * so that one response names all mistakes. Handlers check the values they accept themselves.
 * @param texts the text attributes that satisfy the schema
 */
export type CheckTexts = (
  texts: Readonly<Record<string, string | undefined>>,
) => readonly Violation[];

/** @throws KeelsonError `jsonapi.id_differs` when the id in a document differs from that of the URL */
export const requireSameId = (given: string | null | undefined, id: string): void => {
  if (given && given !== id) throw new KeelsonError('jsonapi.id_differs', { pointer: '/data/id' });
};

export type AttributeAliases = Readonly<Record<string, string>>;

type JsonObject = Record<string, unknown>;
const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** JSON pointers with current names, and the name that the request uses for the last part of each. */
type NamesInput = Map<string, string>;

/** The only type that a resource or identifier can have; undefined where the request chooses. */
const onlyType = (properties: Readonly<Record<string, TSchema>>): string | undefined => {
  const { const: only, default: first } = (properties['type'] ?? {}) as {
    const?: string;
    default?: string;
  };
  return only ?? first;
};

/**
 * Renames the members of an object, and of all objects in it, to the names that the schema declares. Adds a
 * missing `type` that can only be one: public clients whose authors forgot it are in use.
 */
const canonicalNames = (
  value: unknown,
  schema: TSchema,
  aliases: AttributeAliases,
  pointer: string,
  givenNames: NamesInput,
): unknown => {
  if (Array.isArray(value)) {
    const items = (schema as { items?: TSchema }).items;
    return items === undefined
      ? value
      : value.map((item, index) =>
          canonicalNames(item, items, aliases, `${pointer}/${index}`, givenNames),
        );
  }
  if (!isObject(value)) return value;
  const variants = (schema as { anyOf?: readonly TSchema[] }).anyOf ?? [schema];
  const properties = variants
    .map((variant) => (variant as { properties?: Record<string, TSchema> }).properties)
    .find((found) => found !== undefined);
  if (properties === undefined) return value;
  const result: JsonObject = {};
  // Current names first, so that an alias is compared with them in any order.
  const names = Object.keys(value).sort(
    (a, b) => Number(b in properties) - Number(a in properties),
  );
  for (const given of names) {
    const hyphened = given.replaceAll('_', '-');
    const alias = aliases[given] ?? aliases[hyphened];
    let name = given;
    if (!Object.hasOwn(properties, given)) {
      if (Object.hasOwn(properties, hyphened)) name = hyphened;
      else if (alias !== undefined && Object.hasOwn(properties, alias)) name = alias;
      else continue;
    }
    const property = properties[name];
    if (property === undefined) continue;
    const inner = `${pointer}/${name}`;
    if (!Object.hasOwn(value, name)) givenNames.set(inner, given);
    const converted = canonicalNames(value[given], property, aliases, inner, givenNames);
    if (Object.hasOwn(result, name) && !isEqual(result[name], converted)) {
      throw invalidAttribute(`${pointer}/${given}`, `${given} and ${name} contradict each other`);
    }
    result[name] = converted;
  }
  const type = onlyType(properties);
  return type === undefined ? result : { type, ...result };
};

const withEmptyAttributes = (value: unknown): unknown =>
  isObject(value) && isObject(value['data']) && value['data']['attributes'] === undefined
    ? { ...value, data: { ...value['data'], attributes: {} } }
    : value;

const escapePointer = (name: string): string => name.replaceAll('~', '~0').replaceAll('/', '~1');

/** Keywords that only repeat an error inside a value, when no variant of its schema accepts the value. */
const VARIANT_KEYWORDS: readonly string[] = ['anyOf', 'const', 'type'];

type SchemaErrors = ReturnType<Validator['Errors']>[1];

/** The allowed values of each enumeration that refused a value, by JSON pointer. */
const allowedValues = (errors: SchemaErrors): ReadonlyMap<string, readonly string[]> => {
  const allowed = new Map<string, string[]>();
  for (const { keyword, instancePath, params } of errors) {
    if (keyword !== 'const') continue;
    const values = allowed.get(instancePath) ?? [];
    values.push(String((params as { allowedValue?: unknown }).allowedValue));
    allowed.set(instancePath, values);
  }
  return allowed;
};

const toViolations = (errors: SchemaErrors): readonly Violation[] => {
  const allowed = allowedValues(errors);
  const reasons = new Map<string, { readonly text: string; readonly keyword: string }>();
  for (const { keyword, instancePath, params, message } of errors) {
    const add = (pointer: string, text: string) => {
      if (!reasons.has(pointer)) reasons.set(pointer, { text, keyword });
    };
    const field = instancePath.split('/').at(-1) ?? '';
    if (keyword === 'required') {
      const missing = (params as { requiredProperties?: readonly string[] }).requiredProperties;
      for (const name of missing ?? []) {
        add(`${instancePath}/${escapePointer(name)}`, `${name} is required`);
      }
    } else if (keyword === 'const') {
      const values = (allowed.get(instancePath) ?? []).join(', ');
      add(instancePath, `${field} is not one of the allowed values: ${values}`);
    } else if (keyword === 'anyOf') {
      add(instancePath, `${field} has none of the allowed forms`);
    } else {
      add(instancePath, `${field} ${message}`.trim());
    }
  }
  const isRefusedInside = (pointer: string): boolean =>
    [...reasons.keys()].some((other) => other.startsWith(`${pointer}/`));
  return [...reasons]
    .filter(
      ([pointer, { keyword }]) => !VARIANT_KEYWORDS.includes(keyword) || !isRefusedInside(pointer),
    )
    .slice(0, 20)
    .map(([pointer, { text }]) => ({ pointer, text }));
};

const ATTRIBUTES_POINTER = '/data/attributes/';

/** The violations found by `check` in attributes that have none yet. */
const checkOthers = (
  document: unknown,
  violations: readonly Violation[],
  check: CheckTexts,
): readonly Violation[] => {
  const data = isObject(document) ? document['data'] : undefined;
  const attributes = isObject(data) ? data['attributes'] : undefined;
  if (!isObject(attributes)) return [];
  const isRefused = (name: string): boolean =>
    violations.some(({ pointer }) =>
      `${pointer}/`.startsWith(`${ATTRIBUTES_POINTER}${escapePointer(name)}/`),
    );
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string' && !isRefused(name)) texts[name] = value;
  }
  return check(texts);
};

/** The JSON pointer with the names that the request uses. */
const toGivenPointer = (pointer: string, givenNames: NamesInput): string => {
  let current = '';
  return pointer
    .split('/')
    .map((part, index) => {
      if (index === 0) return part;
      current += `/${part}`;
      return escapePointer(givenNames.get(current) ?? part);
    })
    .join('/');
};

const withGivenPointer = (error: unknown, givenNames: NamesInput): unknown => {
  if (!(error instanceof KeelsonError) || error.code !== 'jsonapi.invalid_attribute') return error;
  const { pointer, text } = error.params;
  return invalidAttribute(toGivenPointer(String(pointer), givenNames), String(text));
};

const pointToGiven = (thrown: unknown, givenNames: NamesInput): unknown => {
  if (!(thrown instanceof AggregateError)) return withGivenPointer(thrown, givenNames);
  const errors = thrown.errors.map((error) => withGivenPointer(error, givenNames));
  return new AggregateError(errors, thrown.message);
};

export interface BodyDecoder<S extends TSchema> {
  decode(value: unknown): Static<S>;
  /** An error about a decoded document, with pointers that use the names in the request. */
  pointToGiven(document: unknown, refusal: unknown): unknown;
}

/**
 * Converts parsed JSON to the typed document. The schema is compiled on first use.
 * @param notOffered fields that are refused when they ask for something
 * @throws KeelsonError `jsonapi.invalid_attribute`, or an AggregateError of several
 */
export const createBodyDecoder = <S extends TSchema>(
  schema: S,
  aliases: AttributeAliases = {},
  check: CheckTexts = () => [],
  notOffered: UnsupportedFields = {},
): BodyDecoder<S> => {
  let validator: Validator | undefined;
  const namesOf = new WeakMap<object, NamesInput>();
  return {
    decode: (value) => {
      if (!isObject(value)) throw invalidAttribute('', 'the body must be a JSON object');
      const givenNames: NamesInput = new Map();
      const document = canonicalNames(withEmptyAttributes(value), schema, aliases, '', givenNames);
      validator ??= Compile(schema) as unknown as Validator;
      const unsupported = findUnsupported(value, notOffered);
      const isValid = validator.Check(document);
      if (!isValid || unsupported.length > 0) {
        const violations = isValid ? [] : toViolations(validator.Errors(document)[1]);
        const others = checkOthers(document, violations, check);
        const found = [...violations, ...others].map(({ pointer, text }) => ({
          pointer: toGivenPointer(pointer, givenNames),
          text,
        }));
        // The stated reason is more helpful than the message of the schema.
        const named = new Set(unsupported.map(({ pointer }) => pointer));
        refuseInvalid([...found.filter(({ pointer }) => !named.has(pointer)), ...unsupported]);
      }
      if (givenNames.size > 0 && isObject(document)) namesOf.set(document, givenNames);
      return document as Static<S>;
    },
    pointToGiven: (document, refusal) => {
      const givenNames = isObject(document) ? namesOf.get(document) : undefined;
      return givenNames === undefined ? refusal : pointToGiven(refusal, givenNames);
    },
  };
};
