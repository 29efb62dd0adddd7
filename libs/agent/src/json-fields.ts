/** Documents of unknown members, as the tool prints them. */
export type Json = null | boolean | number | string | readonly Json[] | JsonFields;
export type JsonFields = { readonly [name: string]: Json };

export const isFields = (value: Json | undefined): value is JsonFields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** A list; an empty one in place of anything else. */
export const listOf = (value: Json | undefined): readonly Json[] =>
  Array.isArray(value) ? value : [];

export const mapFields = (
  fields: JsonFields,
  map: (value: Json, name: string) => Json,
): JsonFields =>
  Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, map(value, name)]));
