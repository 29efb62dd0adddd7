/**
 * Declarations of the resources of one type. The OpenAPI document shows them, and the function that makes such
 * a resource has its type from them, so that the compiler compares the two.
 */
import { type Static, type TObject, type TProperties, type TSchema, Type } from 'typebox';
import type { Relationship } from './document.ts';
import type { ResourceType } from './resource-types.ts';

export interface RelationshipSchema<Optional extends boolean = boolean> {
  /** `one` may be null; `link` shows identifiers only where the related resources are included. */
  readonly to: 'one' | 'many' | 'link';
  /** Types of the related resources. */
  readonly types: readonly string[];
  /** Whether there is a link to the related resources. */
  readonly isLinked: boolean;
  readonly isOptional: Optional;
}

type Types = string | readonly string[];
type Linked = 'linked' | undefined;

/** A relationship to one resource, or to none. */
export const relatedOne = (types: Types, linked?: Linked): RelationshipSchema<false> => ({
  to: 'one',
  types: [types].flat(),
  isLinked: linked !== undefined,
  isOptional: false,
});

export const relatedMany = (types: Types, linked?: Linked): RelationshipSchema<false> => ({
  ...relatedOne(types, linked),
  to: 'many',
});

/** A relationship of which the resource shows only the link. */
export const relatedLink = (types: Types): RelationshipSchema<false> => ({
  ...relatedOne(types, 'linked'),
  to: 'link',
});

/** A relationship that not every resource of the type has. */
export const optionalRelationship = (schema: RelationshipSchema): RelationshipSchema<true> => ({
  ...schema,
  isOptional: true,
});

export type RelationshipSchemas = Readonly<Record<string, RelationshipSchema>>;

export interface ResourceSchema {
  readonly type: ResourceType;
  readonly description?: string;
  readonly attributes?: TProperties;
  readonly relationships?: RelationshipSchemas;
  readonly links?: readonly string[];
  /** Links that not every resource of the type has. */
  readonly optionalLinks?: readonly string[];
}

const fieldNames = new Map<ResourceType, Set<string>>();

/** Declares what resources of a type contain. */
export const resourceSchema = <const S extends ResourceSchema>(schema: S): S => {
  const names = fieldNames.get(schema.type) ?? new Set();
  for (const members of [schema.attributes, schema.relationships])
    for (const name of Object.keys(members ?? {})) names.add(name);
  fieldNames.set(schema.type, names);
  return schema;
};

/** Names of the attributes and relationships that resources of a type may have. */
export const fieldNamesOf = (type: ResourceType): ReadonlySet<string> =>
  fieldNames.get(type) ?? new Set();

/** Values of a schema as they are shown: nobody changes them. */
type Shown<T> = T extends readonly (infer Item)[]
  ? readonly Shown<Item>[]
  : T extends object
    ? { readonly [K in keyof T]: Shown<T[K]> }
    : T;

export type AttributesOf<P extends TProperties> = Shown<Static<TObject<P>>>;

export type RelationshipsOf<R extends RelationshipSchemas> = {
  readonly [K in keyof R as R[K]['isOptional'] extends true ? never : K]: Relationship;
} & {
  readonly [K in keyof R as R[K]['isOptional'] extends true ? K : never]?: Relationship;
};

type Links = Readonly<Record<string, string | null>>;

/** A resource as its schema declares it. */
export type ResourceOf<S extends ResourceSchema> = {
  readonly id: string;
  readonly type: S['type'];
} & (S extends { readonly attributes: infer P extends TProperties }
  ? { readonly attributes: AttributesOf<P> }
  : unknown) &
  (S extends { readonly relationships: infer R extends RelationshipSchemas }
    ? Partial<RelationshipsOf<R>> extends RelationshipsOf<R>
      ? { readonly relationships?: RelationshipsOf<R> }
      : { readonly relationships: RelationshipsOf<R> }
    : unknown) &
  (S extends { readonly links: readonly (infer L extends string)[] }
    ? { readonly links: Readonly<Record<L, string>> & Links }
    : S extends { readonly optionalLinks: readonly string[] }
      ? { readonly links?: Links }
      : unknown);

/** `schema` or null, as one JSON type with two names: clients are generated with a plain nullable member. */
export const orNull = <S extends TSchema>(schema: S) => {
  const { type, enum: values } = schema as { type?: string; enum?: readonly unknown[] };
  return Type.Unsafe<Static<S> | null>({
    ...schema,
    type: [type, 'null'],
    ...(values && { enum: [...values, null] }),
  });
};

/** One of a few texts. */
export const choice = <const Values extends readonly string[]>(
  values: Values,
  options: { readonly description?: string } = {},
) => Type.Unsafe<Values[number]>({ type: 'string', enum: values, ...options });

/** An object with a value for each of any names. */
export const dictionary = <S extends TSchema>(
  values: S,
  options: { readonly description?: string } = {},
) =>
  Type.Unsafe<Readonly<Record<string, Static<S>>>>({
    type: 'object',
    additionalProperties: values,
    ...options,
  });

/** An object of yes and no, such as the permissions of the reader. */
export const flags = <const Names extends readonly string[]>(
  names: Names,
  options: { readonly description?: string } = {},
) =>
  Type.Unsafe<{ readonly [K in Names[number]]: boolean }>({
    type: 'object',
    required: names,
    properties: Object.fromEntries(names.map((name) => [name, { type: 'boolean' }])),
    ...options,
  });

/** See `toTimestamp`. */
export const timestamp = (description?: string) =>
  Type.String({ format: 'date-time', ...(description !== undefined && { description }) });
