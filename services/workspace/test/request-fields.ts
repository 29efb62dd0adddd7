/** Fields of the request documents that the service describes, and documents made from their schemas. */

export interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
}

/** A field that contains no other fields. `*` in its path is an item of a list. */
export interface Field {
  readonly path: readonly string[];
  readonly schema: Schema;
}

export interface RequestForm {
  /** `POST /runs`. */
  readonly route: string;
  readonly schema: Schema;
  readonly fields: readonly Field[];
}

const variantsOf = (schema: Schema): readonly Schema[] =>
  schema.anyOf?.flatMap(variantsOf) ?? [schema];

const fieldsIn = (schema: Schema, path: readonly string[]): readonly Field[] => {
  const variants = variantsOf(schema);
  const inner = variants.flatMap(({ items, properties }) => [
    ...(items !== undefined && variantsOf(items).some((item) => item.properties !== undefined)
      ? fieldsIn(items, [...path, '*'])
      : []),
    ...Object.entries(properties ?? {}).flatMap(([name, property]) =>
      fieldsIn(property, [...path, name]),
    ),
  ]);
  if (inner.length > 0) return inner;
  // An object without properties has no fields.
  return variants.some(({ properties }) => properties !== undefined) ? [] : [{ path, schema }];
};

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

/** The forms of all requests with a JSON:API document. */
export const toRequestForms = (pathsJson: string): readonly RequestForm[] => {
  const paths = JSON.parse(pathsJson) as Record<string, Record<string, Operation>>;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const schema = requestBody?.content['application/vnd.api+json']?.schema;
      if (schema === undefined) return [];
      return [{ route: `${method.toUpperCase()} ${path}`, schema, fields: fieldsIn(schema, []) }];
    }),
  );
};

/** JSON types that a schema accepts. */
export const typesOf = (schema: Schema): ReadonlySet<string> =>
  new Set(
    variantsOf(schema).flatMap((variant) =>
      'const' in variant
        ? [typeof variant.const]
        : variant.type === undefined
          ? []
          : [variant.type],
    ),
  );

/** The variants' limit, when the schema has one. */
export const limitOf = (
  schema: Schema,
  limit: 'maxLength' | 'minLength' | 'maxItems' | 'minimum' | 'maximum',
): number | undefined =>
  variantsOf(schema)
    .map((variant) => variant[limit])
    .find((value) => value !== undefined);

/** Whether only listed values are accepted. */
export const isEnumeration = (schema: Schema): boolean =>
  variantsOf(schema).some((variant) => 'const' in variant);

const MD5 = 'd41d8cd98f00b204e9800998ecf8427e';

/** The smallest document that satisfies a schema, with `value` at a path. */
export const documentWith = (schema: Schema, path: readonly string[], value: unknown): unknown => {
  const [name, ...rest] = path;
  const variants = variantsOf(schema);
  if (name === undefined && path.length === 0 && value !== MINIMAL) return value;
  if (name === '*') {
    const items = variants.find((variant) => variant.items !== undefined)?.items ?? {};
    return [documentWith(items, rest, value)];
  }
  const variant =
    variants.find(({ properties }) => name !== undefined && properties?.[name] !== undefined) ??
    variants[0] ??
    {};
  if ('const' in variant) return variant.const;
  if (variant.properties !== undefined) {
    const names = new Set([...(variant.required ?? []), ...(name === undefined ? [] : [name])]);
    return Object.fromEntries(
      [...names].map((one) => [
        one,
        one === name
          ? documentWith(variant.properties?.[one] ?? {}, rest, value)
          : documentWith(variant.properties?.[one] ?? {}, [], MINIMAL),
      ]),
    );
  }
  switch (variant.type) {
    case 'array':
      return [];
    case 'boolean':
      return true;
    case 'integer':
      return variant.minimum ?? 0;
    case 'null':
      return null;
    case undefined:
    default:
      return variant.pattern === undefined ? 'x'.repeat(variant.minLength ?? 1) : MD5;
  }
};

/** In a request to be sent, means the smallest value that the field's schema allows. */
export const MINIMAL = Symbol('minimal');
