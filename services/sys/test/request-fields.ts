/** Fields of the request bodies that the service describes. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly maxLength?: number;
  /** The limit of a list or an object as a whole. */
  readonly 'x-max-length'?: number;
}

export interface RequestField {
  /** Members of objects are written with a dot. */
  readonly name: string;
  readonly schema: Schema;
}

export interface RequestForm {
  /** `POST /sys/init`; PUT has the same fields and is left out. */
  readonly route: string;
  readonly fields: readonly RequestField[];
}

const fieldsIn = (schema: Schema, prefix = ''): readonly RequestField[] =>
  Object.entries(schema.properties ?? {}).flatMap(([name, inner]) =>
    inner.properties === undefined
      ? [{ name: prefix + name, schema: inner }]
      : fieldsIn(inner, `${prefix}${name}.`),
  );

interface Operation {
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly schema: Schema }>>;
  };
}

/** The forms of all requests with a JSON body. */
export const toRequestForms = (pathsJson: string): readonly RequestForm[] => {
  const paths = JSON.parse(pathsJson) as Record<string, Record<string, Operation>>;
  return Object.entries(paths).flatMap(([path, operations]) =>
    Object.entries(operations).flatMap(([method, { requestBody }]) => {
      const [schema] = Object.entries(requestBody?.content ?? {}).flatMap(([type, content]) =>
        type.endsWith('json') ? [content.schema] : [],
      );
      const isRepeated = method === 'put' && operations['post'] !== undefined;
      return schema === undefined || isRepeated
        ? []
        : [{ route: `${method.toUpperCase()} ${path}`, fields: fieldsIn(schema) }];
    }),
  );
};

export const limitOf = ({ maxLength, ...schema }: Schema): number | undefined =>
  maxLength ?? schema['x-max-length'];

/** 2 ** 53: JSON numbers of this size are not exact. */
const UNSAFE = 9_007_199_254_740_992;

/** Values that a field of this schema cannot have, whatever it means. */
export const badValues = (schema: Schema): readonly unknown[] => {
  if (schema.format === 'duration') return ['soon', -1, '-1h', '0.5s', {}, true, 9_223_372_037];
  if (schema.format === 'date-time') return ['yesterday', '2026-02-30T00:00:00Z', {}, true, -1];
  switch (schema.type) {
    case 'string':
      return [{}, [], true];
    case 'boolean':
      return ['maybe', 2, {}, []];
    case 'integer':
      return ['many', 1.5, UNSAFE, {}, true];
    case 'number':
      return ['many', '1e400', {}, true];
    case 'array':
      return [5, {}, true, [{}], [[]]];
    case 'object':
    case undefined:
    default:
      return [5, 'text', true];
  }
};
