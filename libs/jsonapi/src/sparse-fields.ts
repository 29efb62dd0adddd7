/** Sparse fieldsets (JSON:API 1.0, "Sparse Fieldsets"): `fields[workspaces]=name,current-run`. */
import { KeelsonError } from '@keelson/errors';
import type { AnswerSchema } from './answer-schema.ts';
import type { JsonApiDocument, Resource } from './document.ts';
import type { QueryParameters } from './query.ts';
import { fieldNamesOf } from './resource-schema.ts';
import { isResourceType, type ResourceType } from './resource-types.ts';

/** The requested attributes and relationships by resource type. */
export type SparseFields = ReadonlyMap<ResourceType, ReadonlySet<string>>;

/**
 * Underscores in names are read as hyphens, as in `include`. Unknown fields of a type are not refused, because
 * clients send the same list to newer and older servers: see `warnOfFields`.
 * @throws KeelsonError `jsonapi.invalid_fields` for a type that no document has
 */
export const parseFields = (query: QueryParameters): SparseFields => {
  const fields = new Map<ResourceType, ReadonlySet<string>>();
  for (const type of query.children('fields')) {
    if (!isResourceType(type)) {
      throw new KeelsonError('jsonapi.invalid_fields', {
        name: type,
        parameter: `fields[${type}]`,
      });
    }
    const names = query.list('fields', type).map((name) => name.replaceAll('_', '-'));
    fields.set(type, new Set(names));
  }
  return fields;
};

/** Types of the resources that documents of an endpoint may contain. */
export const typesShown = (answer: AnswerSchema): ReadonlySet<ResourceType> =>
  new Set([
    ...answer.types,
    ...(answer.alwaysIncluded ?? []),
    ...Object.values(answer.includes ?? {}).flat(),
  ]);

/** Warnings about names that select nothing, because no document of the endpoint has such a field. */
export const warnOfFields = (
  fields: SparseFields,
  answer: AnswerSchema | undefined,
): readonly string[] => {
  if (fields.size === 0 || answer === undefined) return [];
  const shown = typesShown(answer);
  return [...fields].flatMap(([type, names]) => {
    if (!shown.has(type))
      return [`fields[${type}] has no effect: the document has ${[...shown].sort().join(', ')}`];
    const known = fieldNamesOf(type);
    const unknown = [...names].filter((name) => !known.has(name));
    return unknown.length === 0
      ? []
      : [`fields[${type}] has names that no resource of the type has: ${unknown.join(', ')}`];
  });
};

const pick = <T>(
  from: Readonly<Record<string, T>>,
  wanted: ReadonlySet<string>,
): Readonly<Record<string, T>> =>
  Object.fromEntries(Object.entries(from).filter(([name]) => wanted.has(name)));

const restrict = (resource: Resource, fields: SparseFields): Resource => {
  const wanted = isResourceType(resource.type) ? fields.get(resource.type) : undefined;
  if (wanted === undefined) return resource;
  const { attributes, relationships, ...rest } = resource;
  return {
    ...rest,
    ...(attributes && { attributes: pick(attributes, wanted) }),
    ...(relationships && { relationships: pick(relationships, wanted) }),
  };
};

/** The document with only the requested fields; types that are not named keep all fields. */
export const withFields = (document: JsonApiDocument, fields: SparseFields): JsonApiDocument => {
  if (fields.size === 0) return document;
  const { data, included } = document;
  const each = (resources: readonly Resource[]) =>
    resources.map((resource) => restrict(resource, fields));
  return {
    ...document,
    data: data === null ? null : 'id' in data ? restrict(data, fields) : each(data),
    ...(included && { included: each(included) }),
  };
};
