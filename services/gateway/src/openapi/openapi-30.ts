/**
 * OpenAPI 3.1 documents in the form of OpenAPI 3.0, for tools that read nothing newer: a schema has one type, null
 * is a property of it, and a constant is an enumeration of one value.
 */

import type { OpenApiDocument } from '@keelson/edge';
import { withGoNames } from './go-names.ts';

type JsonObject = Readonly<Record<string, unknown>>;

const isNull = (schema: JsonObject): boolean => schema['type'] === 'null';

/** The enumeration of alternatives that are enumerations of one type; undefined for others. */
const joined = (alternatives: readonly JsonObject[]): JsonObject | undefined => {
  const [first] = alternatives;
  const areAlike = alternatives.every(
    ({ enum: values, type }) => Array.isArray(values) && type === first?.['type'],
  );
  if (first === undefined || !areAlike) return undefined;
  return { ...first, enum: alternatives.flatMap(({ enum: values }) => values as unknown[]) };
};

/** `nullable` needs a type next to it, which a reference does not have. */
const nullable = (schema: JsonObject): JsonObject => {
  const { enum: values, type } = schema;
  if (type === undefined) return { type: 'object', allOf: [schema], nullable: true };
  return {
    ...schema,
    ...(Array.isArray(values) && !values.includes(null) && { enum: [...values, null] }),
    nullable: true,
  };
};

const withoutUnion = (schema: JsonObject): JsonObject => {
  const { anyOf, ...others } = schema;
  if (!Array.isArray(anyOf)) return schema;
  const all = anyOf as readonly JsonObject[];
  const alternatives = all.filter((one) => !isNull(one));
  const [first = {}] = alternatives;
  const single = alternatives.length === 1 ? first : joined(alternatives);
  if (all.length === alternatives.length)
    return single === undefined || '$ref' in single ? schema : { ...others, ...single };
  return single === undefined
    ? { ...others, anyOf: alternatives.map(nullable) }
    : { ...others, ...nullable(single) };
};

const withSingleType = (schema: JsonObject): JsonObject => {
  const { type, contentMediaType, const: only, ...others } = schema;
  if (only !== undefined) return { ...others, type, enum: [only] };
  if (contentMediaType !== undefined) return { ...others, type, format: 'binary' };
  if (!Array.isArray(type)) return schema;
  const names = type.filter((name) => name !== 'null');
  return {
    ...others,
    ...(names.length === 1 ? { type: names[0] } : { anyOf: names.map((name) => ({ type: name })) }),
    ...(names.length < type.length && { nullable: true }),
  };
};

const convert = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(convert);
  if (typeof value !== 'object' || value === null) return value;
  // An example is a document, not a schema.
  const converted = Object.entries(value).map(([name, member]) => [
    name,
    name === 'examples' ? member : convert(member),
  ]);
  return withGoNames(withSingleType(withoutUnion(Object.fromEntries(converted) as JsonObject)));
};

/** The same document in OpenAPI 3.0, where a license has a name only. */
export const toOpenApi30 = ({ info, ...parts }: OpenApiDocument): JsonObject => {
  const { name } = info['license'] as { readonly name: string };
  return {
    ...(convert(parts) as JsonObject),
    openapi: '3.0.3',
    info: { ...info, license: { name } },
  };
};
