/** The fields that a schema describes, as rows of a table. */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly description?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly 'x-max-length'?: number;
  readonly maxItems?: number;
}

export interface Field {
  /** From the document down, such as `data.attributes.name`; `[]` follows the name of a list. */
  readonly path: string;
  readonly type: string;
  readonly isRequired: boolean;
  readonly description: string;
  /** Sentences about the default and the limits. */
  readonly limits: readonly string[];
}

type Schemas = Readonly<Record<string, Schema>>;

const nameOf = ({ $ref }: Schema): string | undefined => $ref?.split('/').at(-1);

const isNull = ({ type }: Schema): boolean => type === 'null';

const resolve = (schema: Schema, schemas: Schemas): Schema => {
  const found = schemas[nameOf(schema) ?? ''];
  return found === undefined ? schema : resolve(found, schemas);
};

/** The alternative to null; undefined if the choice is between several. */
const onlyAlternative = ({ anyOf = [] }: Schema): Schema | undefined => {
  const alternatives = anyOf.filter((one) => !isNull(one));
  return alternatives.length === 1 ? alternatives[0] : undefined;
};

/** A type in words, such as `list of string` or `"remote" or "agent" or null`. */
export const typeOf = (schema: Schema): string => {
  const name = nameOf(schema);
  if (name !== undefined) return name;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined)
    return schema.enum.map((value) => JSON.stringify(value)).join(' or ');
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(typeOf))].join(' or ');
  if (schema.allOf !== undefined) return 'object';
  const types = [schema.type ?? 'any value'].flat();
  const format = schema.format === undefined ? '' : ` (${schema.format})`;
  return types
    .map((type) =>
      type === 'array' && schema.items !== undefined
        ? `list of ${typeOf(schema.items)}`
        : `${type}${type === 'null' ? '' : format}`,
    )
    .join(' or ');
};

const count = (value: number): string => value.toLocaleString('en');

const limitsOf = (schema: Schema): readonly string[] => {
  const { minimum, maximum, minLength, maxItems, pattern } = schema;
  const maxLength = schema.maxLength ?? schema['x-max-length'];
  return [
    schema.default !== undefined && `Default: ${JSON.stringify(schema.default)}.`,
    minimum !== undefined && `At least ${count(minimum)}.`,
    maximum !== undefined && `At most ${count(maximum)}.`,
    minLength !== undefined && `At least ${count(minLength)} characters.`,
    maxLength !== undefined && `At most ${count(maxLength)} characters.`,
    maxItems !== undefined && `At most ${count(maxItems)} items.`,
    pattern !== undefined && `Matches ${pattern}.`,
  ].filter((limit) => limit !== false);
};

/**
 * All fields of a schema, each before those inside it. A named schema inside itself, and a choice between several
 * objects, are rows without fields of their own.
 * @param schemas the named schemas of the document
 */
export const fieldsOf = (
  schema: Schema,
  schemas: Schemas,
  path = '',
  within: readonly string[] = [],
): readonly Field[] => {
  const name = nameOf(schema);
  if (name !== undefined && within.includes(name)) return [];
  const known = name === undefined ? within : [...within, name];
  const inner = (one: Schema, at: string) => fieldsOf(one, schemas, at, known);
  const described = resolve(schema, schemas);
  const only = onlyAlternative(described);
  if (only !== undefined) return inner(only, path);
  if (described.items !== undefined) return inner(described.items, `${path}[]`);
  const merged = (described.allOf ?? []).flatMap((part) => inner(part, path));
  const own = Object.entries(described.properties ?? {}).flatMap(([key, field]) => {
    const at = path === '' ? key : `${path}.${key}`;
    const alternative = onlyAlternative(field) ?? field;
    return [
      {
        path: at,
        type: typeOf(field),
        isRequired: described.required?.includes(key) === true,
        description: field.description ?? alternative.description ?? '',
        limits: limitsOf({ ...alternative, ...field }),
      },
      ...inner(field, at),
    ];
  });
  // A later part of allOf describes a field of an earlier one more closely.
  const byPath = new Map([...merged, ...own].map((field) => [field.path, field]));
  return [...byPath.values()];
};
